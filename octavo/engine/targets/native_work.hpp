#pragma once
#include <mpi.h>

#include <functional>

#include "octavo/engine/step/step_job.hpp"
#include "octavo/engine/targets/native_writer.hpp"

/// What a step of each format takes, in three stages: laid out and copied (the call that returns this), written (on any
/// thread, without MPI), finished (on the main thread).
namespace octavo::engine {

struct NativeWork {
  std::function<void()> write;   ///< this rank's values and files, to `partial`; returns when they are on disk
  std::function<void()> gather;  ///< collective: what is known only when all have written
  std::function<void()> seal;    ///< on rank 0, after gather(): the rest of the output
  std::uint64_t bytes = 0;       ///< this rank's share, of values
};

/// Collective; throws the same on all ranks. `job` and `buffers` must stay until write() has returned.
NativeWork start_flash(MPI_Comm comm, StepJob& job, const std::filesystem::path& partial, const NativeOptions& options,
                       Buffers& buffers);
NativeWork start_amrex(MPI_Comm comm, StepJob& job, const std::filesystem::path& partial, const NativeOptions& options,
                       Buffers& buffers);
/// Collective. FLASH's file, written by rank 0 alone.
void collect_flash(MPI_Comm comm, StepJob& job, const std::filesystem::path& path, const NativeOptions& options);

}  // namespace octavo::engine
