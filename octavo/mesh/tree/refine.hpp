#pragma once
#include <functional>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/fill.hpp"

namespace octavo::mesh {

/// Refines the owned leaves of a part (of an octree) that `where` picks by level index and position; an empty `where`
/// picks all. To go on from a checkpoint on a finer mesh. Values of new cells are made as fill_down does: cell data
/// conservatively, vectors on faces (face_vectors) with the divergence of the cell they were in; all others stay. New
/// cells are owned; particles are handed on.
///
/// Neighbours are those of the part: to agree over the borders of parts, refine the whole mesh as one part, then split.
/// Fields are of cells or faces, of one component and without ghost cells: Error(usage); Error(unsupported) for fields
/// of faces that are no vector.
Part refine_leaves(const Part& part, const FillOptions& options = {},
                   const std::function<bool(int, const Coordinate&)>& where = {});

}  // namespace octavo::mesh
