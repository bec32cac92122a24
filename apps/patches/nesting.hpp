#pragma once
#include <functional>
#include <vector>

#include "apps/patches/hierarchy.hpp"

namespace octavo::patches {

/// Blocks of a level, `shape.block` cells an axis each, by position in units of blocks; sorted, each once.
using Blocks = std::vector<Index3>;
void make_set(Blocks& blocks);

/// The blocks that boxes of cells of a level touch.
Blocks blocks_touching(const std::vector<IndexBox>& boxes, const Shape& shape);

/// Pure. The boxes of levels 1, 2 ... that refine all of `flagged[l]`, blocks of level l, for l below `max_level`:
/// found from the finest down by clustering, so that every level keeps one block more than the next one needs, around
/// it on all sides (over periodic borders too). The boxes are those that regular_boxes() gives for the same cells.
/// Level l + 1 may lie where level l is not yet: that is made to follow.
std::vector<std::vector<IndexBox>> plan_levels(const Shape& shape, std::vector<Blocks> flagged);

/// Throws Error(unsupported) where boxes of a level do not refine whole blocks of the one below it, or that one does
/// not surround them by a block: values of ghost cells would be missing. `boxes[l]` is level l, all of it; level 0 must
/// cover the domain.
void check_nesting(const Shape& shape, const std::vector<std::vector<IndexBox>>& boxes);

/// The boxes of levels 1, 2 ... that hold the same cells as these of levels 0, 1, 2 ..., however they were cut.
std::vector<std::vector<IndexBox>> regular_boxes(const Shape& shape, const std::vector<std::vector<IndexBox>>& boxes);

}  // namespace octavo::patches
