#pragma once
#include <mpi.h>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// The hints of option mpi_io_hint, for MPI_File_open and similar calls; MPI_INFO_NULL if there are none. The caller
/// frees the result with MPI_Info_free. Not collective. Throws Error(usage) for a hint that is too long for MPI.
MPI_Info info_of(const Options& options);

}  // namespace octavo::engine
