// How much of writing a simulation sees: the same run with output off, sync, in the background, and with lent arrays,
// on a store that is throttled to a rate a process. Visible time is that of the run minus that of the run without
// output.
//
//     mpirun -n 2 octavo_bench_async DIRECTORY [MB a rank and step] [steps] [MB/s a process] [codec] [repetitions]
//
// The throttle sleeps before each write, in the process that writes: portable, and what a slow store looks like to it.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/world.hpp"
#include "octavo/parallel/writer.hpp"

namespace {

using namespace octavo;

struct Setup {
  std::filesystem::path directory;
  double megabytes = 64;
  int steps = 8;
  double rate = 250;
  std::string codec = "raw";
  int repetitions = 3;
};

struct Run {
  double whole = 0;  // seconds, close included
  double before_close = 0;
  double computing = 0;
  parallel::Statistics statistics;
};

// Work that takes one core and little memory, as much for every run.
double compute(std::int64_t rounds) {
  double x = 0.5;
  for (std::int64_t i = 0; i < rounds; ++i) x = 3.7 * x * (1 - x);
  return x;
}

std::int64_t rounds_for(double seconds) {
  constexpr std::int64_t trial = 20'000'000;
  const double begin = MPI_Wtime();
  volatile double sink = compute(trial);
  (void)sink;
  return static_cast<std::int64_t>(static_cast<double>(trial) * seconds / (MPI_Wtime() - begin));
}

constexpr std::int64_t edge = 64;
constexpr std::size_t cells = edge * edge * edge;

mesh::Octree slab_of(int rank, int size) {
  mesh::Octree tree;
  tree.roots = {edge, edge, edge};
  tree.refined = {base::BitArray(cells)};
  tree.owned = {base::BitArray(cells)};
  const auto at = [&](int r) { return cells * static_cast<std::size_t>(r) / static_cast<std::size_t>(size); };
  for (std::size_t i = at(rank); i < at(rank + 1); ++i) tree.owned[0].set(i);
  return tree;
}

void write_steps(const Setup& setup, parallel::Writer* writer, const mesh::Octree& tree,
                 std::vector<std::vector<double>>& fields, std::int64_t rounds, Run& run) {
  for (int step = 0; step < setup.steps; ++step) {
    const double begin = MPI_Wtime();
    volatile double sink = compute(rounds);
    (void)sink;
    run.computing += MPI_Wtime() - begin;
    if (writer == nullptr) continue;
    writer->begin_step(store::Flow::checkpoint, step, step);
    writer->put_mesh(tree);
    for (std::size_t f = 0; f < fields.size(); ++f)
      writer->put_field("field" + std::to_string(f), parallel::view_of(fields[f]));
    writer->end_step();
  }
}

Run measure(const Setup& setup, const std::string& way, std::int64_t rounds) {
  const int rank = parallel::rank_in(MPI_COMM_WORLD), size = parallel::size_of(MPI_COMM_WORLD);
  const mesh::Octree tree = slab_of(rank, size);
  std::vector<std::vector<double>> fields(static_cast<std::size_t>(std::ceil(setup.megabytes * 1e6 / 8 / cells)),
                                          std::vector<double>(cells));
  for (std::size_t f = 0; f < fields.size(); ++f)
    for (std::size_t i = 0; i < cells; ++i) fields[f][i] = std::sin(1e-3 * static_cast<double>(i * (f + 1)));
  if (rank == 0) std::filesystem::remove_all(setup.directory);
  MPI_Barrier(MPI_COMM_WORLD);
  mesh::Header header;
  header.roots = tree.roots;
  parallel::Options options;
  options.mode = way == "sync" ? parallel::Mode::sync : parallel::Mode::background;
  options.lend = way == "lend";
  options.staging_bytes = static_cast<std::int64_t>(4e6 * setup.megabytes);
  options.checkpoint.codec = parallel::parse_codec(setup.codec);
  options.keep_last = 2;
  Run run;
  const double begin = MPI_Wtime();
  if (way == "off") {
    write_steps(setup, nullptr, tree, fields, rounds, run);
  } else {
    parallel::Writer writer(MPI_COMM_WORLD, setup.directory, header, options);
    write_steps(setup, &writer, tree, fields, rounds, run);
    run.before_close = MPI_Wtime() - begin;
    writer.close();
    run.statistics = writer.statistics();
  }
  run.whole = MPI_Wtime() - begin;
  if (way == "off") run.before_close = run.whole;
  MPI_Allreduce(MPI_IN_PLACE, &run.whole, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &run.before_close, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &run.computing, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  run.statistics = parallel::total(run.statistics, MPI_COMM_WORLD);
  return run;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_row(const Setup& setup, const std::string& way, const std::vector<Run>& runs, const std::vector<Run>& off) {
  std::vector<double> visible, steady, slowed, calls;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    visible.push_back(runs[i].whole - off[i].whole);
    steady.push_back(runs[i].before_close - off[i].before_close);
    slowed.push_back(runs[i].computing - off[i].computing);
    calls.push_back(runs[i].statistics.seconds_in_calls / parallel::size_of(MPI_COMM_WORLD));
  }
  std::printf("%-12s %9.3f %12.3f %9.3f %13.3f %9.1f\n", way.c_str(), median(visible), median(steady), median(calls),
              median(slowed), static_cast<double>(runs[0].statistics.bytes_stored) / 1e6 / setup.steps);
}

void bench(const Setup& setup) {
  file::set_observer([rate = setup.rate](const file::Event& event) {
    if (event.operation == file::Operation::write)
      std::this_thread::sleep_for(std::chrono::duration<double>(static_cast<double>(event.size) / (rate * 1e6)));
    return file::Verdict{};
  });
  std::int64_t rounds = rounds_for(1.5 * setup.megabytes / setup.rate);
  MPI_Bcast(&rounds, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  const std::vector<std::string> ways{"off", "sync", "background", "lend"};
  std::vector<std::vector<Run>> runs(ways.size());
  for (int repetition = 0; repetition < setup.repetitions; ++repetition)
    for (std::size_t w = 0; w < ways.size(); ++w) runs[w].push_back(measure(setup, ways[w], rounds));
  file::set_observer({});
  if (parallel::rank_in(MPI_COMM_WORLD) != 0) return;
  std::filesystem::remove_all(setup.directory);
  std::printf("%d ranks, %d steps of %.0f MB a rank, %.0f MB/s a process, codec %s, medians of %d; off: %.3f s\n",
              parallel::size_of(MPI_COMM_WORLD), setup.steps, setup.megabytes, setup.rate, setup.codec.c_str(),
              setup.repetitions, runs[0][0].whole);
  std::printf("%-12s %9s %12s %9s %13s %9s\n", "way", "visible s", "before close", "in calls", "compute + s",
              "MB a step");
  for (std::size_t w = 1; w < ways.size(); ++w) print_row(setup, ways[w], runs[w], runs[0]);
}

}  // namespace

int main(int count, char** arguments) {
  parallel::world();
  if (count < 2) {
    std::fprintf(stderr, "usage: octavo_bench_async DIRECTORY [MB] [steps] [MB/s] [codec] [repetitions]\n");
    return 2;
  }
  try {
    Setup setup;
    setup.directory = std::filesystem::path(arguments[1]) / "octavo_bench_async.store";
    if (count > 2) setup.megabytes = std::atof(arguments[2]);
    if (count > 3) setup.steps = std::atoi(arguments[3]);
    if (count > 4) setup.rate = std::atof(arguments[4]);
    if (count > 5) setup.codec = arguments[5];
    if (count > 6) setup.repetitions = std::max(1, std::atoi(arguments[6]));
    bench(setup);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    parallel::abort(base::exit_code(error.kind()));
  }
  return 0;
}
