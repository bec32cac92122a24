#pragma once
#include "apps/patches/fill.hpp"
#include "apps/patches/nesting.hpp"
#include "apps/patches/reflux.hpp"

namespace octavo::patches {

/// The plans of a layout of boxes, made once. Entry l is for level l; entries of level 0 that concern a coarser level
/// are empty.
struct Plans {
  std::vector<FillPlan> ghosts;
  std::vector<MeanPlan> means;
  std::vector<FluxRegisters> registers;
  std::vector<std::vector<std::vector<IndexBox>>> covered;  ///< of each box of this rank: its cells under finer ones
};
/// Collective.
Plans make_plans(const Hierarchy& mesh);

/// Collective. Level 0 alone, values zero.
Hierarchy make_hierarchy(MPI_Comm comm, const Shape& shape);

/// Collective. The blocks of all ranks' lists together.
Blocks gather_blocks(MPI_Comm comm, const Blocks& mine);

/// Collective. The same hierarchy with other boxes on levels 1, 2 ... (of all ranks): values of cells that were there
/// move, others are interpolated from the next coarser level, and coarse cells under finer ones take their means.
Hierarchy with_boxes(const Hierarchy& old, std::vector<std::vector<IndexBox>> finer, const Admissible& admissible);

/// Collective. Whether those are the boxes that the hierarchy has already.
bool has_boxes(const Hierarchy& mesh, const std::vector<std::vector<IndexBox>>& finer);

/// Collective. Ghosts of all levels; coarse cells are means already.
void fill_ghosts(Hierarchy& mesh, const Plans& plans, const Admissible& admissible = {});
/// Collective. From the finest level down.
void average_down(Hierarchy& mesh, const Plans& plans);

}  // namespace octavo::patches
