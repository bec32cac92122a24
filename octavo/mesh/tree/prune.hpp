#pragma once
#include <cstdint>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {

/// A smaller tree, and where its cells were: `source[l][i]` is the index on level l of the old tree of cell i of level
/// l of the new one (levels keep their index).
struct Extract {
  Octree tree;
  std::vector<std::vector<std::uint32_t>> source;
};

/// Drops every subtree in which nothing is owned: a refined cell stays refined only if it is owned itself or an owned
/// cell lies below it. Roots that are not owned and not refined then are no longer held; where no root is left, the
/// tree has one level without cells. The tree stays closed (families stay whole, so cells that are not owned remain as
/// padding), no owned cell is lost, an owned refined cell never turns into a leaf (it would be counted on top of the
/// leaves that other parts own below it), and pruning twice changes nothing. The method is that of LightAMR (Strafella
/// & Chapon 2022): a bottom-up "any owned below", then a top-down copy.
/// @pre `tree` passes validate(). Throws Error(unsupported) for a level of 2^32 cells or more.
Extract prune(const Octree& tree);

/// Drops all levels below tree level index `deepest`; refined cells there become leaves. Throws Error(usage) where
/// `deepest` is negative: no level would be left.
Extract truncate(const Octree& tree, int deepest);

/// Gives a part all roots of the domain on level 0, for callers that want them in place: those that it did not hold are
/// leaves that it does not own, with values of zero. Costs memory for the whole domain. The mesh must be an octree.
void hold_all_roots(Part& part);

/// Gathers values (cell-centred, `width` bytes a tree cell: block size x components x scalar size) from the old tree's
/// order into the new one's. Throws Error(usage) unless there are `width` bytes for each cell of the old tree.
std::vector<std::byte> gather(const Octree& old_tree, const Extract& extract, const std::vector<std::byte>& values,
                              std::size_t width);

}  // namespace octavo::mesh
