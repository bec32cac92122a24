// Bubbles that a swirl draws out, with output through Octavo.
//     mpirun -n 4 octavo-bubble --bubbles 2 --max-level 0 --end 0.1
//     mpirun -n 2 octavo-bubble --bubbles 2 --max-level 3 --end 0.15 --restart      goes on with a finer mesh
#include <cstdio>

#include "apps/bubble/step.hpp"
#include "apps/command/output.hpp"
#include "apps/patches/step.hpp"
#include "octavo/base/error.hpp"

using namespace octavo;

namespace {

std::vector<command::Word> table() {
  std::vector<command::Word> words{{"dim", "2", "dimensions, 2 or 3"},
                                   {"bubbles", "1", "along each axis"},
                                   {"roots", "4", "blocks of level 0 along each axis for each bubble"},
                                   {"block", "16", "cells of a block along each axis, even"},
                                   {"max-box", "64", "boxes are at most that long [cells]"},
                                   {"max-level", "2", "the finest level; level 0 covers the domain"},
                                   {"regrid-every", "4", "steps"},
                                   {"redistance", "4", "iterations, where the level set is made a distance again"},
                                   {"redistance-every", "10", "steps"},
                                   {"courant", "0.4", "cells of the finest level a step, at most 0.5"},
                                   {"end", "0.1", "the time of the end"}};
  for (const command::Word& word : command::output_words(1'000'000, 10, 0)) words.push_back(word);
  return words;
}

patches::Shape shape_of(const command::Words& words) {
  patches::Shape shape;
  shape.dim = static_cast<int>(command::whole_number(words, "dim", 2, 3));
  shape.block = command::whole_number(words, "block", 4, 1024);
  shape.max_box = command::whole_number(words, "max-box", 8, 4096);
  shape.max_level = static_cast<int>(command::whole_number(words, "max-level", 0, 12));
  shape.variables = 1;
  const std::int64_t bubbles = command::whole_number(words, "bubbles", 1, 1000);
  const std::int64_t roots = command::whole_number(words, "roots", 1, 1000);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(shape.dim);
    shape.cells[axis] = used ? bubbles * roots * shape.block : 1;
    shape.hi[axis] = used ? static_cast<double>(bubbles) : 1;
  }
  return shape;
}

struct Simulation {
  bubble::State state;
  patches::Plans plans{};
  std::int64_t step = 0;
  double time = 0;
  std::optional<store::StepId> id{};
};

// Collective. Whether boxes changed.
bool regrid(Simulation& run) {
  auto finer = plan_levels(run.state.mesh.shape, bubble::blocks_near_surface(run.state.mesh, 4));
  if (has_boxes(run.state.mesh, finer)) return false;
  patches::Hierarchy next = with_boxes(run.state.mesh, std::move(finer), {});
  run.state.faces = regrid_faces(run.state.mesh, run.state.faces, next);
  run.state.mesh = std::move(next);
  run.plans = make_plans(run.state.mesh);
  return true;
}

Simulation from_beginning(const patches::Shape& shape) {
  Simulation run{{patches::make_hierarchy(MPI_COMM_WORLD, shape), {}}};
  run.plans = make_plans(run.state.mesh);
  bubble::set_bubbles(run.state.mesh);
  run.state.faces = bubble::swirl_on(run.state.mesh);
  while (regrid(run)) bubble::set_bubbles(run.state.mesh);
  average_down(run.state.mesh, run.plans);
  return run;
}

Simulation from_checkpoint(const patches::Shape& shape, const command::OutputOptions& options) {
  const engine::Restart from = command::take_up(MPI_COMM_WORLD, options);
  Simulation run{bubble::from_step(MPI_COMM_WORLD, shape, from)};
  run.plans = make_plans(run.state.mesh);
  run.step = from.id.step;
  run.time = from.header.time;
  run.id = from.id;
  return run;
}

struct Control {
  double courant = 0.4, end = 0.1;
  int iterations = 4;
  std::int64_t redistance_every = 10, regrid_every = 4, steps = 0;
};

Control control_of(const command::Words& words, std::int64_t steps) {
  Control control;
  control.courant = command::number(words, "courant", 0.001, 0.5);
  control.end = command::number(words, "end", 0, 1e6);
  control.iterations = static_cast<int>(command::whole_number(words, "redistance", 0, 1000));
  control.redistance_every = command::whole_number(words, "redistance-every", 1, 1'000'000);
  control.regrid_every = command::whole_number(words, "regrid-every", 1, 1'000'000);
  control.steps = steps;
  return control;
}

bool is_over(const Simulation& run, const Control& control) {
  return run.time >= control.end || run.step >= control.steps;
}

// Collective. One step.
void advance(Simulation& run, const Control& control) {
  if (run.step % control.regrid_every == 0) regrid(run);
  patches::Hierarchy& mesh = run.state.mesh;
  const double left = control.end - run.time, dt = std::min(bubble::step_of(mesh, control.courant), left);
  bubble::advect(mesh, run.plans, run.state.faces, dt);
  ++run.step;
  run.time = left > dt ? run.time + dt : control.end;
  if (run.step % control.redistance_every == 0) bubble::redistance(mesh, run.plans, control.iterations);
}

// Collective.
std::string numbers_of(const Simulation& run, double volume_before) {
  const patches::Hierarchy& mesh = run.state.mesh;
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(),
                "\"step\": %lld, \"time\": %.9g, \"levels\": %zu, \"leaf_cells\": %lld, \"divergence\": %.3e, "
                "\"volume_change\": %.3e",
                static_cast<long long>(run.step), run.time, mesh.levels.size(),
                static_cast<long long>(count_leaves(mesh)),
                bubble::largest_divergence(mesh, run.plans, run.state.faces),
                bubble::volume_inside(mesh, run.plans) / volume_before - 1);
  return text.data();
}

std::string simulate(const command::Words& words) {
  const patches::Shape shape = shape_of(words);
  check(shape);
  const command::OutputOptions options = command::output_options(words);
  const Control control = control_of(words, options.steps);
  Simulation run = options.restart ? from_checkpoint(shape, options) : from_beginning(shape);
  const auto put = [&](engine::Writer& writer, store::Flow flow) {
    bubble::put(writer, run.state.mesh, run.state.faces, flow == store::Flow::checkpoint);
  };
  command::Output output(MPI_COMM_WORLD, options, patches::unfolded(header_of(shape, "octavo-bubble")), put, run.id);
  const double begin = MPI_Wtime(), volume = bubble::volume_inside(run.state.mesh, run.plans);
  std::int64_t updates = 0;
  for (bool stopped = false; !stopped && !is_over(run, control);) {
    advance(run, control);
    updates += count_leaves(run.state.mesh);
    stopped = output.after_step(run.step, run.time, is_over(run, control));
  }
  output.close();
  return output.report(MPI_Wtime() - begin, updates, numbers_of(run, volume));
}

}  // namespace

int main(int argc, char** argv) {
  return command::main_of(argc, argv,
                          "octavo-bubble: a level set and a swirl without divergence draw bubbles out into spirals.\n"
                          "Checkpoints hold the velocities on faces; --restart may be given a finer --max-level.",
                          table(), simulate);
}
