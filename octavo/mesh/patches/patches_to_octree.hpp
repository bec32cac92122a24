#pragma once
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches/box_index.hpp"

namespace octavo::mesh {

/// The octree that holds the cells of patches. A tree cell carries `block` of their cells: 1x1x1 gives a cell tree, a
/// block size a tree of blocks. Level 0 of the patches is tree level index `unfolded`; above it lie levels that the
/// patches do not have (a domain of 512^3 cells, unfolded 5 times, hangs below 16^3 roots). Ratio 4 takes two tree
/// levels.
struct PatchTree {
  int dim = 3;
  Index3 roots{1, 1, 1};
  Index3 block{1, 1, 1};
  int unfolded = 0;
  std::vector<int> index;  ///< tree level index of each level of the patches
  bool operator==(const PatchTree&) const = default;
};

/// The largest blocks of at most `most` cells along an axis (a power of two) of which all boxes consist, the coarse
/// cells under them, and level 0. Blocks are 1 cell along unused axes.
Index3 common_block(const Patches& patches, std::int64_t most);

/// Throws Error(unsupported) for a refinement ratio that is neither 2 nor 4, and where block << unfolded does not
/// divide the cells of level 0 along each axis.
PatchTree plan_patch_tree(const Patches& patches, int unfolded = 0, const Index3& block = {1, 1, 1});

/// How often a domain is to be unfolded (in blocks of one cell) so that there are at most `max_roots` roots; fewer
/// times where its extents cannot be halved as often.
int unfolding_for(const Patches& patches, std::int64_t max_roots);

/// The patches of a part as a tree. `part.mesh` holds Patches, its fields have a value a cell (those of faces and nodes
/// a field for each side of it, see sides.hpp), box after box, x fastest, without ghost cells.
///
/// Values move bit for bit: also those that patches hold under finer ones, which refined cells keep. Only a refined
/// cell for which there is none gets one formed, the mean of its children (of equal volume, so it is conservative;
/// summed in double precision, in the order of the children; on a face that of the finer faces on it, on a node the
/// finer node's value): the level between, where a ratio is 4, the levels above
/// level 0, and cells that no patch holds under a finer one.
///
/// Owned are cells with a value of the patches, and those with a formed one from level 0 of the patches on, unless it
/// lacks children. The tree holds the roots that the patches lie in. Places of these that no patch covers are padded
/// with zeros.
///
/// Throws Error(unsupported) listing places where patches cover only part of a family, so that the refined region is
/// not made of whole parent cells (blocks), or a mean of values that are not floating-point is needed; Error(usage)
/// where a field does not fit.
/// @pre the patches pass validate(); `tree` is plan_patch_tree of them.
Part patches_to_octree(const Part& part, const PatchTree& tree);

/// The same for one contributor of several, where `others` are the boxes of all others: cells under which another has
/// finer patches are refined (what lies below is padding of zeros), and a mean is formed and owned only where nobody
/// holds a value. So the trees of all contributors merge to that of all patches together; only a mean of which
/// several contributors hold children nobody owns. Throws Error(usage) if another part holds cells of this one, too.
Part patches_to_octree(const Part& part, const PatchTree& tree, const Patches& others);

/// The cells of each level that lie in a box of level-0 cells: boxes cut to it, in their order.
/// `source[l][i]`: which box of level l of `patches` box i of level l of the result was cut from.
struct PatchCut {
  Patches patches;
  std::vector<std::vector<std::size_t>> source;
};
PatchCut cut_patches(const Patches& patches, const IndexBox& region);
/// The same for many regions: `index` is index_levels() of the patches, made once, and has their boxes; of `patches`
/// the levels that `domain` has are cut.
std::vector<BoxIndex> index_levels(const Patches& patches);
PatchCut cut_patches(const Patches& patches, const std::vector<BoxIndex>& index, const IndexBox& region);

/// Boxes of level-0 cells that together are the domain, none of which holds more than `max_cells` cells of all levels
/// (unless it is a single root): the domain is halved along its longest axis, at a root's border, again and again.
std::vector<IndexBox> plan_patch_parts(const Patches& patches, const PatchTree& tree, std::int64_t max_cells);

}  // namespace octavo::mesh
