#pragma once
#include <functional>
#include <string>
#include <vector>

#include "octavo/analysis/histogram.hpp"
#include "octavo/verbs/map.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/sum_image.hpp"

/// Maps, statistics and tables of meshes of triangles and of solids (Dataset::unstructured).
namespace octavo::verbs {

struct PlaceTableOptions {
  /// Also names and formulas of step/fields.hpp. Nothing: all stored ones that stand at the places of the table.
  std::optional<std::vector<std::string>> fields{};
  std::optional<bool> in_cells{};        ///< nothing: where the fields stand; of all stored ones, points if any does
  std::optional<mesh::Region> region{};  ///< takes points of triangles, cells by their centroids, and points of such
  std::optional<int> max_level{};        ///< a mesh without levels refuses one
  std::string where{};                   ///< a condition on the points or cells, a formula; empty: all
  step::Definitions definitions{};
};

/// Selected points of a mesh of triangles or solids, or its cells: a row each, in the mesh's order.
struct PlaceTable {
  bool in_cells = false;
  std::vector<double> x, y, z;  ///< of cells the centroids [code length]; z: of solids and of planes, else empty
  std::vector<double> size;     ///< the area or volume that a row stands for [code length^2, code length^3]
  std::vector<std::string> names;
  std::vector<std::vector<double>> fields;  ///< in the order of names; integers above 2^53 are rounded
};

/// Throws Error(unsupported) for fields that stand elsewhere than the table's rows, and for values in cells of prisms
/// between planes; Error(usage) for an unknown field. Memory: the mesh, the fields, and the table.
PlaceTable place_table(const mesh::Dataset& step, const PlaceTableOptions& options);

}  // namespace octavo::verbs

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
/// Fields may stand at points and in cells. A condition on places alone ("z > 0.5") is one on the place of each value.
analysis::Statistics triangle_statistics(const mesh::Dataset& step, const std::vector<std::string>& fields,
                                         const analysis::Selection& selection, const step::Definitions& definitions);

}  // namespace octavo::verbs::detail
