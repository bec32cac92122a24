#include "octavo/engine/own_file.hpp"

#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {

OwnFile own_file(MPI_Comm comm, MPI_Comm host, const WritePlanOptions& options) {
  check(options);
  OwnFile own = file_on_host(ranks::rank_in(host), ranks::size_of(host), options);
  // Hosts are in the order of their first ranks, which alone count their files.
  const int mine = ranks::rank_in(host) == 0 ? own.files : 0;
  int before = 0;
  MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, comm);
  // MPI leaves rank 0's result of a scan undefined.
  if (ranks::rank_in(comm) == 0) before = 0;
  MPI_Bcast(&before, 1, MPI_INT, 0, host);
  MPI_Allreduce(&mine, &own.files, 1, MPI_INT, MPI_SUM, comm);
  own.file += before;
  return own;
}

}  // namespace octavo::engine
