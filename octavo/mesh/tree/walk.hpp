#pragma once
#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/tree/tree_index.hpp"

namespace octavo::mesh {

/// Walks a tree, a parent before its children, and needs no array of positions: `visit(level, cell, at)` is told a
/// cell's level, index on it and position, and says whether to go on to the children.
template <class Visit>
void walk(const Octree& tree, Visit&& visit) {
  const TreeIndex index(tree);
  const std::size_t family = family_size(tree);
  const auto go = [&](const auto& self, int level, std::size_t cell, const Coordinate& at) -> void {
    if (!visit(level, cell, at) || !tree.refined[static_cast<std::size_t>(level)][cell]) return;
    const std::size_t first = index.family(level, cell) << tree.dim;
    for (std::size_t c = 0; c < family; ++c) {
      Coordinate child{};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
        child[axis] = 2 * at[axis] + static_cast<std::uint32_t>(c >> axis & 1);
      self(self, level + 1, first + c, child);
    }
  };
  std::size_t cell = 0;
  const std::int64_t nx = tree.roots[0], ny = tree.roots[1];
  for (const RootInterval& interval : held_roots(tree))
    for (std::int64_t root = interval.begin; root < interval.end; ++root, ++cell)
      go(go, 0, cell,
         {static_cast<std::uint32_t>(root % nx), static_cast<std::uint32_t>(root / nx % ny),
          static_cast<std::uint32_t>(root / nx / ny)});
}

}  // namespace octavo::mesh
