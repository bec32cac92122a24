#pragma once
#include "octavo/base/ranks.hpp"

namespace octavo::ranks {

/// Returns the processes that mpirun started (MPI_COMM_WORLD). If MPI is not initialised, this initialises it with
/// MPI_THREAD_FUNNELED and finalises it at exit. `Ranks::all_gather` is collective; only the thread that called world()
/// may call it.
base::Ranks world();

/// Ends all ranks with this exit code, for errors that only one rank knows of.
[[noreturn]] void abort(int code);

}  // namespace octavo::ranks
