#pragma once
#include <mpi.h>

#include <filesystem>
#include <vector>

#include "octavo/store/store.hpp"

/// Starts that came to nothing. A file in the store says that a run has started from a step and has neither written
/// another one nor closed its writer since (`restarts/started-<flow>-<step>-<attempt>`), or that the application could
/// not go on from there (`restarts/failed-...`). That it exists is all that counts: so it is there or not, whatever is
/// killed when. Nothing of a step is ever removed or changed.
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
/// One process. All steps may be started from again. Returns how many starts were remembered.
int forget_failed_restarts(const std::filesystem::path& store);

}  // namespace octavo::engine
