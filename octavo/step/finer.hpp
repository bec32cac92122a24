#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/fill.hpp"

namespace octavo::step {

/// Removes attributes that list boxes or blocks of a mesh, of any format. Notes name data that are lost with them.
void forget_layout(mesh::Dataset& step);

/// A note on how the new values are weighted: "values made of velx, ener are weighted by density, others by volume".
std::string weights_note(const mesh::Specific& specific);

/// A step on a finer mesh, to go on from: refines the leaves of the finest level, then their children, `times` times.
/// New cell data are conservative, specific quantities (mesh::specific_of) by mass. New vectors on faces keep the
/// divergence of the cell they were in (mesh::refine_leaves). All other values stay. The parts are those of the step,
/// but the values do not depend on them. Memory: the trees of all parts, the part that is read with its cells on the
/// finer levels, and one more part.
///
/// Levels keep their numbers. Attributes that list boxes or blocks of the step are removed. FLASH's next time step (dt,
/// dtnew) is halved for each level, because a restarted run takes it without looking at its cells.
///
/// `per_mass` names more fields that are specific quantities; Error(usage) for names that do not fit. Reading throws
/// Error(usage) for fields of nodes, Error(unsupported) for fields of faces that are no vector.
mesh::Dataset finer(const mesh::Dataset& source, int times, mesh::FillBy by = mesh::FillBy::linear,
                    const std::vector<std::string>& per_mass = {});

}  // namespace octavo::step
