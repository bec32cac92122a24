#pragma once
#include <cstdint>
#include <vector>

#include "octavo/mesh/octree.hpp"

namespace octavo::mesh {

/// Consecutive cells of one level of a tree, and the cells of another tree that they are.
struct CellRun {
  std::uint32_t from = 0;  ///< index on the level
  std::uint32_t to = 0;    ///< index on the same level of the other tree
  std::uint32_t count = 0;
};
/// Adds cells to the last run, if they go on where it ends in both trees, or as a run of their own.
void add_run(std::vector<CellRun>& runs, std::size_t from, std::size_t to, std::size_t count);
using CellRuns = std::vector<std::vector<CellRun>>;  ///< by level, ascending

/// The cells of `piece`, a tree that both `from` and `to` hold (cells and refinement), in these two.
CellRuns cell_runs(const Octree& piece, const Octree& from, const Octree& to);

/// The tree of prune(), which tells not where its cells were.
Octree prune_tree(const Octree& tree);

}  // namespace octavo::mesh
