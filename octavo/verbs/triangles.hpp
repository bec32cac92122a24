#pragma once
#include <functional>
#include <string>
#include <vector>

#include "octavo/analysis/histogram.hpp"
#include "octavo/verbs/map.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/sum_image.hpp"

/// Maps and statistics of meshes of triangles and of solids (Dataset::unstructured).
namespace octavo::verbs::detail {

/// The mesh and some fields of a dataset, as doubles. Without `mesh` the mesh stays empty, unless fields need it.
struct PointValues {
  mesh::Unstructured mesh;
  std::vector<std::vector<double>> fields;  ///< in the order asked for
};
/// Values as they stand, at points or in cells (mesh/triangles/cells.hpp).
PointValues read_values(const mesh::Dataset& dataset, const std::vector<std::string>& fields, bool mesh = true);
/// All values at points. If some of the fields stand in cells, each triangle of the mesh has three points of its own,
/// and a cell's value is at those of its triangles.
PointValues read_points(const mesh::Dataset& dataset, const std::vector<std::string>& fields);
/// Whether the fields stand in cells. Throws Error(unsupported) if some do and others stand at points.
bool all_in_cells(const mesh::Dataset& dataset, const std::vector<std::string>& fields);

/// The field with the elevation of each plane: the first field, in SERAFIN. Throws Error(unsupported) if there is none.
std::string elevation_field(const mesh::Header& header);

/// Reads the mesh on the rank that calls the function that is returned, and makes it ready to be drawn as map() defines
/// it. Changes the kind of `frame`, with which the image is then summed, and of `result`.
std::function<Drawing(std::size_t)> triangle_drawing(const mesh::Dataset& dataset, const MapOptions& options,
                                                     analysis::Frame& frame, Map& result);
/// Reads a part of a mesh of solids and makes it ready to be drawn in a view, exactly from any direction.
std::function<Drawing(std::size_t)> solid_drawing(const mesh::Dataset& dataset, const MapOptions& options,
                                                  const analysis::AnyView& view);
/// The chosen points, or cells, of triangles or solids, with the axes, fields and weights of a plan: a point's volume
/// is its share of the mesh.
analysis::Samples triangle_samples(const mesh::Dataset& dataset, const analysis::BinPlan& plan,
                                   const analysis::Selection& selection);
analysis::Statistics triangle_statistics(const mesh::Dataset& dataset, const std::vector<std::string>& fields,
                                         const analysis::Selection& selection);

}  // namespace octavo::verbs::detail
