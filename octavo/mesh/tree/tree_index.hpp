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
  const Octree& tree() const { return tree_; }

 private:
  const Octree& tree_;
  RootIndex roots_;
  std::vector<std::vector<std::uint32_t>> before_;  ///< per level, refined cells before each word
};

/// How many cells of each level are among the first `cells` of a walk that visits a parent before its children. On
/// every level these are the first ones, so two such cuts bound the cells that the walk visits between them.
std::vector<std::size_t> cut_walk(const TreeIndex& index, std::size_t cells);

/// How many cells of each level the walk has visited when it comes to a cell of level 0 (or, behind the last, at its
/// end).
std::vector<std::size_t> cells_before(const TreeIndex& index, std::size_t root);

/// The cells [first, last) of level 0 and all that lies below them, as a tree of the same domain.
Octree roots_between(const TreeIndex& index, std::size_t first, std::size_t last);

}  // namespace octavo::mesh
