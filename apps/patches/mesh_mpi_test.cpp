#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "apps/patches/mesh.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/write/writer.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::patches {
namespace {

using testing::everyone;

int rank() { return ranks::rank_in(everyone()); }

void set_initial(Mesh& mesh, const euler::Problem& problem) {
  for_each_box(mesh, [&](euler::Box& box) { euler::set_initial(problem, box); });
  average_down(mesh.hierarchy, mesh.plans);
}

euler::Indicate indicate_in(const Mesh& mesh) {
  return [&gas = mesh.gas](const euler::Box& box, std::span<double> out) {
    euler::indicator(gas, box.shape, box.state, out);
  };
}

Mesh start(MPI_Comm comm, const Settings& settings) {
  Mesh mesh = make_mesh(comm, settings);
  for (int level = 0; level <= settings.max_level; ++level) {
    set_initial(mesh, settings.problem);
    fill_ghosts(mesh);
    if (!regrid(mesh, indicate_in(mesh))) break;
  }
  set_initial(mesh, settings.problem);
  return mesh;
}

double step_of(Mesh& mesh) {
  double rate = 0;
  for_each_box(mesh, [&](euler::Box& box) {
    rate = std::max(rate, euler::signal_rate(mesh.gas, box.shape, box.width, box.state));
  });
  MPI_Allreduce(MPI_IN_PLACE, &rate, 1, MPI_DOUBLE, MPI_MAX, mesh.hierarchy.comm);
  return 0.4 / rate;
}

void advance(Mesh& mesh, double dt) {
  euler::Workspace workspace;
  fill_ghosts(mesh);
  move_tracers(mesh, [&](const euler::Box& box, const euler::Point3& at) { return carried(mesh.gas, box, at, dt); });
  for_each_box(mesh, [&](euler::Box& box) {
    euler::advance(mesh.gas, box.shape, box.width, dt, box.state, workspace);
    keep_fluxes(mesh, box, workspace, dt);
  });
  correct_fluxes(mesh, dt);
}

double run(Mesh& mesh, int from, int to) {
  double time = 0;
  for (int step = from; step < to; ++step) {
    if (step % 4 == 0) {
      fill_ghosts(mesh);
      regrid(mesh, indicate_in(mesh));
    }
    const double dt = step_of(mesh);
    advance(mesh, dt);
    time += dt;
  }
  return time;
}

double total(const Mesh& mesh, int variable) {
  double sum = 0;
  for_each_leaf_cell(mesh, [&](const euler::Box& box, std::size_t at, int, int, int) {
    sum += cell_volume(box) * box.state[static_cast<std::size_t>(variable) * euler::padded_size(box.shape) + at];
  });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh.hierarchy.comm);
  return sum;
}

// The same for the same cells, values and tracers, however they are dealt out.
std::uint64_t digest(const Mesh& mesh) {
  std::uint64_t sum = 0;
  const auto add = [&](const auto& record) { sum += base::checksum(std::as_bytes(std::span(&record, 1))); };
  for_each_leaf_cell(mesh, [&](const euler::Box& box, std::size_t at, int i, int j, int k) {
    for (int v = 0; v < euler::num_variables(mesh.gas); ++v)
      add(std::array{static_cast<double>(box.level), static_cast<double>(v), centre_of(box, i, j, k)[0],
                     centre_of(box, i, j, k)[1],
                     box.state[static_cast<std::size_t>(v) * euler::padded_size(box.shape) + at]});
  });
  for (std::size_t i = 0; i < mesh.tracers.id.size(); ++i)
    add(std::array{static_cast<double>(mesh.tracers.id[i]), mesh.tracers.position[i][0], mesh.tracers.position[i][1]});
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, mesh.hierarchy.comm);
  return sum;
}

Settings sedov_settings() {
  Settings settings;
  settings.problem = euler::sedov(2, 0.04);
  settings.roots = {4, 4, 1};
  settings.max_level = 2;
  settings.max_box = 32;
  return settings;
}

TEST(PatchMeshMpi, a_blast_keeps_mass_and_energy_and_its_symmetry) {
  Mesh mesh = start(everyone(), sedov_settings());
  EXPECT_EQ(num_levels(mesh), 3);
  add_tracers(mesh, euler::lattice(2, {0, 0, 0}, {1, 1, 0}, 8));
  const double mass = total(mesh, 0), energy = total(mesh, euler::energy_of(mesh.gas));
  run(mesh, 0, 40);
  EXPECT_NEAR(total(mesh, 0), mass, 1e-13);
  EXPECT_NEAR(total(mesh, euler::energy_of(mesh.gas)), energy, 1e-12 * energy);
  EXPECT_NEAR(total(mesh, 1), 0, 1e-13);
  std::array<double, 3> sums{static_cast<double>(mesh.tracers.id.size()), 0, 0};
  for (const euler::Point3& at : mesh.tracers.position)
    for (std::size_t axis = 0; axis < 2; ++axis) sums[1 + axis] += at[axis] - 0.5;
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, everyone());
  EXPECT_EQ(sums[0], 64);
  EXPECT_NEAR(sums[1], 0, 1e-11);
  EXPECT_NEAR(sums[2], 0, 1e-11);
}

void write(const std::filesystem::path& store, Mesh& mesh) {
  engine::Options options;
  options.mode = engine::Mode::sync;
  engine::Writer writer(mesh.hierarchy.comm, store, header_of(mesh), options);
  writer.begin_step(store::Flow::checkpoint, 10, 0.5);
  put_mesh_and_fields(mesh, writer, euler::checkpoint_fields(mesh.gas));
  writer.end_step();
  writer.close();
}

Mesh read(MPI_Comm comm, const std::filesystem::path& store, const Settings& settings) {
  Mesh mesh = make_mesh(comm, settings);
  const auto from = engine::restart(comm, store, restart_options(mesh));
  restore(mesh, *from);
  return mesh;
}

TEST(PatchMeshMpi, a_restart_goes_on_with_the_same_bits_on_any_number_of_ranks) {
  const testing::SharedDirectory directory;
  const Settings settings = sedov_settings();
  Mesh mesh = start(everyone(), settings);
  add_tracers(mesh, euler::lattice(2, {0, 0, 0}, {1, 1, 0}, 8));
  run(mesh, 0, 10);
  write(directory.path() / "run.octavo", mesh);
  const std::uint64_t then = digest(mesh);
  run(mesh, 10, 20);
  const std::uint64_t uninterrupted = digest(mesh);
  for (int ranks = 1; ranks <= ranks::size_of(everyone()); ++ranks) {
    SCOPED_TRACE(ranks);
    const ranks::OwnComm comm = ranks::split(everyone(), rank() < ranks ? 0 : 1, rank());
    if (rank() < ranks) {
      Mesh again = read(comm.get(), directory.path() / "run.octavo", settings);
      EXPECT_EQ(digest(again), then);
      run(again, 10, 20);
      EXPECT_EQ(digest(again), uninterrupted);
    }
    MPI_Barrier(everyone());
  }
}

TEST(PatchMeshMpi, a_checkpoint_of_another_mesh_or_without_a_variable_is_refused) {
  const testing::SharedDirectory directory;
  Settings settings = sedov_settings();
  Mesh mesh = start(everyone(), settings);
  write(directory.path() / "run.octavo", mesh);
  settings.roots = {5, 4, 1};
  EXPECT_THROW(read(everyone(), directory.path() / "run.octavo", settings), base::Error);
  settings.roots = {4, 4, 1};
  settings.problem.gas.scalars = 1;
  EXPECT_THROW(read(everyone(), directory.path() / "run.octavo", settings), base::Error);
}

// Mean error of the density of a wave that has been carried half around, where a quarter of the domain is finer.
double error_of_wave(std::int32_t roots) {
  Settings settings;
  settings.problem = euler::wave(2);
  settings.roots = {roots, roots, 1};
  settings.max_level = 1;
  settings.block = 4;
  settings.max_box = 32;
  Mesh mesh = make_mesh(everyone(), settings);
  fill_ghosts(mesh);
  regrid(mesh, [](const euler::Box& box, std::span<double> out) {
    euler::for_each_cell(box.shape, [&](int i, int j, int k) {
      const euler::Point3 at = centre_of(box, i, j, k);
      out[euler::offset_of(box.shape, i, j, k)] = std::max(std::abs(at[0] - 0.5), std::abs(at[1] - 0.5)) < 0.2 ? 1 : 0;
    });
  });
  EXPECT_EQ(num_levels(mesh), 2);
  set_initial(mesh, settings.problem);
  double time = 0;
  while (time < 0.5) {
    const double dt = std::min(step_of(mesh), 0.5 - time);
    advance(mesh, dt);
    time += dt;
  }
  double sum = 0;
  for_each_leaf_cell(mesh, [&](const euler::Box& box, std::size_t at, int i, int j, int k) {
    sum += cell_volume(box) * std::abs(box.state[at] - euler::wave_density(2, centre_of(box, i, j, k), time));
  });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, everyone());
  return sum;
}

TEST(PatchMeshMpi, a_smooth_wave_is_second_order_across_levels) {
  const double coarse = error_of_wave(8), fine = error_of_wave(16);
  EXPECT_LT(fine, 0.002);
  EXPECT_GT(coarse / fine, 3.2);
}

}  // namespace
}  // namespace octavo::patches
