#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/region.hpp"

namespace octavo::formats::flash {

/// The place of a block in the tree.
struct Block {
  int level = 0;          ///< index from 0; FLASH counts from 1
  mesh::Coordinate at{};  ///< on its level
  std::int64_t row = 0;   ///< in the file, from 0
};

inline constexpr std::int64_t no_block = -1;

/// The blocks of a step in Morton order, as FLASH writes them: depth first, a parent before its children, children x
/// fastest; a block's number is its position here. Roots are in the order of their rows.
struct BlockTree {
  int dim = 3;
  mesh::Index3 roots{1, 1, 1};
  std::array<bool, 3> periodic{};
  std::vector<Block> blocks;
  std::vector<std::int64_t> parent;                             ///< number, or no_block for roots
  std::vector<std::int64_t> first_child;                        ///< number, or no_block for leaves; always parent + 1
  std::vector<std::pair<std::uint64_t, std::int64_t>> numbers;  ///< place and number, by place: see find()
};

/// Returns the number of the block at that place, or no_block. A position past a periodic side wraps around to the
/// other side. A position past another side is outside: see outside().
std::int64_t find(const BlockTree& tree, int level, const std::array<std::int64_t, 3>& at);
/// Returns one bit for each face (0 -x, 1 +x, 2 -y ...) beyond which the position lies; 0 if it lies in the domain.
/// Periodic sides have no outside.
unsigned outside(const BlockTree& tree, int level, const std::array<std::int64_t, 3>& at);
inline bool is_leaf(const BlockTree& tree, std::int64_t number) {
  return tree.first_child[static_cast<std::size_t>(number)] == no_block;
}
/// FLASH's node type: 1 leaf, 2 parent of a leaf, 3 parent of none.
int node_type(const BlockTree& tree, std::int64_t number);
/// Returns whether the rows are in Morton order.
bool in_order(const BlockTree& tree);

/// Builds the tree from the blocks of a file, in rows 0, 1, ... Throws Error(corrupt) if two blocks have the same
/// place, if a root, a parent or a child is missing, or if neighbours across a face differ by more than one level. The
/// error names the row and the place.
BlockTree make_block_tree(int dim, const mesh::Index3& roots, const std::array<bool, 3>& periodic,
                          std::span<const Block> rows);

/// The same tree breadth first, with all cells owned; the block number of each cell, and back.
struct BreadthFirst {
  mesh::Octree tree;
  std::vector<std::vector<std::int64_t>> number;  ///< per level, per cell
  std::vector<std::uint32_t> cell;                ///< per block number: the cell's index on the block's level
};
BreadthFirst breadth_first(const BlockTree& tree, const mesh::Index3& block);
/// Builds the block tree of a mesh that comes from no file: its rows are its numbers. `root_order` lists the roots
/// (numbered x fastest) in the wanted order; empty: x fastest. Throws Error(corrupt) as above.
BlockTree make_block_tree(const mesh::Octree& tree, const std::array<bool, 3>& periodic,
                          std::span<const std::int64_t> root_order);

}  // namespace octavo::formats::flash
