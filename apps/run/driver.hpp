#pragma once
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "apps/euler/advance.hpp"
#include "apps/euler/fields.hpp"
#include "apps/euler/indicator.hpp"
#include "apps/euler/tracers.hpp"
#include "apps/run/output.hpp"
#include "apps/run/report.hpp"
#include "apps/run/restart.hpp"
#include "apps/run/stop.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

/// A run, whatever the mesh: apps/euler/README.md lists the functions that a mesh brings. All of it is collective.
namespace octavo::run {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One of the simulations.
struct App {
  std::string program;
  RunOptions defaults{};
  std::function<euler::Problem(const RunOptions&)> problem{};
  std::function<Probe(const euler::Problem&, double time, double finest_width)> probe{};
};

template <class Mesh>
struct Run {
  MPI_Comm comm = MPI_COMM_NULL;
  RunOptions options;
  euler::Problem problem;
  Mesh mesh;
  std::int64_t step = 0;
  double time = 0;
  double dt = 0;  ///< time step of the last step; before the first step that of the next one
  Output output{};
  euler::Workspace workspace{};
  double cells_updated = 0;  ///< by this rank
  double seconds_computing = 0;
};

template <class Mesh>
bool regrid_now(Run<Mesh>& run) {
  fill_ghosts(run.mesh);
  const int least = run.options.min_level;
  return regrid(run.mesh, [&](const euler::Box& box, std::span<double> out) {
    euler::indicator(run.problem.gas, box.shape, box.state, out);
    if (box.level > least) return;
    const double wanted = box.level < least ? 2 * euler::refine_above : euler::coarsen_below;
    for (double& value : out) value = std::max(value, wanted);
  });
}

template <class Mesh>
void start(Run<Mesh>& run) {
  const auto set = [&] { for_each_box(run.mesh, [&](euler::Box& box) { euler::set_initial(run.problem, box); }); };
  set();
  for (int level = 0; level < run.options.max_level && regrid_now(run); ++level) set();
  add_tracers(run.mesh, euler::lattice(run.problem.gas.dim, run.problem.lo, run.problem.hi, run.options.tracers));
}

/// The largest signal rate of all ranks, and whether any of them was asked to stop.
template <class Mesh>
std::pair<double, bool> rate_and_stop(Run<Mesh>& run) {
  std::array<double, 2> most{0, stop_requested() ? 1.0 : 0.0};
  for_each_box(run.mesh, [&](euler::Box& box) {
    most[0] = std::max(most[0], euler::signal_rate(run.problem.gas, box.shape, box.width, box.state));
  });
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_DOUBLE, MPI_MAX, run.comm);
  if (!std::isfinite(most[0]))
    throw base::Error(base::Kind::corrupt, "the state is broken: a density or pressure is not a positive number")
        .at("step " + std::to_string(run.step));
  return {most[0], most[1] > 0};
}

template <class Mesh>
void advance_mesh(Run<Mesh>& run, double dt) {
  const euler::Gas& gas = run.problem.gas;
  move_tracers(run.mesh,
               [&](const euler::Box& box, const euler::Point3& at) { return euler::carried(gas, box, at, dt); });
  for_each_box(run.mesh, [&](euler::Box& box) {
    euler::advance(gas, box.shape, box.width, dt, box.state, run.workspace);
    keep_fluxes(run.mesh, box, run.workspace, dt);
    run.cells_updated += static_cast<double>(box.shape.cells[0]) * box.shape.cells[1] * box.shape.cells[2];
  });
  correct_fluxes(run.mesh, dt);
}

/// Density and temperature of the cells that hold this rank's tracers, in their order.
template <class Mesh>
std::array<std::vector<double>, 2> sampled(Run<Mesh>& run) {
  std::array<std::vector<double>, 2> values;
  move_tracers(run.mesh, [&](const euler::Box& box, const euler::Point3& at) {
    std::array<int, 3> cell{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.shape.dim); ++axis)
      cell[axis] =
          std::clamp(static_cast<int>((at[axis] - box.lo[axis]) / box.width[axis]), 0, box.shape.cells[axis] - 1);
    const auto state = to_primitive(run.problem.gas, box.state.data() + offset_of(box.shape, cell[0], cell[1], cell[2]),
                                    padded_size(box.shape));
    values[0].push_back(state.density);
    values[1].push_back(state.pressure / state.density);
    return at;  // nobody moves
  });
  return values;
}

template <class Mesh>
void put_step(Run<Mesh>& run, store::Flow flow) {
  engine::Writer& writer = *run.output.store;
  const bool checkpoint = flow == store::Flow::checkpoint;
  writer.begin_step(flow, run.step, run.time);
  writer.put_attribute("problem", run.problem.name);
  writer.put_attribute("gamma", run.problem.gas.gamma);
  const auto fields = checkpoint ? euler::checkpoint_fields(run.problem.gas) : euler::analysis_fields(run.problem.gas);
  const auto samples = sampled(run);
  put_mesh_and_fields(run.mesh, writer, std::span<const euler::OutputField>(fields));
  writer.put_particles("tracers", "density", engine::view_of(samples[0]));
  writer.put_particles("tracers", "temperature", engine::view_of(samples[1]));
  writer.end_step();
  if (checkpoint) run.output.last_checkpoint = run.step;
}

/// The velocities of this rank's tracers along each axis, in their order. Collective.
template <class Mesh>
std::array<std::vector<double>, 3> tracer_velocities(Run<Mesh>& run) {
  std::array<std::vector<double>, 3> values;
  fill_ghosts(run.mesh);
  move_tracers(run.mesh, [&](const euler::Box& box, const euler::Point3& at) {
    const euler::Point3 velocity = euler::velocity_at(run.problem.gas, box, at);
    for (std::size_t axis = 0; axis < 3; ++axis) values[axis].push_back(velocity[axis]);
    return at;  // nobody moves
  });
  return values;
}

template <class Mesh>
void put_native(Run<Mesh>& run) {
  const bool flash = run.options.native == "flash";
  engine::Writer& writer = *run.output.native;
  const auto fields = flash ? euler::flash_fields(run.problem.gas) : euler::native_fields(run.problem.gas);
  writer.begin_step(native_path(run.options, run.step), run.step, run.time);
  if (flash)
    describe_for_flash(writer, run.problem, run.dt);
  else
    writer.put_attribute("level_dt", std::vector<double>{run.dt});  // of all levels
  const auto velocities = flash ? tracer_velocities(run) : std::array<std::vector<double>, 3>{};
  put_mesh_and_fields(run.mesh, writer, std::span<const euler::OutputField>(fields));
  for (std::size_t axis = 0; flash && axis < 3; ++axis)
    writer.put_particles("tracers", std::string("velocity_") + "xyz"[axis], engine::view_of(velocities[axis]));
  writer.end_step();
}

/// Writes the outputs that are due after a step; if `last`, a checkpoint in any case.
template <class Mesh>
void write(Run<Mesh>& run, bool last) {
  const auto begin = Clock::now();
  if (run.output.store) {
    using store::Flow;
    const bool due = run.output.store->due(Flow::checkpoint, run.step, run.time);
    if ((due || last) && run.output.last_checkpoint != run.step) put_step(run, Flow::checkpoint);
    if (!last && run.output.store->due(Flow::analysis, run.step, run.time)) put_step(run, Flow::analysis);
  }
  if (run.output.native && !last && run.step % run.options.native_every == 0) put_native(run);
  run.output.seconds += seconds_since(begin);
}

/// Sums of all variables over the domain, of all ranks.
template <class Mesh>
std::vector<double> totals(Run<Mesh>& run) {
  const auto variables = static_cast<std::size_t>(num_variables(run.problem.gas));
  std::vector<double> sums(variables, 0.0);
  for_each_leaf_cell(run.mesh, [&](const euler::Box& box, std::size_t offset, int, int, int) {
    const std::size_t size = padded_size(box.shape);
    for (std::size_t v = 0; v < variables; ++v) sums[v] += cell_volume(box) * box.state[v * size + offset];
  });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, run.comm);
  return sums;
}

template <class Mesh>
Numbers probe(Run<Mesh>& run, const App& app) {
  double finest = std::numeric_limits<double>::max(), cells = 0;
  for_each_leaf_cell(run.mesh, [&](const euler::Box& box, std::size_t, int, int, int) {
    finest = std::min(finest, box.width[0]);
    cells += 1;
  });
  MPI_Allreduce(MPI_IN_PLACE, &finest, 1, MPI_DOUBLE, MPI_MIN, run.comm);
  MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_DOUBLE, MPI_SUM, run.comm);
  const Probe asked = app.probe(run.problem, run.time, finest);
  std::vector<double> sums(asked.sums, 0.0);
  for_each_leaf_cell(run.mesh, [&](const euler::Box& box, std::size_t offset, int i, int j, int k) {
    asked.add(centre_of(box, i, j, k), cell_volume(box), box.state.data() + offset, padded_size(box.shape), sums);
  });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, run.comm);
  Numbers numbers = asked.finish(sums);
  numbers.insert(numbers.begin(), {"leaf_cells", cells});
  return numbers;
}

template <class Mesh>
double time_step(const Run<Mesh>& run, double rate) {
  if (!run.options.dt) return run.options.courant / rate;
  if (*run.options.dt * rate > 1)
    throw base::Error(base::Kind::usage,
                      "--dt " + std::to_string(*run.options.dt) + " is not stable: at most " + std::to_string(1 / rate))
        .at("step " + std::to_string(run.step));
  return *run.options.dt;
}

/// Goes on to the end. Returns whether it was asked to stop before.
template <class Mesh>
bool go_on(Run<Mesh>& run) {
  const double end = run.options.end.value_or(std::numeric_limits<double>::infinity());
  int rank = 0;
  MPI_Comm_rank(run.comm, &rank);
  while (run.step < run.options.steps && run.time < end) {
    const auto begin = Clock::now();
    if (run.step % run.options.regrid_every == 0) regrid_now(run);
    fill_ghosts(run.mesh);
    const auto [rate, stop] = rate_and_stop(run);
    if (stop) return true;
    const double dt = std::min(time_step(run, rate), end - run.time);
    advance_mesh(run, dt);
    ++run.step;
    run.time += dt;
    run.dt = dt;
    run.seconds_computing += seconds_since(begin);
    if (rank == 0 && !run.options.quiet && run.step % 10 == 0)
      std::fprintf(stderr, "step %6lld  time %.6e  dt %.3e\n", static_cast<long long>(run.step), run.time, dt);
    write(run, false);
  }
  return false;
}

/// The numbers printed at the end of a run, the same on all ranks; seconds are those of the slowest rank.
template <class Mesh>
Numbers summary(Run<Mesh>& run, const App& app, const std::vector<double>& before, double seconds, double restarting) {
  std::array<double, 4> slowest{seconds, run.seconds_computing, run.output.seconds, restarting};
  double cells = run.cells_updated;
  double tracers_of_all = static_cast<double>(tracers(run.mesh).id.size());
  int ranks = 1;
  MPI_Comm_size(run.comm, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, slowest.data(), 4, MPI_DOUBLE, MPI_MAX, run.comm);
  MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPI_DOUBLE, MPI_SUM, run.comm);
  MPI_Allreduce(MPI_IN_PLACE, &tracers_of_all, 1, MPI_DOUBLE, MPI_SUM, run.comm);
  const auto after = totals(run);
  const auto energy = static_cast<std::size_t>(energy_of(run.problem.gas));
  Numbers numbers{{"ranks", static_cast<double>(ranks)},
                  {"step", static_cast<double>(run.step)},
                  {"time", run.time},
                  {"levels", static_cast<double>(num_levels(run.mesh))},
                  {"tracers", tracers_of_all},
                  {"seconds", slowest[0]},
                  {"seconds_restarting", slowest[3]},
                  {"seconds_computing", slowest[1]},
                  {"seconds_in_io", slowest[2]},
                  {"io_share", slowest[0] > 0 ? slowest[2] / slowest[0] : 0.0},
                  {"cells_updated", cells},
                  {"updates_per_second_and_rank", cells / std::max(slowest[1], 1e-9) / ranks},
                  {"mass", after[0]},
                  {"mass_change", (after[0] - before[0]) / before[0]},
                  {"energy", after[energy]},
                  {"energy_change", (after[energy] - before[energy]) / before[energy]}};
  for (const auto& number : probe(run, app)) numbers.push_back(number);
  return numbers;
}

/// Reads the output of FLASH or AMReX that a run goes on from.
template <class Mesh>
engine::Restart take_up_output(Run<Mesh>& run, engine::RestartOptions how) {
  how.fields.reset();
  how.block = header_of(run.mesh).block;
  how.own_names = true;
  how.check = [&](const mesh::Header& header) {
    std::error_code ignored;
    if (std::filesystem::equivalent(run.options.store, run.options.restart_from, ignored))
      throw base::Error(base::Kind::usage, "--store names the output that the run goes on from");
    if (run.options.restart_step)
      throw base::Error(base::Kind::usage,
                        "--restart-step chooses a step of a store, and this is an output of " + header.code);
    check_output(header, run.problem);
  };
  auto from = *engine::restart(run.comm, run.options.restart_from, how);
  ranks::agree(run.comm, [&] { make_conserved(from.part, from.header, run.problem); });
  return from;
}

/// Reads the store's checkpoint that a run goes on from. Throws Error(usage) if there is none.
template <class Mesh>
engine::Restart take_up_checkpoint(Run<Mesh>& run, engine::RestartOptions how) {
  const engine::RestartOptions engine = engine::restart_options(run.options.engine);
  how.staging_directory = engine.staging_directory;
  how.ranks_per_node = engine.ranks_per_node;
  how.remember_failed = engine.remember_failed;
  how.step = run.options.restart_step;
  auto from = engine::restart(run.comm, run.options.restart_from, how);
  if (!from)
    throw base::Error(base::Kind::usage, "there is no checkpoint to go on from").at(run.options.restart_from.string());
  check_restart(from->header, run.problem);
  return std::move(*from);
}

/// The step that a run goes on from, if any.
template <class Mesh>
std::optional<engine::Restart> take_up(Run<Mesh>& run) {
  if (run.options.restart_from.empty()) return std::nullopt;
  const engine::RestartOptions how = restart_options(run.mesh);
  const bool output = engine::is_output(run.comm, run.options.restart_from);
  auto from = output ? take_up_output(run, how) : take_up_checkpoint(run, how);
  for (mesh::Field& field : from.part.fields) widen(field);  // of a store with the option single_precision
  run.step = from.id.step;
  run.time = from.header.time;
  restore(run.mesh, from);
  from.part = {};
  return from;
}

template <class Mesh>
void say(const Run<Mesh>& run, const App& app, const Numbers& numbers, bool stopped) {
  int rank = 0;
  MPI_Comm_rank(run.comm, &rank);
  if (rank != 0) return;
  std::printf("%s on %s%s\n", app.program.c_str(), run.options.mesh.c_str(),
              stopped ? ", stopped by a signal after a last checkpoint" : "");
  for (const auto& [name, value] : numbers) std::printf("  %-28s %.10g\n", name.c_str(), value);
  if (!run.options.report.empty()) std::ofstream(run.options.report) << to_json(numbers) << '\n';
}

template <class Mesh>
void run_on(Mesh mesh, MPI_Comm comm, const RunOptions& options, const euler::Problem& problem, const App& app) {
  const auto begin = Clock::now();
  Run<Mesh> run{comm, options, problem, std::move(mesh)};
  const auto from = take_up(run);
  const double restarting = from ? seconds_since(begin) : 0.0;
  if (!from) start(run);
  const auto opening = Clock::now();
  run.output = open_output(comm, options, problem, header_of(run.mesh), from);
  run.output.seconds = seconds_since(opening);
  const auto before = totals(run);
  if (!from) {
    fill_ghosts(run.mesh);
    run.dt = time_step(run, rate_and_stop(run).first);
    write(run, false);
  }
  const bool stopped = go_on(run);
  write(run, true);
  const auto closing = Clock::now();
  close(run.output);
  run.output.seconds += seconds_since(closing);
  say(run, app, summary(run, app, before, seconds_since(begin), restarting), stopped);
}

}  // namespace octavo::run
