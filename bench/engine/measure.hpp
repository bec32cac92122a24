#pragma once
#include <string>
#include <vector>

#include "process.hpp"
#include "ways.hpp"

namespace octavo::bench {

/// One repetition of one way: seconds and details are those of the slowest rank, usage is of all ranks together.
struct Sample {
  double seconds = 0;
  Detail detail;
  Usage usage;
};
struct Row {
  std::string name;
  std::string missing;
  std::vector<Sample> samples;
};
struct Table {
  int ranks = 0;
  std::uint64_t bytes_per_rank = 0;
  std::size_t blocks = 0;  ///< tree cells of a rank
  std::vector<Row> rows;
};

/// Collective. All ways in turn, as often as asked, each time beginning with another; one round before is not counted.
/// `reading`: files are written once, then read (from the page cache) and compared with the written values.
Table measure(MPI_Comm comm, const Setup& setup, bool reading);

/// The operations and bytes a second that a directory takes, for plans.
struct Rates {
  int ranks = 0, hosts = 0;
  double creates = 0;  ///< files, made by all ranks in one folder
  double syncs = 0;    ///< of one writer
  double writer = 0;   ///< [bytes] of one rank that writes and syncs a file while the others wait
  double host = 0;     ///< [bytes] of a host all of whose ranks do so
};
/// Collective. `setup` says where, bytes of a rank and repetitions (the median counts); each rank makes `files` files.
Rates calibrate(MPI_Comm comm, const Setup& setup, int files);

/// A simulation that computes and writes.
struct Pace {
  int steps = 8;
  double compute = 0;  ///< [s] between steps; 0: 1.5 times what one step takes to write
  store::Flow flow = store::Flow::checkpoint;
};
struct Run {
  double whole = 0;          ///< [s] close included
  double before_close = 0;   ///< [s]
  double computing = 0;      ///< [s]
  double in_calls = 0;       ///< [s] the application's calls of the writer
  double cpu = 0;            ///< [s] of all ranks and threads
  std::uint64_t stored = 0;  ///< bytes of all ranks and steps
};
struct RunRow {
  std::string name;
  std::vector<Run> runs;
};
struct RunTable {
  int ranks = 0;
  std::uint64_t bytes_per_rank = 0;
  double compute = 0;  ///< [s] between steps
  std::vector<RunRow> rows;
};

/// Collective. The run without output, and with it: pwrite in the same thread, a copy with a thread behind it, and the
/// engine (sync, background, lend, auto), in turn. Each begins without files; `setup.rewrite`: it has written steps
/// before the first that counts, so that every file is there, as in a run that has gone on for a while.
RunTable measure_runs(MPI_Comm comm, const Setup& setup, const Pace& pace);

}  // namespace octavo::bench
