#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "apps/blocks/blocks.hpp"
#include "apps/run/driver.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::blocks {
namespace {

using testing::everyone;

Settings small(int dim, const euler::Problem& problem, int max_level = 2) {
  Settings settings{problem, {3, 2, 2}, 4, max_level};
  if (dim == 2) settings.block = 8;
  return settings;
}

run::Run<Blocks> begin_run(MPI_Comm comm, const Settings& settings, std::int64_t steps) {
  everyone();  // starts MPI
  run::RunOptions options;
  options.dim = settings.problem.gas.dim;
  options.steps = steps;
  options.max_level = settings.max_level;
  options.tracers = options.dim == 2 ? 12 : 6;
  options.quiet = true;
  return {comm, options, settings.problem, make_blocks(comm, settings)};
}

// Values of all leaves of this rank, by place, and positions of its tracers.
struct Content {
  std::map<std::uint64_t, std::vector<double>> leaves;
  std::map<std::int64_t, euler::Point3> tracers;
};
Content content_of(Blocks& mesh) {
  Content content;
  const std::size_t size = padded_size(mesh.shape);
  for_each_leaf_cell(mesh, [&](const euler::Box& box, std::size_t offset, int, int, int) {
    auto& values = content.leaves[key_of(mesh.places[box.index])];
    for (std::size_t at = offset; at < box.state.size(); at += size) values.push_back(box.state[at]);
  });
  for (std::size_t i = 0; i < mesh.carried.id.size(); ++i)
    content.tracers[mesh.carried.id[i]] = mesh.carried.position[i];
  return content;
}

// The whole contains everything of this rank, bit for bit, and all ranks together have the whole.
void expect_part_of(const Content& mine, const Content& whole, MPI_Comm comm) {
  for (const auto& [key, values] : mine.leaves) {
    ASSERT_TRUE(whole.leaves.contains(key));
    EXPECT_EQ(values, whole.leaves.at(key));
  }
  for (const auto& [id, at] : mine.tracers) EXPECT_EQ(at, whole.tracers.at(id));
  std::array<std::size_t, 2> count{mine.leaves.size(), mine.tracers.size()};
  MPI_Allreduce(MPI_IN_PLACE, count.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
  EXPECT_EQ(count[0], whole.leaves.size());
  EXPECT_EQ(count[1], whole.tracers.size());
}

// Wishes that do not depend on who has a leaf.
std::vector<Wish> random_wishes(const Blocks& mesh, std::uint64_t seed) {
  std::vector<Wish> wishes;
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf) {
    std::mt19937_64 random(key_of(mesh.places[leaf]) * 31 + seed);
    random.discard(3);
    wishes.push_back(mesh.places[leaf].level < mesh.settings.max_level && random() % 3 == 0 ? Wish::refine
                                                                                            : Wish::stay);
  }
  return wishes;
}

TEST(BlocksMpi, ghosts_are_exact_on_a_linear_field) {
  for (int dim = 2; dim <= 3; ++dim) {
    euler::Problem problem = euler::sedov(dim, 0.1);
    problem.samples = 1;
    problem.hi = {3, 2, dim > 2 ? 2.0 : 1.0};
    const auto linear = [dim](const euler::Point3& at) { return 10 + at[0] - 2 * at[1] + (dim > 2 ? 0.5 * at[2] : 0); };
    problem.initial = [&](const euler::Point3& at) { return euler::Primitive{linear(at), {0, 0, 0}, 1, {}}; };
    Blocks mesh = make_blocks(everyone(), small(dim, problem, 1));
    fill_ghosts(mesh);
    adapt(mesh, random_wishes(mesh, 5));
    for_each_box(mesh, [&](euler::Box& box) { euler::set_initial(problem, box); });
    fill_ghosts(mesh);
    std::uint64_t compared = 0;
    for_each_box(mesh, [&](euler::Box& box) {
      const int z = dim > 2 ? 2 : 0;
      for (int k = -z; k < box.shape.cells[2] + z; ++k)
        for (int j = -2; j < box.shape.cells[1] + 2; ++j)
          for (int i = -2; i < box.shape.cells[0] + 2; ++i) {
            const auto at = centre_of(box, i, j, k);
            bool inside = true;  // slopes at the edges of the domain are those of outflow
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
              inside = inside && at[axis] > 0.25 && at[axis] < problem.hi[axis] - 0.25;
            if (!inside) continue;
            EXPECT_NEAR(box.state[offset_of(box.shape, i, j, k)], linear(at), 1e-13);
            ++compared;
          }
    });
    MPI_Allreduce(MPI_IN_PLACE, &compared, 1, MPI_UINT64_T, MPI_SUM, everyone());
    EXPECT_GT(compared, 0u);
    EXPECT_TRUE(mesh.mixed);
  }
}

TEST(BlocksMpi, mass_and_energy_are_kept_and_bits_do_not_depend_on_ranks) {
  for (int dim = 2; dim <= 3; ++dim) {
    const Settings settings = small(dim, euler::sedov(dim, 0.12));
    auto run = begin_run(everyone(), settings, dim == 2 ? 12 : 5);
    auto alone = begin_run(MPI_COMM_SELF, settings, run.options.steps);
    start(run);
    start(alone);
    const auto before = totals(run);
    go_on(run);
    go_on(alone);
    const auto after = totals(run);
    EXPECT_NEAR(after[0] / before[0], 1, 1e-13);  // sums of some 10^4 cells
    EXPECT_NEAR(after[static_cast<std::size_t>(dim) + 1] / before[static_cast<std::size_t>(dim) + 1], 1, 1e-13);
    EXPECT_EQ(run.time, alone.time);
    expect_part_of(content_of(run.mesh), content_of(alone.mesh), everyone());
    EXPECT_EQ(num_levels(run.mesh), settings.max_level + 1);
  }
}

TEST(BlocksMpi, a_restart_goes_on_with_the_same_bits) {
  const testing::SharedDirectory directory;
  const Settings settings = small(2, euler::sod(2, 0.5), 2);
  auto run = begin_run(everyone(), settings, 7);
  run.options.store = directory.path() / "run.octavo";
  start(run);
  run.output = run::open_output(everyone(), run.options, run.problem, header_of(run.mesh), std::nullopt);
  go_on(run);
  write(run, true);
  close(run.output);
  run.output = {};
  run.options.steps = 15;
  go_on(run);

  Content on_ranks;
  for (const MPI_Comm comm : {everyone(), MPI_COMM_SELF}) {
    MPI_Barrier(everyone());
    auto again = begin_run(comm, settings, 15);
    again.options.restart_from = run.options.store;
    ASSERT_TRUE(take_up(again));
    EXPECT_EQ(again.step, 7);
    go_on(again);
    EXPECT_EQ(again.time, run.time);
    if (comm != MPI_COMM_SELF) {  // leaves may be on other ranks now; a run of one rank has all of them
      on_ranks = content_of(again.mesh);
      continue;
    }
    const Content alone = content_of(again.mesh);
    expect_part_of(content_of(run.mesh), alone, everyone());
    expect_part_of(on_ranks, alone, everyone());
  }
}

TEST(BlocksMpi, a_restart_of_something_else_is_refused) {
  const testing::SharedDirectory directory;
  auto run = begin_run(everyone(), small(2, euler::wave(2)), 0);
  run.options.store = directory.path() / "run.octavo";
  run.options.engine.checkpoint_fields = {"density"};
  start(run);
  run.output = run::open_output(everyone(), run.options, run.problem, header_of(run.mesh), std::nullopt);
  write(run, true);
  close(run.output);
  const auto refused = [&](const Settings& settings) {
    auto again = begin_run(everyone(), settings, 1);
    again.options.restart_from = run.options.store;
    try {
      take_up(again);
    } catch (const base::Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_NE(refused(small(2, euler::sod(2))).find("of problem wave"), std::string::npos);
  EXPECT_NE(refused(small(3, euler::wave(3))).find("2 dimensions"), std::string::npos);
  EXPECT_NE(refused(small(2, euler::wave(2))).find("momentum_x, momentum_y, energy_density"), std::string::npos);
}

double wave_error(int roots) {
  const euler::Problem problem = euler::wave(2);
  Settings settings{problem, {roots, roots, 1}, 8, 1};
  auto run = begin_run(everyone(), settings, 100000);
  run.options.end = 0.25;
  run.options.regrid_every = 1000000;
  const auto set = [&] { for_each_box(run.mesh, [&](euler::Box& box) { euler::set_initial(problem, box); }); };
  set();
  fill_ghosts(run.mesh);
  std::vector<Wish> wishes;  // a finer square in the middle, through which the wave goes
  for (std::size_t leaf = 0; leaf < run.mesh.leaves; ++leaf) {
    const auto& at = run.mesh.places[leaf].at;
    const bool inside = 4 * at[0] >= roots && 4 * at[0] < 3 * roots && 4 * at[1] >= roots && 4 * at[1] < 3 * roots;
    wishes.push_back(inside ? Wish::refine : Wish::stay);
  }
  adapt(run.mesh, wishes);
  set();
  run.step = 1;  // no regridding at all
  go_on(run);
  euler::Problem exact = problem;
  exact.initial = [](const euler::Point3& at) { return euler::Primitive{euler::wave_density(2, at, 0.25), {}, 1, {}}; };
  double error = 0;
  for_each_box(run.mesh, [&](euler::Box& box) {
    std::vector<double> values(box.state.begin(), box.state.end());
    euler::set_initial(exact, box);
    euler::for_each_cell(box.shape, [&](int i, int j, int k) {
      const std::size_t at = offset_of(box.shape, i, j, k);
      error += cell_volume(box) * std::abs(values[at] - box.state[at]);
    });
  });
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_SUM, everyone());
  return error;
}

TEST(BlocksMpi, a_smooth_wave_through_a_finer_square_is_of_second_order) {
  EXPECT_GT(std::log2(wave_error(4) / wave_error(8)), 1.8);
}

TEST(BlocksMpi, tracers_of_a_blast_stay_symmetric) {
  Settings settings{euler::sedov(2, 0.06), {4, 4, 1}, 8, 2};
  auto run = begin_run(MPI_COMM_SELF, settings, 40);
  start(run);
  go_on(run);
  const Content content = content_of(run.mesh);
  const int edge = run.options.tracers;
  double largest = 0, moved = 0;
  for (const auto& [id, at] : content.tracers) {
    const std::int64_t i = (id - 1) % edge, j = (id - 1) / edge;
    const auto& mirror = content.tracers.at(1 + (edge - 1 - i) + edge * j);
    const auto& turned = content.tracers.at(1 + j + edge * i);
    largest = std::max({largest, std::abs(at[0] + mirror[0] - 1), std::abs(at[1] - mirror[1]),
                        std::abs(at[0] - turned[1]), std::abs(at[1] - turned[0])});
    moved = std::max(moved, std::abs(at[0] - (static_cast<double>(i) + 0.5) / edge));
  }
  EXPECT_GT(moved, 0.02);
  EXPECT_LT(largest, 1e-10);
}

}  // namespace
}  // namespace octavo::blocks
