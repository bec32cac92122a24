#include "octavo/parallel/world.hpp"

#include <mpi.h>

#include <cstdlib>
#include <limits>
#include <numeric>

#include "octavo/base/error.hpp"

namespace octavo::parallel {

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
  std::atexit(finalize);
}

std::vector<std::string> gather(const std::string& mine) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<unsigned long long> lengths(static_cast<std::size_t>(size));
  const unsigned long long length = mine.size();
  MPI_Allgather(&length, 1, MPI_UNSIGNED_LONG_LONG, lengths.data(), 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
  if (std::accumulate(lengths.begin(), lengths.end(), 0ull) > std::numeric_limits<int>::max())
    throw base::Error(base::Kind::unsupported, "ranks exchange more than 2 GiB at once");
  std::vector<int> counts(lengths.begin(), lengths.end());
  std::vector<int> offsets(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(offsets.back() + counts.back()), '\0');
  MPI_Allgatherv(mine.data(), static_cast<int>(length), MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
  std::vector<std::string> by_rank;
  for (std::size_t r = 0; r < counts.size(); ++r)
    by_rank.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(counts[r])));
  return by_rank;
}

}  // namespace

base::Ranks world() {
  initialize();
  base::Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  ranks.all_gather = gather;
  return ranks;
}

void abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace octavo::parallel
