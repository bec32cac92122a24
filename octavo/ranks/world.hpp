#pragma once
#include "octavo/base/ranks.hpp"

namespace octavo::ranks {

/// The processes that mpirun started (MPI_COMM_WORLD). Initialises MPI with MPI_THREAD_FUNNELED where nobody has, and
/// then finalises it at exit. `Ranks::all_gather` is collective and belongs to the thread that called this.
base::Ranks world();

/// Ends all ranks with this exit code: for errors that only one rank knows of.
[[noreturn]] void abort(int code);

}  // namespace octavo::ranks
