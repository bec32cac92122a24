#pragma once
#include <vector>

#include "octavo/codec/codec.hpp"
#include "octavo/mesh/octree.hpp"

namespace octavo::store {

/// Where the values of each level of a tree stand on the level's grid, for the codec that interpolates across cells
/// (docs/format.md, "Fields"). Positions are found when they are first asked for: 12 bytes a box, and those of all
/// coarser levels with them. One thread at a time. The tree must outlive it.
class LevelBoxes {
 public:
  explicit LevelBoxes(const mesh::Octree& tree) : tree_(&tree) {}
  /// The boxes of a level: blocks, roots, or families of cells. Unknown if `width`, the values of a tree cell, is no
  /// multiple of the cells of a block.
  codec::Boxes of(std::size_t level, std::size_t width);

 private:
  const mesh::Octree* tree_;
  std::vector<std::vector<mesh::Coordinate>> at_;  ///< by level, of those asked for so far
};

}  // namespace octavo::store
