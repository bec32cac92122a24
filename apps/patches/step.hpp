#pragma once
#include <string>
#include <vector>

#include "apps/patches/hierarchy.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/step/array_view.hpp"

/// Steps of a hierarchy of patches, to and from Octavo: what does not depend on the physics.
namespace octavo::patches {

/// The header of the mesh, for writers: a tree of blocks of `shape.block` cells, level 0 its roots.
mesh::Header header_of(const Shape& shape, const std::string& code);

/// The same with as few roots as can be, whole families of blocks below each.
mesh::Header unfolded(mesh::Header header);

/// One box of values, with `ghost` layers of ghosts on each side.
engine::ArrayView view_of_box(const IndexBox& box, const double* data, int ghost);
/// A variable where it lies, for put_field(): a view a box, ghosts left out. Good until boxes change.
std::vector<engine::ArrayView> views_of(const Hierarchy& mesh, int variable);
/// Arrays of one value a cell without ghosts, in the order of boxes.
std::vector<engine::ArrayView> views_of(const Hierarchy& mesh, const std::vector<std::vector<double>>& arrays);

/// Collective. The mesh and values of a step that engine::restart() gave as patches, whichever mesh wrote it and on
/// however many ranks: boxes are cut anew, levels finer than `shape.max_level` left out. `variables` are the names of
/// the fields of each variable. Throws Error(usage) for a step of another domain, or without one of the fields;
/// Error(unsupported) where its blocks are smaller than `shape.block`, or not balanced over corners.
Hierarchy hierarchy_from(MPI_Comm comm, const Shape& shape, const engine::Restart& restart,
                         const std::vector<std::string>& variables);

}  // namespace octavo::patches
