#include "apps/shallow/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "apps/shallow/checkpoint.hpp"
#include "apps/shallow/input.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::shallow {

namespace {

namespace serafin = formats::serafin;

std::int32_t points_of(MPI_Comm comm, const std::filesystem::path& mesh) {
  std::int32_t points = 0;
  ranks::agree(comm, [&] { points = serafin::open_series(mesh).header.points; });
  return points;
}

Simulation begin(MPI_Comm comm, const RunOptions& options) {
  const Input input = options.pieces.empty()
                          ? read_whole(comm, options.mesh, options.method, options.level)
                          : read_pieces(comm, options.pieces, points_of(comm, options.mesh), options.level);
  Mesh mesh = build_mesh(comm, input.share);
  std::vector<double> bottom;
  std::vector<Water> water;
  for (std::size_t i = 0; i < mesh.area.size(); ++i) {
    const auto place = std::lower_bound(input.share.points.begin(), input.share.points.end(), mesh.global[i]);
    const auto p = static_cast<std::size_t>(place - input.share.points.begin());
    bottom.push_back(input.start.bottom[p]);
    water.push_back(input.start.water[p]);
  }
  return start(comm, options.physics, std::move(mesh), std::move(bottom), std::move(water));
}

/// Collective. Whether the run goes on from a checkpoint.
bool go_on(Simulation& simulation, const RunOptions& options) {
  if (!options.resume) return false;
  std::optional<std::filesystem::path> newest;
  ranks::agree(simulation.comm, [&] { newest = newest_checkpoint(options.checkpoints); });
  int found = newest.has_value();
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, simulation.comm);
  if (found != 0) restore(simulation, *newest);
  return found != 0;
}

/// When the next result is due.
struct Schedule {
  const RunOptions& options;
  double next_time = std::numeric_limits<double>::infinity();

  Schedule(const RunOptions& chosen, double time) : options(chosen) { pass(time); }
  void pass(double time) {
    // Results are at whole multiples; a time that is one up to rounding has had its own.
    if (options.every > 0) next_time = options.every * (std::floor(time / options.every * (1 + 1e-12)) + 1);
  }
  bool due(const Simulation& simulation) const {
    if (options.every_steps > 0) return simulation.step % options.every_steps == 0;
    return simulation.time >= next_time;
  }
};

/// Adds up the seconds of the work that it is given.
template <class Work>
void timed(double& seconds, Work&& work) {
  const double begin = MPI_Wtime();
  work();
  seconds += MPI_Wtime() - begin;
}

void slowest(MPI_Comm comm, RunReport& report) {
  double* const seconds[] = {&report.seconds, &report.seconds_stepping, &report.seconds_results,
                             &report.seconds_closing, &report.seconds_checkpoints};
  for (double* value : seconds) MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_MAX, comm);
}

/// A run under way.
struct Course {
  const RunOptions& options;
  Simulation& simulation;
  Results results;
  Checkpoints checkpoints;
  RunReport report;

  void write_result() {
    timed(report.seconds_results, [&] { results.write(simulation.time, fields_of(simulation)); });
    ++report.results;
  }
  /// Results of before a checkpoint are in the file first, so that a run that goes on from it misses none.
  void write_checkpoint() {
    timed(report.seconds_checkpoints, [&] {
      results.wait();
      checkpoints.write(simulation);
    });
  }
  void step(bool& stop, double until) {
    // Ranks that wait for a slower one wait here, and not in the calls that are measured.
    timed(report.seconds_stepping, [&] {
      advance(simulation, until, stop);
      MPI_Barrier(simulation.comm);
    });
    ++report.steps;
  }
};

void march(Course& course, const volatile int* stop) {
  const RunOptions& options = course.options;
  Simulation& simulation = course.simulation;
  Schedule schedule(options, simulation.time);
  while (!course.report.stopped && simulation.time < options.until && course.report.steps < options.steps) {
    bool asked = *stop != 0;
    course.step(asked, std::min(options.until, schedule.next_time));
    course.report.stopped = asked;
    if (schedule.due(simulation)) {
      course.write_result();
      schedule.pass(simulation.time);
    }
    if (options.checkpoint_steps > 0 && simulation.step % options.checkpoint_steps == 0 && !asked)
      course.write_checkpoint();
  }
}

}  // namespace

RunReport run(MPI_Comm comm, const RunOptions& options, const volatile int* stop) {
  const double began = MPI_Wtime();
  Simulation simulation = begin(comm, options);
  const bool resumed = go_on(simulation, options);
  std::optional<double> from;  // single precision may have rounded the time of a result up
  if (resumed) from = std::max(simulation.time, static_cast<double>(static_cast<float>(simulation.time)));
  const Io io = options.result.empty() ? Io::off : options.io;
  if (!from && io != Io::off) check_result(comm, io, options.result, options.mesh, options.pieces, options.force);
  Course course{options,
                simulation,
                open_results(comm, io, options.result, simulation.mesh, options.mesh, from),
                Checkpoints(options.checkpoints, options.mesh),
                {}};
  course.report.volume_before = total_volume(simulation);
  if (!resumed) course.write_result();
  march(course, stop);
  if (!options.checkpoints.empty()) course.write_checkpoint();
  timed(course.report.seconds_closing, [&] { course.results.close(); });
  timed(course.report.seconds_checkpoints, [&] { course.checkpoints.finish(comm); });
  course.report.time = simulation.time;
  course.report.volume_after = total_volume(simulation);
  course.report.seconds = MPI_Wtime() - began;
  slowest(comm, course.report);
  return course.report;
}

std::string to_text(const RunReport& report, bool json) {
  char text[640];
  const char* const form =
      json ? R"({"steps": %lld, "results": %lld, "time": %.17g, "stopped": %s, "volume_before": %.17g, )"
             R"("volume_after": %.17g, "seconds": %.6f, "seconds_stepping": %.6f, "seconds_results": %.6f, )"
             R"("seconds_closing": %.6f, "seconds_checkpoints": %.6f})"
           : "steps %lld, results %lld, time %.10g s, stopped by a signal: %s\nwater %.10g m3 before, %.10g m3 after\n"
             "seconds: all %.3f, stepping %.3f, results %.3f and closing %.3f, checkpoints %.3f";
  std::snprintf(text, sizeof text, form, static_cast<long long>(report.steps), static_cast<long long>(report.results),
                report.time, json ? (report.stopped ? "true" : "false") : (report.stopped ? "yes" : "no"),
                report.volume_before, report.volume_after, report.seconds, report.seconds_stepping,
                report.seconds_results, report.seconds_closing, report.seconds_checkpoints);
  return text;
}

}  // namespace octavo::shallow
