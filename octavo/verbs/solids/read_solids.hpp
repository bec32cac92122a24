#pragma once
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/solids/solid_values.hpp"
#include "octavo/mesh/dataset.hpp"

/// Meshes of solids (mesh::holds_solids), read for the verbs.
namespace octavo::verbs::detail {

/// A region that takes cells by their centroid; nothing of none.
std::optional<analysis::Within> within_region(const mesh::Header& header, const std::optional<mesh::Region>& region);

/// A part's mesh, some of its fields, and the cells that a region takes by their centroid.
struct SolidPart {
  mesh::Solids mesh;
  std::vector<std::vector<double>> values;  ///< of each field, in the order asked for
  std::vector<char> in_cells;               ///< of each field, whether its values stand in cells
  std::vector<char> chosen;                 ///< 1 for each cell that is taken; empty: all are

  analysis::SolidValues field(std::size_t f) const { return {values[f], in_cells[f] != 0}; }
};
/// Throws Error(unsupported) for a field of several components, Error(corrupt) for one with another number of values.
SolidPart read_solids(const mesh::Dataset& dataset, int part, const std::vector<std::string>& fields,
                      const std::optional<analysis::Within>& within = {});

/// Places with values, of all parts: points, each once, or the centroids of cells.
struct SolidPlaces {
  std::vector<double> x, y, z;  ///< [code length]
  std::vector<double> size;     ///< point_volumes of the taken cells, or volumes [code length^3]
  std::vector<double> shares;   ///< of what a box clips: the part of `size` in it; empty: nothing is clipped
  std::vector<std::vector<double>> fields;  ///< in the order asked for
  std::vector<char> chosen;                 ///< 1 for each cell that a region takes by its centroid, or point of such
};
/// `clip`: the region is a single box, and takes all that shares volume with it, with `size` in it.
/// @pre the fields stand in cells, or none does
SolidPlaces read_solid_places(const mesh::Dataset& dataset, const std::vector<std::string>& fields, bool in_cells,
                              const std::optional<mesh::Region>& region, bool clip = false);

}  // namespace octavo::verbs::detail
