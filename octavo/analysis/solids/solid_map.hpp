#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/analysis/orientation.hpp"
#include "octavo/analysis/solids/solid_values.hpp"
#include "octavo/analysis/tile.hpp"

/// Maps of solids, seen in any direction.
namespace octavo::analysis {

/// A side of a view's box, by places in the picture: `at` + slope * (column, row, depth) is the way inside of it.
struct SeenSide {
  double at = 0;
  mesh::Point3 slope{};
};

/// A mesh of solids as a picture shows it. Refers to the mesh, the values and `chosen`.
struct SeenSolids {
  const mesh::Solids* mesh = nullptr;
  SolidValues field, weight;        ///< no values of `weight`: by volume
  std::span<const char> chosen;     ///< 1 for each cell that shows; empty: all do
  std::vector<mesh::Point3> at;     ///< column and row from the picture's corner [pixels], depth [code length]
  std::vector<std::int64_t> first;  ///< mesh::first_corners
  std::vector<SeenSide> sides;      ///< of the view's box, where they cut the mesh
};
SeenSolids see_solids(const mesh::Solids& mesh, const AnyView& view, const SolidValues& field,
                      const SolidValues& weight, std::span<const char> chosen);

/// Projects the cells [first, last) onto some rows of the picture, as project() does with cells of a tree: the
/// integral along the line of sight, the weighted mean, or extremes, over the share of each pixel that cells cover. All
/// of it is exact, in any direction, for functions that are linear in tetrahedra. So the sum over the pixels is the
/// integral over the volume. A pixel has the same bits, whichever rows are drawn with its own.
Tile project(const SeenSolids& seen, Projection kind, std::size_t first, std::size_t last, RowRange rows,
             std::size_t columns);

}  // namespace octavo::analysis
