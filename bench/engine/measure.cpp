#include "measure.hpp"

#include <algorithm>
#include <array>

#include "octavo/ranks/communicator.hpp"

namespace octavo::bench {
namespace {

namespace fs = std::filesystem;

Sample reduce(MPI_Comm comm, double seconds, const Detail& detail, const Usage& used) {
  std::array<double, 3> slowest{seconds, detail.end_step, detail.copying};
  std::array<double, 5> sums{used.cpu, static_cast<double>(used.writes), static_cast<double>(used.written),
                             static_cast<double>(used.reads), static_cast<double>(used.read)};
  MPI_Allreduce(MPI_IN_PLACE, slowest.data(), static_cast<int>(slowest.size()), MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
  const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(sums[i]); };
  return {slowest[0], {slowest[1], slowest[2]}, {sums[0], count(1), count(2), count(3), count(4)}};
}

// The agreement at the end is the barrier, too.
template <class Work>
Sample timed(MPI_Comm comm, Work&& work) {
  MPI_Barrier(comm);
  const Usage before = usage();
  const double begin = MPI_Wtime();
  Detail detail;
  ranks::agree(comm, [&] { detail = work(); });
  const double end = MPI_Wtime();
  return reduce(comm, end - begin, detail, usage() - before);
}

Sample take(const Place& place, const Way& way, int repetition, bool reading) {
  sort_free_pieces();
  if (!reading) {
    way.prepare(repetition);
    touch_free_memory(2 * bytes_of(*place.problem));
    return timed(place.comm, way.write);
  }
  const Sample sample = timed(place.comm, [&] {
    way.read();
    return Detail{};
  });
  ranks::agree(place.comm, way.check);
  return sample;
}

// The first way stays: the others are compared with it.
std::vector<Way> chosen_ways(const Place& place) {
  std::vector<Way> ways;
  const auto& only = place.setup->only;
  for (const auto& some : {raw_ways, octavo_ways, mpiio_ways, peer_ways})
    for (Way& way : some(place)) {
      const auto names_it = [&](const std::string& start) { return way.name.starts_with(start); };
      if (ways.empty() || only.empty() || std::any_of(only.begin(), only.end(), names_it))
        ways.push_back(std::move(way));
    }
  return ways;
}

void make_directory(MPI_Comm comm, const fs::path& directory) {
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) fs::create_directories(directory);
  });
}

void write_once(const Place& place, const std::vector<Way>& ways) {
  for (const Way& way : ways)
    if (way.missing.empty()) {
      way.prepare(0);
      ranks::agree(place.comm, [&] { way.write(); });
    }
}

}  // namespace

Table measure(MPI_Comm comm, const Setup& setup, bool reading) {
  const Problem problem = make_problem(setup.shape, ranks::rank_in(comm), ranks::size_of(comm));
  Values scratch(problem.fields.size(), std::vector<double>(reading ? values_of_field(problem) : 0, -1.0));
  const Place place{comm, &setup, &problem, &scratch};
  make_directory(comm, setup.directory);
  set_throttle(setup.throttle);
  set_sync(setup.sync);
  const std::vector<Way> ways = chosen_ways(place);
  Table table{ranks::size_of(comm), bytes_of(problem), problem.blocks, {}};
  for (const Way& way : ways) table.rows.push_back({way.name, way.missing, {}});
  if (reading) write_once(place, ways);
  for (int repetition = -1; repetition < setup.repetitions; ++repetition)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::size_t w = (i + static_cast<std::size_t>(repetition + 1)) % ways.size();
      if (!ways[w].missing.empty()) continue;
      const Sample sample = take(place, ways[w], repetition, reading);
      if (repetition >= 0) table.rows[w].samples.push_back(sample);
    }
  for (const Way& way : ways) way.finish();
  set_throttle(0);
  set_sync(true);
  return table;
}

}  // namespace octavo::bench
