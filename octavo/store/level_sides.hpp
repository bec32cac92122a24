#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/codec/codec.hpp"
#include "octavo/mesh/octree.hpp"

namespace octavo::store {

/// Finds the neighbours of each level's families and of their parents (docs/format.md, "Fields"), for the codec that
/// predicts by sides. They follow from the refinement alone, level by level from the roots on, and are found when
/// they are first asked for: 24 bytes a family, and those of all coarser levels with them. One thread at a time. The
/// tree must outlive it.
class LevelSides {
 public:
  explicit LevelSides(const mesh::Octree& tree) : tree_(&tree) {}
  /// One entry a family, in order. Empty on levels 0 and 1, whose parents have no family, and where cells carry blocks.
  std::span<const codec::Sides> of(std::size_t level);

 private:
  /// Families at the faces -x, +x, -y ... of one; on level 0 each cell is a family.
  using Beside = std::array<std::uint32_t, 6>;

  void descend();

  const mesh::Octree* tree_;
  std::vector<std::vector<codec::Sides>> sides_{};  ///< by level, of those asked for so far
  std::vector<Beside> beside_{};                    ///< of the families of the last of these levels
};

}  // namespace octavo::store
