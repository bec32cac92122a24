#pragma once
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "apps/shallow/results.hpp"
#include "apps/shallow/solver.hpp"
#include "octavo/partition/cut.hpp"

namespace octavo::shallow {

struct RunOptions {
  std::filesystem::path mesh;  ///< SERAFIN: geometry, bottom, and the water to start with
  std::string pieces;          ///< prefix of pieces to read in its place; empty: the mesh is cut here
  partition::CutMethod method = partition::CutMethod::metis;
  std::optional<double> level;  ///< [m] starts with still water up to there
  Physics physics;
  double until = 0;                                               ///< [s]
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();  ///< at most, in this run

  std::filesystem::path result;  ///< empty: no result
  bool force = false;            ///< a result that is there is replaced; else it is refused
  Io io = Io::background;
  double every = 0;              ///< [s] between results, which begin at time 0; 0: by steps
  std::int64_t every_steps = 0;  ///< between results; 0: by time

  std::filesystem::path checkpoints;  ///< folder; empty: none
  std::int64_t checkpoint_steps = 0;  ///< between them; 0: only where the run ends or is told to
  bool resume = false;                ///< from the newest one in that folder, where there is one

  bool json = false;  ///< the report, as one JSON object
};

/// Throws Error(usage) for unknown, missing or contradictory options. "--help" gives nothing.
std::optional<RunOptions> parse_options(int count, const char* const* words);
extern const char* const usage_text;

/// The cost of a run. Seconds are wall time of the slowest rank.
struct RunReport {
  std::int64_t steps = 0, results = 0;
  double time = 0;                             ///< reached [s]
  bool stopped = false;                        ///< by a signal
  double volume_before = 0, volume_after = 0;  ///< [m3]
  double seconds = 0, seconds_stepping = 0;
  double seconds_results = 0;  ///< in calls that write results, but for the last wait
  double seconds_closing = 0;  ///< in that
  double seconds_checkpoints = 0;
};

/// Collective. A whole run. Once `*stop` is not 0 on any rank (a signal handler's flag), the step is finished, the last
/// checkpoint written, and the run ends well.
RunReport run(MPI_Comm comm, const RunOptions& options, const volatile int* stop);
/// For people, or one JSON object on one line.
std::string to_text(const RunReport& report, bool json);

}  // namespace octavo::shallow
