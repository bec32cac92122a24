#pragma once
#include <array>
#include <span>
#include <vector>

#include "octavo/analysis/orientation.hpp"
#include "octavo/analysis/solids/solid_values.hpp"
#include "octavo/analysis/tile.hpp"

/// A plane through solids.
namespace octavo::analysis {

/// A triangle in which a plane cuts a tetrahedron, or half of the quadrangle. Values are linear in it.
struct SolidSection {
  std::array<std::array<double, 2>, 3> at{};  ///< columns and rows of the picture from its corner
  std::array<double, 3> value{};
};

/// The plane of a view through all cells. A plane along a side between two cells cuts both of them in that side.
std::vector<SolidSection> solid_sections(const mesh::Solids& mesh, const SolidValues& field, const AnyView& view);

/// The value at the middle of each pixel of some rows; NaN where no cell is, outside of the view's box, and outside of
/// its region. The sum of the tile holds the values, as that of a maximum does.
Tile draw_cuts(std::span<const SolidSection> cuts, const AnyView& view, RowRange rows);

}  // namespace octavo::analysis
