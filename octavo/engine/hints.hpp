#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "octavo/engine/options.hpp"
#include "octavo/file/lustre.hpp"

namespace octavo::engine {

/// The hints of option mpi_io_hint, for MPI_File_open and similar calls; MPI_INFO_NULL if there are none. The caller
/// frees the result with MPI_Info_free. Not collective. Throws Error(usage) for a hint that is too long for MPI.
MPI_Info info_of(const Options& options);

/// The hints that a store's files follow, on Lustre: striping_factor (targets, -1: all), striping_unit (bytes, a
/// multiple of 65536), start_iodevice. Throws Error(usage) for a value that Lustre cannot have.
file::Striping striping_of(const Options& options);
/// The option alignment, for a file of so many ranks. Unless it is set: the hint striping_unit, else a page of 4096
/// bytes if there is more than one rank or with direct_io, else 8.
std::int64_t alignment_of(const Options& options, int ranks);
/// One line for each hint that a store does not follow, with the option that does its work if there is one.
std::vector<std::string> hints_not_followed(const Options& options);

}  // namespace octavo::engine
