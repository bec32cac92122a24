#pragma once
#include <mpi.h>

#include "octavo/engine/plan.hpp"

namespace octavo::engine {

/// Collective over `comm`; `host` has those of its ranks that are on this rank's host, in their order. This rank's
/// subfile as plan_write() plans it for all ranks, without a list of them: a prefix sum and a sum of one integer, and a
/// broadcast on each host. Throws Error(usage) for negative options.
OwnFile own_file(MPI_Comm comm, MPI_Comm host, const WritePlanOptions& options);

}  // namespace octavo::engine
