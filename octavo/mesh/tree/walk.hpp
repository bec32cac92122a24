#pragma once
#include <utility>

#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/tree/tree_index.hpp"

namespace octavo::mesh {

/// Walks a tree, a parent before its children, and needs no array of positions: `visit(level, cell, at)` is told a
/// cell's level, index on it and position, and says whether to go on to the children.
template <class Visit>
void walk(const Octree& tree, Visit&& visit) {
  const TreeIndex index(tree);
  const auto family = static_cast<std::uint32_t>(family_size(tree));
  const auto go = [&](const auto& self, int level, std::size_t cell, const Coordinate& at) -> void {
    if (!visit(level, cell, at) || !tree.refined[static_cast<std::size_t>(level)][cell]) return;
    const std::size_t first = index.family(level, cell) << tree.dim;
    for (std::uint32_t c = 0; c < family; ++c) self(self, level + 1, first + c, child_of(at, c, tree.dim));
  };
  std::size_t cell = 0;
  for_each_root(tree.roots, held_roots(tree), [&](const Coordinate& at) { go(go, 0, cell++, at); });
}

/// The cells of one level of a tree, from the roots on, for trees that are too large for an array of all positions.
/// Memory: 12 bytes for each refined cell of the level above. The tree may still grow: a level is needed by next().
class LevelCells {
 public:
  /// Refers to the tree, which must outlive it.
  explicit LevelCells(const Octree& tree) : tree_(tree), roots_(held_roots(tree)) {}

  int level() const { return level_; }
  std::size_t size() const { return level_ == 0 ? count_roots(roots_) : parents_.size() << tree_.dim; }
  /// Positions of the refined cells of the level above; none on level 0.
  const std::vector<Coordinate>& parents() const { return parents_; }

  /// Calls f(cell, at) for each cell of the level, in order.
  template <class F>
  void for_each(F&& f) const;
  /// Goes on to the next level.
  void next() {
    const base::BitArray& refined = tree_.refined[static_cast<std::size_t>(level_)];
    std::vector<Coordinate> parents;
    parents.reserve(refined.count());
    if (parents.capacity() != 0)
      for_each([&](std::size_t cell, const Coordinate& at) {
        if (refined[cell]) parents.push_back(at);
      });
    parents_ = std::move(parents);
    ++level_;
  }

 private:
  const Octree& tree_;
  RootIntervals roots_;
  std::vector<Coordinate> parents_;
  int level_ = 0;
};

template <class F>
void LevelCells::for_each(F&& f) const {
  std::size_t cell = 0;
  if (level_ == 0) {
    for_each_root(tree_.roots, roots_, [&](const Coordinate& at) { f(cell++, at); });
    return;
  }
  const auto family = static_cast<std::uint32_t>(family_size(tree_));
  for (const Coordinate& up : parents_)
    for (std::uint32_t c = 0; c < family; ++c) f(cell++, child_of(up, c, tree_.dim));
}

}  // namespace octavo::mesh
