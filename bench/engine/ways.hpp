#pragma once
#include <mpi.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "octavo/engine/options.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "problem.hpp"

namespace octavo::bench {

struct Setup {
  std::filesystem::path directory;
  Shape shape;
  int repetitions = 5;
  bool sync = false;     ///< to disk, before a way may say it is done
  bool rewrite = false;  ///< the files of the repetition before, in place; else new names
  double throttle = 0;   ///< [bytes/s] a process; 0: none
  std::vector<int> per_file{1, 0};
  std::vector<bool> checksums{false, true};
  std::vector<engine::Mode> modes{engine::Mode::sync};
  std::string codec = "raw";
  std::vector<std::string> only;  ///< ways whose names begin with one of these, and the first; empty: all
  std::vector<std::pair<std::string, std::string>> options;  ///< of the engine, set last
};

/// Seconds of a step that a way can tell besides the whole.
struct Detail {
  double end_step = 0;  ///< in end_step()
  double copying = 0;   ///< of those: copying into staging
};

/// One way to put a step into files and to get it back. A row of functions; all are collective, and only write and
/// read are timed. `missing` says why a way cannot be taken here.
struct Way {
  std::string name;
  std::string missing{};
  std::function<void(int repetition)> prepare{};  ///< makes way for the files of this repetition
  std::function<Detail()> write{};
  std::function<void()> read{};
  std::function<void()> check{};   ///< compares the values read with those written; throws Error(corrupt)
  std::function<void()> finish{};  ///< removes its files
};

using Values = std::vector<std::vector<double>>;

/// The setting that all ways share.
struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  const Setup* setup = nullptr;
  const Problem* problem = nullptr;
  Values* scratch = nullptr;  ///< where peers read to, as large as the problem's fields
};

std::vector<Way> raw_ways(
    const Place& place);  ///< pwrite: a file a rank (hashed, too), a shared one, a preallocated one
std::vector<Way> mpiio_ways(const Place& place);
std::vector<Way> peer_ways(const Place& place);    ///< HDF5 and ADIOS2, where their modules were built
std::vector<Way> octavo_ways(const Place& place);  ///< a way for each of per_file, checksums, modes

/// Field `index` as the engine takes it.
engine::ArrayView view_of(const Problem& problem, std::size_t index);
/// The engine's options of a way.
engine::Options engine_options(const Setup& setup, int per_file, bool checksums, engine::Mode mode);

// The parts of the peers' ways.

/// A way that writes and reads with these functions, given the file (of this repetition); `shared`: one file for all.
Way file_way(const Place& place, const std::string& name, bool shared,
             std::function<void(const std::filesystem::path&)> write,
             std::function<void(const std::filesystem::path&, Values&)> read);
void expect_same(const Values& expected, const Values& found, const std::string& way);

}  // namespace octavo::bench
