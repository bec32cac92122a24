// The streaming sine wave, with output through Octavo.
//     mpirun -n 4 octavo-wave --bins 24 --cells 64 --io background
#include <cmath>
#include <cstdio>

#include "apps/command/output.hpp"
#include "apps/patches/step.hpp"
#include "apps/wave/wave.hpp"
#include "octavo/base/error.hpp"

using namespace octavo;

namespace {

std::vector<command::Word> table() {
  std::vector<command::Word> words{{"dim", "3", "dimensions, 1 to 3"},
                                   {"cells", "64", "along each axis"},
                                   {"cells-yz", "", "along y and z, where they are others"},
                                   {"bins", "16", "energy bins: variables"},
                                   {"block", "16", "cells of a block along each axis, even"},
                                   {"max-box", "32", "boxes are at most that long [cells]"}};
  for (const command::Word& word : command::output_words(0, 10, 0)) words.push_back(word);
  for (command::Word& word : words)
    if (word.name == "steps") word.meaning = "the last step; 0: after half a period";
  return words;
}

patches::Shape shape_of(const command::Words& words) {
  patches::Shape shape;
  shape.dim = static_cast<int>(command::whole_number(words, "dim", 1, 3));
  shape.block = command::whole_number(words, "block", 2, 1024);
  shape.max_box = command::whole_number(words, "max-box", 4, 4096);
  shape.max_level = 0;
  shape.variables = static_cast<int>(command::whole_number(words, "bins", 1, 10'000));
  shape.boundary = {patches::Boundary::periodic, patches::Boundary::periodic, patches::Boundary::periodic};
  const std::int64_t cells = command::whole_number(words, "cells", 2, 1 << 20);
  const std::int64_t across =
      command::is_set(words, "cells-yz") ? command::whole_number(words, "cells-yz", 2, 1 << 20) : cells;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(shape.dim);
    shape.cells[axis] = !used ? 1 : axis == 0 ? cells : across;
    shape.hi[axis] = static_cast<double>(shape.cells[axis]) / static_cast<double>(cells);
  }
  return shape;
}

std::vector<std::string> names_of_bins(int bins) {
  std::vector<std::string> names;
  for (int bin = 0; bin < bins; ++bin) names.push_back("energy_density_" + std::to_string(bin));
  return names;
}

// The sum over bins, a value a cell of each box.
std::vector<std::vector<double>> sums_over_bins(const patches::Hierarchy& mesh) {
  std::vector<std::vector<double>> sums;
  for_each_patch(mesh, [&](int, const patches::Values& values, const patches::IndexBox& box) {
    std::vector<double>& sum = sums.emplace_back();
    patches::for_each_cell(box, [&](const patches::Index3& at) {
      double all = 0;
      for (int bin = 0; bin < values.variables; ++bin) all += values.at(bin, at);
      sum.push_back(all);
    });
  });
  return sums;
}

struct Start {
  patches::Hierarchy mesh;
  std::int64_t step = 0;
  double time = 0;
  std::optional<store::StepId> id{};
};

Start from_checkpoint(const patches::Shape& shape, const command::OutputOptions& options) {
  engine::RestartOptions how;
  how.as = engine::MeshKind::patches;
  how.max_box = shape.max_box;
  const engine::Restart from = command::take_up(MPI_COMM_WORLD, options, how);
  if (from.header.code != "octavo-wave" || static_cast<int>(from.header.fields.size()) != shape.variables)
    throw base::Error(base::Kind::usage, "the checkpoint is of " + from.header.code + " with " +
                                             std::to_string(from.header.fields.size()) +
                                             " fields, not of octavo-wave with " + std::to_string(shape.variables) +
                                             " bins")
        .at(options.store.string());
  return {hierarchy_from(MPI_COMM_WORLD, shape, from, names_of_bins(shape.variables)), from.id.step, from.header.time,
          from.id};
}

Start from_beginning(const patches::Shape& shape) {
  Start start{patches::make_hierarchy(MPI_COMM_WORLD, shape)};
  wave::set_to(start.mesh, 0);
  return start;
}

// Half a period is a whole number of steps of at most 0.8 cells.
std::int64_t steps_of_half_a_period(const patches::Shape& shape) {
  return static_cast<std::int64_t>(std::ceil(0.5 * static_cast<double>(shape.cells[0]) / 0.8));
}

command::Output::Put put_of(const patches::Hierarchy& mesh) {
  return [&mesh, sums = std::vector<std::vector<double>>()](engine::Writer& writer, store::Flow flow) mutable {
    writer.put_mesh(patches_of(mesh));
    if (flow == store::Flow::analysis) {
      sums = sums_over_bins(mesh);
      writer.put_field("energy_density", views_of(mesh, sums));
      return;
    }
    const std::vector<std::string> names = names_of_bins(mesh.shape.variables);
    for (int bin = 0; bin < mesh.shape.variables; ++bin)
      writer.put_field(names[static_cast<std::size_t>(bin)], views_of(mesh, bin));
  };
}

std::string simulate(const command::Words& words) {
  const patches::Shape shape = shape_of(words);
  check(shape);
  command::OutputOptions options = command::output_options(words);
  const std::int64_t half = steps_of_half_a_period(shape);
  const double dt = 0.5 / static_cast<double>(half);
  if (options.steps == 0) options.steps = half;
  Start start = options.restart ? from_checkpoint(shape, options) : from_beginning(shape);
  const patches::Plans plans = make_plans(start.mesh);
  command::Output output(MPI_COMM_WORLD, options, patches::unfolded(header_of(shape, "octavo-wave")),
                         put_of(start.mesh), start.id);
  const double begin = MPI_Wtime();
  const std::int64_t first = start.step;
  for (bool stopped = false; !stopped && start.step < options.steps;) {
    wave::advance(start.mesh, plans, dt);
    start.time = static_cast<double>(++start.step) * dt;
    stopped = output.after_step(start.step, start.time, start.step == options.steps);
  }
  output.close();
  const double seconds = MPI_Wtime() - begin, error = wave::mean_error(start.mesh, start.time);
  const std::int64_t updates = (start.step - first) * count_leaves(start.mesh) * shape.variables;
  std::array<char, 160> more{};
  std::snprintf(more.data(), more.size(), "\"step\": %lld, \"time\": %.9g, \"error\": %.6e",
                static_cast<long long>(start.step), start.time, error);
  return output.report(seconds, updates, more.data());
}

}  // namespace

int main(int argc, char** argv) {
  return command::main_of(
      argc, argv,
      "octavo-wave: a sine wave of radiation in many energy bins streams through a periodic box.\n"
      "Without --steps it runs half a period, where the exact answer is known, and prints its error.",
      table(), simulate);
}
