#pragma once
#include <mpi.h>

#include <memory>
#include <optional>

#include "apps/euler/problems.hpp"
#include "apps/run/options.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"

namespace octavo::run {

/// The writers of a run and the seconds that it spent in them.
struct Output {
  std::unique_ptr<engine::Writer> store;
  std::unique_ptr<engine::Writer> native;
  double seconds = 0;  ///< of this rank, in calls and in making arrays ready
  std::optional<std::int64_t> last_checkpoint{};
};

/// Collective. None where nothing is written.
Output open_output(MPI_Comm comm, const RunOptions& options, const euler::Problem& problem, const mesh::Header& header,
                   const std::optional<engine::Restart>& from);
/// Puts facts about the run into a FLASH file: its program, gamma, and `dt`, the first time step [code time] of a FLASH
/// run that restarts from the file. Call it between begin_step() and end_step().
void describe_for_flash(engine::Writer& native, const euler::Problem& problem, double dt);
/// Collective: all steps are durable and have their names.
void close(Output& output);
/// The name of a native output: PREFIX_hdf5_chk_0010, PREFIX_plt00010, PREFIX_chk00010.
std::filesystem::path native_path(const RunOptions& options, std::int64_t step);

}  // namespace octavo::run
