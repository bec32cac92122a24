#pragma once
#include <string>
#include <vector>

#include "octavo/verbs/map.hpp"
#include "octavo/verbs/stats.hpp"

/// Maps and statistics of meshes of triangles (Dataset::unstructured).
namespace octavo::verbs::detail {

/// The mesh and some fields of a dataset, as doubles.
struct PointValues {
  mesh::Unstructured mesh;
  std::vector<std::vector<double>> fields;  ///< in the order asked for
};
PointValues read_points(const mesh::Dataset& dataset, const std::vector<std::string>& fields);

/// The field with the elevation of each plane: the first field, in SERAFIN. Throws Error(unsupported) if there is none.
std::string elevation_field(const mesh::Header& header);

/// Fills in the values as map() defines them. The caller has set `frame` and all other members of `result`.
void map_triangles(const mesh::Dataset& dataset, const MapOptions& options, const analysis::Frame& frame, Map& result);
analysis::Statistics triangle_statistics(const mesh::Dataset& dataset, const std::vector<std::string>& fields,
                                         const std::optional<mesh::Region>& region);

}  // namespace octavo::verbs::detail
