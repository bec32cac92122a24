#include <gtest/gtest.h>

#include <cmath>

#include "apps/shallow/test_basins.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::shallow {
namespace {

std::pair<double, Water> flood(double x, double y) {
  const double z = 0.3 * std::sin(x) * std::cos(2 * y) + (x > 8 ? 2 : 0);
  return {z, Water{x < 4 ? std::max(0.0, 1.5 - z) : 0, 0, 0}};
}

/// Runs on all ranks and on this one alone; every rank compares its own points.
void expect_same_bits(const Basin& basin, int order) {
  MPI_Comm comm = testing::everyone();
  Physics physics;
  physics.order = order;
  physics.strickler = 40;
  const WholeMesh mesh = mesh_of(basin, 6);
  Simulation together = basin_run(comm, mesh, physics, flood), alone = basin_run(MPI_COMM_SELF, mesh, physics, flood);
  bool stop = false;
  for (int i = 0; i < 60; ++i) ASSERT_EQ(advance(together, 1e9, stop), advance(alone, 1e9, stop)) << "step " << i;
  EXPECT_EQ(total_volume(together), total_volume(alone));
  for (std::size_t i = 0; i < together.mesh.global.size(); ++i)
    ASSERT_EQ(together.water[i], alone.water[static_cast<std::size_t>(together.mesh.global[i])]) << "point " << i;
}

TEST(SolverMpi, ResultsAreTheSameBitsOnAnyNumberOfRanks) { expect_same_bits({24, 10, 10, 4, 0.3}, 1); }
TEST(SolverMpi, ResultsAreTheSameBitsAtSecondOrder) { expect_same_bits({24, 10, 10, 4, 0.3}, 2); }
TEST(SolverMpi, RanksWithoutTrianglesTakePart) { expect_same_bits({3, 2, 10, 4, 0.1}, 1); }

TEST(SolverMpi, EveryPointHasOneOwnerAndAllItsEdges) {
  MPI_Comm comm = testing::everyone();
  const WholeMesh whole = mesh_of({20, 9, 10, 4, 0.3}, 8);
  Simulation run = basin_run(comm, whole, {}, flood);
  std::vector<int> owners(whole.x.size(), 0), neighbours(whole.x.size(), 0);
  for (std::size_t i = 0; i < run.mesh.area.size(); ++i) ++owners[static_cast<std::size_t>(run.mesh.global[i])];
  const auto see = [&](std::int32_t point) {
    if (point < run.mesh.owned)
      ++neighbours[static_cast<std::size_t>(run.mesh.global[static_cast<std::size_t>(point)])];
  };
  for (const Edge& edge : run.mesh.edges) see(edge.a), see(edge.b);
  const auto all = static_cast<int>(owners.size());
  MPI_Allreduce(MPI_IN_PLACE, owners.data(), all, MPI_INT, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, neighbours.data(), all, MPI_INT, MPI_SUM, comm);
  const Mesh alone = build_mesh(MPI_COMM_SELF, share_of(whole, [](std::size_t) { return true; }));
  for (const Edge& edge : alone.edges)
    --neighbours[static_cast<std::size_t>(edge.a)], --neighbours[static_cast<std::size_t>(edge.b)];
  EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
  EXPECT_EQ(neighbours, std::vector<int>(owners.size(), 0));
}

TEST(SolverMpi, OneRankAskedToStopStopsAll) {
  MPI_Comm comm = testing::everyone();
  Simulation run = basin_run(comm, mesh_of({6, 4, 10, 4, 0}), {}, flood);
  bool stop = ranks::rank_in(comm) == ranks::size_of(comm) - 1;
  advance(run, 1, stop);
  EXPECT_TRUE(stop);
}

}  // namespace
}  // namespace octavo::shallow
