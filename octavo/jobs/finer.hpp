#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/fill.hpp"

namespace octavo::jobs {

/// Leaves out attributes that list boxes or blocks of a mesh; a note says which data sets of FLASH went with them.
void forget_layout(mesh::Dataset& step);

/// What a user should know of values that are made: "values made of velx, ener are weighted by density, others by
/// volume".
std::string weights_note(const mesh::Specific& specific);

/// The step with the leaves of its finest level refined, their children and so on, `times` times: to go on with a finer
/// mesh. Cell data are made conservatively, specific quantities (mesh::specific_of) by mass, and vectors on faces keep
/// the divergence of the cell they were in (mesh::refine_leaves); all other values stay. The result does not depend on
/// the parts, which are those of the step: in memory are the trees of all, the part that is read and its cells on the
/// finer levels, and one part beside it.
///
/// Levels keep their numbers; attributes that list boxes or blocks of the step are left out. FLASH's next time step
/// (dt, dtnew) is halved with each level: a restarted run takes it without a look at its cells.
///
/// `per_mass`: fields that are specific quantities besides those known as such; Error(usage) for names that do not fit.
/// Reading throws Error(usage) for fields of nodes, Error(unsupported) for fields of faces that are no vector.
mesh::Dataset finer(const mesh::Dataset& source, int times, mesh::FillBy by = mesh::FillBy::linear,
                    const std::vector<std::string>& per_mass = {});

}  // namespace octavo::jobs
