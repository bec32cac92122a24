#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/mesh/octree.hpp"

namespace octavo::mesh {

/// A block of a code that keeps a list of its blocks.
struct ListedBlock {
  int level = 0;  ///< index from 0
  Coordinate at{};
  bool refined = false;  ///< it has children, on this part or on another
};

struct ListedTree {
  static constexpr std::uint32_t nowhere = 0xffffffff;
  Octree tree;
  std::vector<std::uint32_t> place;  ///< of each tree cell in the list; `nowhere`: not in it
};

/// Builds the tree of a part that owns these blocks, which may stand in any order. Cells between them and the roots,
/// and siblings of these, are not owned. Throws Error(usage) for a position outside the domain, for two blocks at one
/// place, and for a block with children that is not marked as refined.
ListedTree tree_of_blocks(int dim, const Index3& roots, const Index3& block, std::span<const ListedBlock> blocks);

}  // namespace octavo::mesh
