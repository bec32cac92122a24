#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/base/bit_array.hpp"

namespace octavo::mesh {

using Index3 = std::array<std::int64_t, 3>;

/// Roots [begin, end): root (i, j, k) of the domain has the number (k * roots[1] + j) * roots[0] + i.
struct RootInterval {
  std::int64_t begin = 0, end = 0;
  bool operator==(const RootInterval&) const = default;
};
using RootIntervals = std::vector<RootInterval>;

/// One part's refinement tree, breadth first (the LightAMR model; also VTK's hyper tree grid).
///
/// The domain has `roots[0] * roots[1] * roots[2]` roots, x fastest. Level 0 has the roots that the part holds, in the
/// order of their numbers; memory is needed for these alone. The children of the k-th refined cell of a level are the
/// 2^dim consecutive cells of the next level from k * 2^dim on, x fastest: a *family*. Levels here are indices from 0;
/// a code's own level number is this index plus `Header::level_origin - Header::unfolded`.
///
/// `held` is empty in two cases. A tree with cells on level 0 then holds all roots of the domain. A tree that holds no
/// root has one level, without cells. Two trees of the same cells are thus always equal; hold() keeps to this.
///
/// Each tree cell carries `block` values a field, 1x1x1 for cell-based codes, 16x16x16 for a FLASH block kept folded.
/// In 1-D and 2-D the unused entries of `roots` and `block` are 1.
struct Octree {
  int dim = 3;
  Index3 roots{1, 1, 1};
  Index3 block{1, 1, 1};
  std::vector<base::BitArray> refined;  ///< per level; the deepest level has no set bit
  std::vector<base::BitArray> owned;    ///< per level, same sizes: this part answers for the cell
  RootIntervals held{};                 ///< roots on level 0, ascending and apart; empty: all of them, or none
  bool operator==(const Octree&) const = default;
};

inline int num_levels(const Octree& tree) { return static_cast<int>(tree.refined.size()); }
inline std::size_t family_size(const Octree& tree) { return std::size_t{1} << tree.dim; }
inline std::size_t block_size(const Octree& tree) {
  return static_cast<std::size_t>(tree.block[0] * tree.block[1] * tree.block[2]);
}
inline std::size_t num_cells(const Octree& tree, int level) {
  return tree.refined[static_cast<std::size_t>(level)].size();
}
/// Tree cells of all levels.
std::size_t num_cells(const Octree& tree);
/// Index of each level's first cell in an array over all levels; one entry more than levels.
std::vector<std::size_t> level_offsets(const Octree& tree);
/// Owned cells (refined ones too), and owned leaves, of one level.
std::size_t num_owned(const Octree& tree, int level);
std::size_t num_owned_leaves(const Octree& tree, int level);

/// A cell's integer position on its level: cell (i, j, k) covers [i, i+1) x ... in units of the level's cell size;
/// level l has `roots << l` cells along an axis.
using Coordinate = std::array<std::uint32_t, 3>;

/// All roots of the domain, held or not. @pre the product of the extents fits 63 bits.
inline std::int64_t num_roots(const Index3& roots) { return roots[0] * roots[1] * roots[2]; }
/// The roots on level 0 as a list that says all: one interval where the tree holds all roots, none where it holds none.
RootIntervals held_roots(const Octree& tree);
/// Sets `held` for such a list (ascending and apart); the levels are the caller's to set.
void hold(Octree& tree, RootIntervals intervals);
/// How many roots a list has.
std::size_t count_roots(const RootIntervals& intervals);
/// Appends an interval that begins at the last one's end or behind it.
void append(RootIntervals& intervals, const RootInterval& interval);
/// The roots that either list has.
RootIntervals join(const RootIntervals& a, const RootIntervals& b);

/// Finds held roots among the cells of level 0.
class RootIndex {
 public:
  explicit RootIndex(RootIntervals intervals);
  /// The place on level 0 of the root of that number; nothing where it is not held.
  std::optional<std::size_t> find(std::int64_t number) const;

 private:
  RootIntervals intervals_;
  std::vector<std::size_t> before_;  ///< roots before each interval
};

/// Calls f(position) for each root of a list, x fastest.
template <class F>
void for_each_root(const Index3& roots, const RootIntervals& intervals, F&& f) {
  for (const RootInterval& interval : intervals) {
    std::int64_t x = interval.begin % roots[0], y = interval.begin / roots[0] % roots[1];
    std::int64_t z = interval.begin / roots[0] / roots[1];
    for (std::int64_t root = interval.begin; root < interval.end; ++root) {
      f(Coordinate{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)});
      if (++x < roots[0]) continue;
      x = 0;
      if (++y < roots[1]) continue;
      y = 0;
      ++z;
    }
  }
}
/// The position of child `c` of a cell, on the next level.
inline Coordinate child_of(const Coordinate& cell, std::uint32_t c, int dim) {
  return {2 * cell[0] + (c & 1), dim > 1 ? 2 * cell[1] + (c >> 1 & 1) : 0, dim > 2 ? 2 * cell[2] + (c >> 2) : 0};
}
/// Positions of the level-0 cells: those of the held roots, x fastest.
std::vector<Coordinate> root_coordinates(const Octree& tree);
/// Positions of the cells of `level + 1`, given those of `level`. Walk a tree level by level, keeping two levels.
std::vector<Coordinate> child_coordinates(const Octree& tree, int level, const std::vector<Coordinate>& coordinates);

/// Throws Error(corrupt) naming the level, the expected and the found value, unless: dim is 1-3; roots and block are
/// positive, below 2^32 (1 beyond dim); cells of the deepest level have 32-bit positions; `held` ascends, is apart,
/// lies in the domain and is not all of it; level 0 has the held roots' cells; each level has 2^dim times the refined
/// cells of the one before; the deepest level has no refined cell and no level below level 0 is empty; `owned` has the
/// sizes of `refined`; no bit is set past the end of an array.
void validate(const Octree& tree);

}  // namespace octavo::mesh
