#pragma once
#include <mpi.h>

#include <filesystem>

#include "octavo/engine/restart/restart.hpp"
#include "octavo/step/ramses_domain.hpp"

/// Files of a code, made of the step that a restart found: for codes that start from files of their own. All functions
/// are collective and throw the same Error on all ranks.
namespace octavo::engine {

/// Makes a RAMSES output of the store's checkpoint, for as many ranks as there are: rank i writes the files of domain
/// i + 1 into a folder of its own name in `folder`, which has the same name on all nodes. output_NNNNN in the current
/// directory is then a link to the output. step::remove() removes this rank's files and the link. Throws as
/// step::write_ramses_domain and step::link_ramses_output do, and leaves no files then.
step::RamsesFiles write_ramses(MPI_Comm comm, const std::filesystem::path& store, const Restart& restart,
                               const std::filesystem::path& folder);

/// Makes a FLASH file of the store's step, with the bytes of `octavo convert --to flash`. All ranks see the path, which
/// must not exist. Throws Error(usage) for a step that was stored with a loss.
void write_flash(MPI_Comm comm, const std::filesystem::path& store, const Restart& restart,
                 const std::filesystem::path& path);

}  // namespace octavo::engine
