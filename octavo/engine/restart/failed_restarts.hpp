#pragma once
#include <mpi.h>

#include <filesystem>
#include <vector>

#include "octavo/store/store.hpp"

/// Remembers failed restarts. A file in the store says that a run has started from a step and since then has neither
/// written another step nor closed its writer (`restarts/started-<flow>-<step>-<attempt>`), or that the application
/// could not go on from the step (`restarts/failed-...`). Only the file's existence counts, so a kill at any time
/// leaves a valid state. The steps themselves are never removed or changed.
namespace octavo::engine {

enum class Mark : std::uint8_t { started, failed };

/// One process. Makes the file, and syncs it and its directories.
void remember_restart(const std::filesystem::path& store, store::Flow flow, const store::StepId& step, Mark mark);
/// One process. Removes the file, if there is one.
void forget_restart(const std::filesystem::path& store, store::Flow flow, const store::StepId& step, Mark mark);
/// One process. Whether a start from the step is remembered.
bool restart_failed_before(const std::filesystem::path& store, store::Flow flow, const store::StepId& step);

/// Collective. The application says that it cannot go on from this step: with the option remember_failed_restarts, the
/// next restart() takes an older one. Throws the same Error on all ranks.
void restart_failed(MPI_Comm comm, const std::filesystem::path& store, const store::StepId& step,
                    store::Flow flow = store::Flow::checkpoint);
/// One process. Forgets all failed restarts, so that every step may be used again. Returns how many were remembered.
int forget_failed_restarts(const std::filesystem::path& store);

}  // namespace octavo::engine
