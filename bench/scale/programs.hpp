#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "octavo/engine/options.hpp"

/// The work of each rank of a run, virtual or real: docs/scaling.md has tables of these programs.
/// Every rank has one cell and one field.
namespace octavo::scale {

struct Run {
  std::filesystem::path store = "run.octavo";  ///< in the folder in which the process stands
  engine::Options options{};
  int steps = 2;
  int first_step = 1;
};

/// Opens a writer, writes the steps and closes it.
void write_checkpoints(MPI_Comm comm, const Run& run);
void write_analysis(MPI_Comm comm, const Run& run);
/// Restarts from the newest checkpoint.
void restart(MPI_Comm comm, const Run& run);
/// The same, in blocks of two cells. The step must have an even number of parts.
void restart_in_blocks(MPI_Comm comm, const Run& run);

/// Opens the newest step as a verb does: rank 0 reads all tables, and tells each rank those of its parts.
void open_for_analysis(MPI_Comm comm, const Run& run);

/// The collective calls of write_checkpoints() and write_analysis() alone, through the same functions of the engine,
/// without its writer's memory and files. Each file must have one contributor.
void only_agree(MPI_Comm comm, const Run& run);

/// Writes a step of `parts` parts, `per_file` to a file, as that many ranks leave it.
void make_store(const std::filesystem::path& store, int parts, int per_file);

/// The folder of imitated local disks, beside the store.
inline constexpr const char* local_disks = "disks-of-nodes";

/// Operations of this process since start_counting_files(), by name: "open" in the store, "local open" on local disks.
/// The first run of a process also syncs the directories above them; how many there are says nothing of the engine.
using FileOperations = std::map<std::string, std::int64_t>;
void start_counting_files();
FileOperations counted_files();

}  // namespace octavo::scale
