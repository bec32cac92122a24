#include <algorithm>
#include <set>
#include <string>

#include "measure.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::bench {
namespace {

namespace fs = std::filesystem;

// Collective. Seconds of the slowest rank.
template <class Work>
double seconds_of(MPI_Comm comm, Work&& work) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  ranks::agree(comm, work);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return std::max(seconds, 1e-9);
}

// Files that all ranks make a second in one folder, as the engine makes a step's.
double creates_a_second(MPI_Comm comm, const fs::path& directory, int files) {
  const std::string own = "made." + std::to_string(ranks::rank_in(comm)) + ".";
  const double seconds = seconds_of(comm, [&] {
    for (int i = 0; i < files; ++i) file::create(directory / (own + std::to_string(i)));
  });
  ranks::agree(comm, [&] {
    for (int i = 0; i < files; ++i) file::remove_all(directory / (own + std::to_string(i)));
  });
  return ranks::size_of(comm) * static_cast<double>(files) / seconds;
}

// Syncs of rank 0 alone, each of a block that it has just written: a commit record's.
double syncs_a_second(MPI_Comm comm, const fs::path& directory, int syncs) {
  const double seconds = seconds_of(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    const file::File file = file::create(directory / "synced");
    const std::vector<std::byte> block(4096);
    for (int i = 0; i < syncs; ++i) {
      file::pwrite_all(file, 4096 * static_cast<std::uint64_t>(i), block);
      file::sync(file);
    }
  });
  return syncs / seconds;
}

// Bytes that the ranks write a second, each into a file of its own, to the disk: the median.
double bytes_a_second(MPI_Comm comm, Setup setup) {
  setup.sync = true;
  setup.only = {"nothing but the first way"};
  const Table table = measure(comm, setup, false);
  std::vector<double> seconds;
  for (const Sample& sample : table.rows.front().samples) seconds.push_back(std::max(sample.seconds, 1e-9));
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return table.ranks * static_cast<double>(table.bytes_per_rank) / *middle;
}

}  // namespace

Rates calibrate(MPI_Comm comm, const Setup& setup, int files) {
  if (files < 1) throw base::Error(base::Kind::usage, "files: expected at least 1, found " + std::to_string(files));
  const std::vector<int> hosts = ranks::hosts_of_ranks(comm, 0);
  Rates rates;
  rates.ranks = ranks::size_of(comm);
  rates.hosts = static_cast<int>(std::set<int>(hosts.begin(), hosts.end()).size());
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) fs::create_directories(setup.directory);
  });
  rates.creates = creates_a_second(comm, setup.directory, files);
  rates.syncs = syncs_a_second(comm, setup.directory, files);
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) rates.writer = bytes_a_second(MPI_COMM_SELF, setup);
  });
  MPI_Bcast(&rates.writer, 1, MPI_DOUBLE, 0, comm);
  rates.host = bytes_a_second(comm, setup) / rates.hosts;
  return rates;
}

}  // namespace octavo::bench
