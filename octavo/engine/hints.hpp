#pragma once
#include <mpi.h>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// The hints of option mpi_io_hint for MPI_File_open and its like; MPI_INFO_NULL where there are none. The caller frees
/// it with MPI_Info_free. Not collective. Throws Error(usage) for a hint that MPI cannot take (too long).
MPI_Info info_of(const Options& options);

}  // namespace octavo::engine
