#pragma once
#include <array>
#include <span>
#include <vector>

#include "octavo/mesh/tree/fill.hpp"
#include "octavo/mesh/tree/merge.hpp"

/// refine_leaves for a step in parts: each is refined by itself, with the cells beside it that other parts own.
namespace octavo::mesh {

/// The cells of a level that refining the owned leaves of that level looks at, however often, and that the part does
/// not own: within two cells along each axis. There need not be any at all these places. Sorted.
std::vector<Index3> cells_beside(const Octree& tree, int level, const std::array<bool, 3>& periodic);

/// Those of `cells` (sorted) that the part owns on the level, as a part that owns nothing else. Particles stay behind.
Part only_cells(const Part& part, int level, std::span<const Index3> cells);

/// Refines the owned leaves of a level, their children and so on, `times` times, as refine_leaves does for the whole
/// mesh: to the same bits, whatever the parts are. `beside`: only_cells of the other parts, at cells_beside. The
/// owner of a cell owns all that is made below it. Throws as refine_leaves does.
Part refine_level(Part part, std::vector<Part> beside, int level, int times, const FillOptions& options);

}  // namespace octavo::mesh
