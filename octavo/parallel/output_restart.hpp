#pragma once
#include <functional>

#include "octavo/parallel/restart.hpp"

namespace octavo::parallel {

/// Throws Error for a step that the run cannot go on from.
using HeaderCheck = std::function<void(const mesh::Header&)>;

/// Collective. What restart() gives of a store, of an output of FLASH, AMReX or RAMSES: this rank's share, equal
/// numbers of leaves (blocks) along the curve, whatever number of ranks wrote it. Fields and particles have Octavo's
/// words (jobs::translate): density, velocity_x, pressure ..., position_x and "identity". Attributes and code of the
/// header are those of the output; `id.step` is its own number, the attempt is empty: a writer of the run that goes on
/// begins a store of its own.
///
/// Of `options` count `fields` (in these words), `particles`, `curve`, `as`, `max_box`, and `block` with `fill` and
/// `fill_by`: the cells of a block, as they are where it is not set. They may be set together with `as = patches`.
///
/// `check` is shown the header, on every rank, before any values are read or blocks are cut.
///
/// Every rank reads the mesh of all parts, and all particles; of the values those parts that have some of its share.
///
/// Nothing where rank 0 finds no such output at the path: a store, or nothing at all. Throws the same Error on all
/// ranks: usage (no such field), corrupt, unreadable; unsupported for a mesh of triangles, and where blocks of this
/// size are not complete.
std::optional<Restart> restart_from_output(MPI_Comm comm, const std::filesystem::path& path,
                                           const RestartOptions& options = {}, const HeaderCheck& check = {});

}  // namespace octavo::parallel
