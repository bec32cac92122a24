#pragma once
#include <mpi.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "octavo/engine/targets/target_row.hpp"
#include "octavo/formats/row/format.hpp"

/// The part of a target's row that FLASH and AMReX share: each step is a file or a directory of its own.
namespace octavo::engine {

/// Lays a step out in the file or directory `partial`; if it throws, the caller removes that. Collective, and throws
/// the same on all ranks. Arrays are read later, by the result's write(). Only rank 0 calls the result's seal(), which
/// does not rename. A result without write() has written the step.
using StartOutput = std::function<StepWork(std::shared_ptr<StepJob> job, const std::filesystem::path& partial)>;

/// The differences between FLASH and AMReX.
struct OutputParts {
  const formats::Format* format = nullptr;
  formats::OutputKind kind{};
  OutputOptions options{};
  bool replace = false;  ///< a file of the step's name is replaced once the step is complete; else it is an error
  void (*check_field)(const mesh::FieldInfo& field) = nullptr;  ///< throws for a field that has no place
  StartOutput start{};
};

/// Collective.
TargetRow output_row(MPI_Comm comm, const mesh::Header& header, OutputParts parts);
/// The target of such outputs, which `open` opens.
FileTarget output_target(const formats::Format& format, const OutputOptions& options,
                         std::function<TargetRow(MPI_Comm, const mesh::Header&)> open);

}  // namespace octavo::engine
