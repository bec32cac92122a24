#pragma once
#include <optional>

#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/restart/step_parts.hpp"
#include "octavo/engine/tiers/rescue.hpp"

namespace octavo::engine {

/// Collective. The newest step, if it lies complete on the local disks and each node has the parts of its own ranks:
/// the part of a rank's number then has that rank's number in the step, and the rank reads it from its node's disk.
/// Rank 0 reads the store's mark, its index and the first subfiles of steps that the index does not list: they must
/// show that the store has nothing newer. They may be damaged.
///
/// Returns nothing if one of this does not hold: the step must then go through the store (rescue()). Throws the same
/// Error on all ranks, corrupt if a local copy's footer or table is damaged.
std::optional<StepParts> nearest_step(MPI_Comm comm, const LocalTier& tier, const std::filesystem::path& store,
                                      const RestartOptions& options);

}  // namespace octavo::engine
