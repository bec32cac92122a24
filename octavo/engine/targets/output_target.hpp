#pragma once
#include <mpi.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "octavo/engine/targets/target_row.hpp"

/// The part of a target's row that FLASH and AMReX share: each step is a file or a directory of its own.
namespace octavo::engine {

/// Lays a step out in the file or directory `partial`; if it throws, the caller removes that. Collective, and throws
/// the same on all ranks. Arrays are read later, by the result's write(). Only rank 0 calls the result's seal(), which
/// does not rename. A result without write() has written the step.
using StartOutput = std::function<StepWork(std::shared_ptr<StepJob> job, const std::filesystem::path& partial)>;

/// Collective. `faces`: the output takes fields on faces, too. `replace`: a file of the step's name is replaced once
/// the step is complete; else it is an error.
TargetRow output_row(MPI_Comm comm, const mesh::Header& header, const OutputOptions& options, bool faces, bool replace,
                     StartOutput start);

}  // namespace octavo::engine
