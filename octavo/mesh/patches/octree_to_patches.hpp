#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {

struct PatchOptions {
  int unfolded = 0;           ///< tree levels above level 0 of the patches: they are left out
  std::vector<int> ratio{};   ///< 2 or 4 for each step between levels of the patches; empty: 2 everywhere. With 4 the
                              ///< tree level between is left out; more entries than the tree has levels are ignored
  int levels = 0;             ///< at least this many levels, for a piece of a deeper tree
  Index3 corner{0, 0, 0};     ///< lower corner of the domain on level 0 [cells]
  std::int64_t max_box = 64;  ///< boxes are at most that long along each axis [cells], but at least one block
};

/// Owned cells (blocks) of a tree as patches, refined ones too, so that coarse levels have values under fine ones as
/// AMReX's have. Runs of cells are merged to boxes that begin and end at multiples of the largest multiple of the block
/// below max_box. Fields (cell-centred) move bit for bit, box after box, x fastest.
///
/// Throws Error(unsupported) where a level that is left out has owned leaves, a ratio is neither 2 nor 4; Error(usage)
/// for a field of another centring, with ghost cells or of the wrong size.
Part octree_to_patches(const Part& part, const PatchOptions& options = {});

/// The patches that octree_to_patches() makes of a tree, and the places of their values in it.
struct TreePatches {
  Patches patches;
  std::size_t run = 1;            ///< values in a row of a block
  std::vector<std::size_t> rows;  ///< for each run of values on the patches, in order, its first value in the tree
};
TreePatches plan_patches(const Octree& tree, const PatchOptions& options = {});
/// Values on the tree, one for each cell of a block and `width` bytes long, in the order of the patches.
std::vector<std::byte> values_on(const TreePatches& plan, std::span<const std::byte> values, std::size_t width);

/// A list of cells merged to boxes no longer than `max` cells, cut at multiples of it: runs along x, equal runs along
/// y, equal plates along z. Each cell is in one box. @pre no cell is given twice
std::vector<IndexBox> merge_to_boxes(std::vector<Index3> cells, const Index3& max);

}  // namespace octavo::mesh
