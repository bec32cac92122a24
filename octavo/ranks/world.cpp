#include "octavo/ranks/world.hpp"

#include <mpi.h>

#include <cstdlib>

#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::ranks {

namespace {

void finalize() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Finalize();
}

void initialize() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw base::Error(base::Kind::unsupported, "MPI did not start");
  // The program did not start MPI, so it will not end it: we have to.
  std::atexit(finalize);
}

}  // namespace

base::Ranks world() {
  initialize();
  return ranks_of(MPI_COMM_WORLD);
}

void abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace octavo::ranks
