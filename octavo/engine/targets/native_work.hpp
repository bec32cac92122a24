#pragma once
#include <mpi.h>

#include "octavo/engine/targets/target_row.hpp"

/// Lays out and copies a step, for each format. All functions that take a communicator are collective and throw the
/// same on all ranks.
namespace octavo::engine {

/// The step is written to the file or directory `partial`; if this throws, the caller removes it. Only rank 0 calls the
/// result's seal(), which does not rename. `buffers` are for copies, and must live until the work is done.
StepWork start_flash(MPI_Comm comm, std::shared_ptr<StepJob> job, const std::filesystem::path& partial,
                     const NativeOptions& options, Buffers& buffers);
StepWork start_amrex(MPI_Comm comm, std::shared_ptr<StepJob> job, const std::filesystem::path& partial,
                     const NativeOptions& options, Buffers& buffers);
/// The species that were put, with this rank's counts.
std::vector<mesh::SpeciesInfo> species_of(const StepJob& job);
/// Writes a FLASH file inside this call, by rank 0 alone.
void collect_flash(MPI_Comm comm, StepJob& job, const NativeOptions& options);

}  // namespace octavo::engine
