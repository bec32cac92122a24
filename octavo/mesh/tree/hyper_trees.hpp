#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/mesh/octree.hpp"

/// The order of cells in VTK's hyper tree grids: root after root, each breadth first; a cell has one value, so blocks
/// are unfolded.
namespace octavo::mesh {

/// Levels that a block is unfolded into: its extent along each axis below dim is 2 to this power. Nothing if there is
/// no such number.
std::optional<int> levels_in_block(const Octree& tree);

/// The tree of the cells of blocks. With n levels in a block, level l + n has the cells of the blocks of level l, block
/// after block, each in the order of unfolded_order(); a cell is refined, and owned, if its block is. The cells of the
/// n coarsest levels are refined, and owned by nobody. A tree without blocks is returned as it is.
/// @pre levels_in_block(tree)
Octree unfold_blocks(const Octree& tree);

/// For each cell of an unfolded block, its place in the block, x fastest.
std::vector<std::uint32_t> unfolded_order(const Octree& tree);

/// The places of a tree's cells if they are put root after root, each breadth first. Takes 16 bytes for each root and
/// level.
class RootByRoot {
 public:
  explicit RootByRoot(const Octree& tree);

  /// Roots that the tree holds.
  std::size_t num_roots() const { return first_.front().size() - 1; }
  /// Levels that hold cells below a root.
  int depth(std::size_t root) const;
  /// The cells of a level below a root are [begin(level, root), begin(level, root + 1)) of that level.
  std::uint64_t begin(int level, std::size_t root) const { return first_[static_cast<std::size_t>(level)][root]; }
  std::uint64_t num_cells() const { return cells_; }

  /// Calls f(place, first, count) for the stretches of cells [first, first + count) of a level that stay together.
  template <class F>
  void for_each_stretch(int level, std::uint64_t first, std::uint64_t count, F&& f) const {
    const auto& begins = first_[static_cast<std::size_t>(level)];
    auto root = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), first) - begins.begin() - 1);
    for (; count != 0; ++root) {
      const std::uint64_t here = std::min(count, begins[root + 1] - first);
      if (here != 0) f(place_[static_cast<std::size_t>(level)][root] + first - begins[root], first, here);
      first += here;
      count -= here;
    }
  }

 private:
  std::vector<std::vector<std::uint64_t>> first_, place_;  // by level and root
  std::uint64_t cells_ = 0;
};

}  // namespace octavo::mesh
