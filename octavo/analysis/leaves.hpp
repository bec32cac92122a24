#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

/// The leaves of a part in the order of a curve that two steps share, so that their cells are matched by merging two
/// sorted lists: whatever the roots, the blocks and the cutting into parts.
namespace octavo::analysis {

/// A grid below which the cells of two steps hang: `base << d` cells along an axis at depth d.
struct CommonGrid {
  int dim = 3;
  mesh::Index3 base{1, 1, 1};
  int deepest = 0;                             ///< depth that no leaf of either exceeds
  int bits = 0;                                ///< of keys (Morton), an axis, at the deepest depth
  std::array<int, 2> shift{0, 0};              ///< cells of tree level index l of step s have depth l + shift[s]
  mesh::Point3 lo{}, extent{};                 ///< domain of the first step [code length]
  std::array<std::vector<int>, 2> code_level;  ///< of each step, the code's own number of each depth
  bool operator==(const CommonGrid&) const = default;
};

/// Tree level index of the deepest cells of a step, from its headers.
int deepest_index(const mesh::Dataset& dataset);

/// Nothing where their cells do not nest: other dimensions, or counts of cells whose ratio is not the same power of two
/// along all axes. Physical extents are not compared. Error(unsupported) where keys would need more than 32 bits an
/// axis.
std::optional<CommonGrid> common_grid(const mesh::Header& a, int deepest_a, const mesh::Header& b, int deepest_b);

/// An owned leaf cell (a block's cell, where there are blocks). 24 bytes.
struct Leaf {
  mesh::CurveKey key;       ///< the first of it
  std::uint32_t value = 0;  ///< place of its value in an array over all cells of the part
  std::uint8_t depth = 0;
};

/// All owned leaf cells of a tree of step `side` (0 or 1), ascending by key. Trees of one root, or of roots in Morton
/// order, with blocks of powers of two are listed in order by one walk; others are sorted. Error(corrupt) for a tree
/// deeper than the grid.
std::vector<Leaf> sorted_leaves(const mesh::Octree& tree, const CommonGrid& grid, std::size_t side);

/// One past the last key of the cell.
mesh::CurveKey end_of(const CommonGrid& grid, const mesh::CurveKey& key, int depth);
/// The cell's integer position at its depth, and its centre [code length].
mesh::Coordinate position_of(const CommonGrid& grid, const mesh::CurveKey& key, int depth);
mesh::Point3 centre_of(const CommonGrid& grid, const mesh::CurveKey& key, int depth);
/// Volume of a cell of a depth [code length^dim].
double volume_of(const CommonGrid& grid, int depth);

/// At most `count` boxes that hold all leaves, in the units of regions.
std::vector<mesh::Box> cover(const CommonGrid& grid, const std::vector<Leaf>& leaves, std::size_t count);

}  // namespace octavo::analysis
