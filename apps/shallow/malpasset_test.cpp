#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "apps/shallow/input.hpp"
#include "apps/shallow/solver.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::shallow {
namespace {

std::filesystem::path mesh_file() {
  const char* given = std::getenv("OCTAVO_DATA");
  const std::filesystem::path data = given != nullptr
                                         ? std::filesystem::path(given)
                                         : std::filesystem::path(__FILE__).parent_path() / "../../../shared/data";
  return data / "serafin" / "geo_malpasset-small.slf";
}

TEST(Malpasset, TheWaveComesDownTheValleyAndNoWaterIsLost) {
  if (!std::filesystem::exists(mesh_file())) GTEST_SKIP() << mesh_file() << " is not there";
  MPI_Comm comm = (testing::everyone(), MPI_COMM_SELF);
  const Input input = read_whole(comm, mesh_file(), partition::CutMethod::hilbert, {});
  Physics physics;
  physics.strickler = 30;
  Simulation run = start(comm, physics, build_mesh(comm, input.share), input.start.bottom, input.start.water);
  const double before = total_volume(run);
  EXPECT_NEAR(before, 96754878, 1);
  bool stop = false;
  while (run.time < 20) advance(run, 20, stop);
  EXPECT_NEAR(total_volume(run), before, 1e-14 * before);
  double front = 0, sea = 0;
  for (std::size_t i = 0; i < run.mesh.area.size(); ++i) {
    const Water& w = run.water[i];
    ASSERT_GE(w.h, 0);
    if (run.mesh.x[i] > 14000)
      sea = std::max({sea, std::abs(w.qx), std::abs(w.qy)});
    else if (w.h > 0.1)
      front = std::max(front, run.mesh.x[i]);
  }
  EXPECT_LT(sea, 1e-12);  // [m2/s] the wave has not arrived, and still water stays still
  // The dam is at x = 4700 m; a wave on a dry bed moves at 2 sqrt(g 40 m) = 40 m/s and less than Ritter's 46 m/s.
  EXPECT_GT(front, 4700 + 20 * 10);
  EXPECT_LT(front, 4750 + 20 * 46);
}

}  // namespace
}  // namespace octavo::shallow
