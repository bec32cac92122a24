#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/mesh/octree.hpp"

namespace octavo::mesh {

/// Finds cells of a tree by their position, in one step a level; takes one byte for each 16 cells,
/// and 24 bytes for each interval of held roots.
class TreeIndex {
 public:
  /// Refers to the tree, which must outlive it.
  explicit TreeIndex(const Octree& tree);

  /// The index, on its level, of the cell at that position of the level; nothing where the tree has none, or the
  /// position is outside of the domain.
  std::optional<std::size_t> find(int level, const Index3& at) const;

  /// The number of a refined cell among those of its level: its children begin at 2^dim times that.
  std::size_t family(int level, std::size_t cell) const;

 private:
  const Octree& tree_;
  RootIndex roots_;
  std::vector<std::vector<std::uint32_t>> before_;  ///< per level, refined cells before each word
};

/// Numbers of the cells, per level, in the order of a walk that visits a parent before its children: 0, 1, ... And
/// `size`: of each cell, it and all below it.
struct DepthFirst {
  std::vector<std::vector<std::int64_t>> number;
  std::vector<std::vector<std::int64_t>> size;
};
DepthFirst depth_first(const Octree& tree);

}  // namespace octavo::mesh
