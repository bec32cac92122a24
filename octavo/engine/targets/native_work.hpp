#pragma once
#include <mpi.h>

#include "octavo/engine/targets/target_row.hpp"

/// A step of each format laid out and copied. All are collective and throw the same on all ranks.
namespace octavo::engine {

/// `job` has a file or directory to write to, `partial`, which is left to the caller where this throws. seal() is for
/// rank 0 alone, and does not rename. `buffers` are for copies, and must live until the work is done.
StepWork start_flash(MPI_Comm comm, std::shared_ptr<StepJob> job, const std::filesystem::path& partial,
                     const NativeOptions& options, Buffers& buffers);
StepWork start_amrex(MPI_Comm comm, std::shared_ptr<StepJob> job, const std::filesystem::path& partial,
                     const NativeOptions& options, Buffers& buffers);
/// The species that were put, with this rank's counts.
std::vector<mesh::SpeciesInfo> species_of(const StepJob& job);
/// FLASH's file, written by rank 0 alone, here and now.
void collect_flash(MPI_Comm comm, StepJob& job, const NativeOptions& options);

}  // namespace octavo::engine
