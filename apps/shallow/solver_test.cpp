#include "apps/shallow/solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/shallow/test_basins.hpp"
#include "octavo/base/error.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::shallow {
namespace {

MPI_Comm self() {
  testing::everyone();
  return MPI_COMM_SELF;
}

/// A bump in the middle and an island that stands out of the water, level 1 m; another one at the wall.
double island_bottom(double x, double y) {
  const auto hill = [&](double cx, double cy, double height, double wide) {
    return height * std::exp(-((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (wide * wide));
  };
  return hill(3, 2, 0.8, 1) + hill(7, 2.5, 1.7, 0.8) + hill(10, 0, 1.4, 1);
}

class ByOrder : public ::testing::TestWithParam<int> {};

TEST_P(ByOrder, StillWaterAroundDryIslandsStaysStill) {
  Physics physics;
  physics.order = GetParam();
  const WholeMesh mesh = mesh_of({40, 16, 10, 4, 0.25}, 3);
  Simulation lake = basin_run(self(), mesh, physics, [](double x, double y) {
    const double z = island_bottom(x, y);
    return std::pair{z, Water{std::max(0.0, 1 - z), 0, 0}};
  });
  const double before = total_volume(lake);
  run_until(lake, 20);
  double fastest = 0, level = 0;
  int dry = 0;
  for (std::size_t i = 0; i < lake.mesh.area.size(); ++i) {
    const Water& w = lake.water[i];
    fastest = std::max({fastest, std::abs(w.qx), std::abs(w.qy)});
    if (w.h > 0) level = std::max(level, std::abs(w.h + lake.bottom[i] - 1));
    dry += w.h == 0;
  }
  EXPECT_GT(lake.step, 100);
  EXPECT_GT(dry, 20);
  EXPECT_LT(fastest, 1e-13);  // levels are sums of two doubles, so the water is still except for the last bits
  EXPECT_LT(level, 1e-13);
  EXPECT_NEAR(total_volume(lake), before, 1e-14 * before);
}

TEST_P(ByOrder, WaterIsConservedAndNeverNegativeOverWettingAndDrying) {
  Physics physics;
  physics.order = GetParam();
  physics.strickler = 30;
  const WholeMesh mesh = mesh_of({40, 16, 10, 4, 0.25}, 5);
  Simulation flood = basin_run(self(), mesh, physics, [](double x, double y) {
    return std::pair{island_bottom(x, y), Water{x < 2 ? 2.0 : 0.0, 0, 0}};
  });
  const double before = total_volume(flood);
  bool stop = false;
  int reached = 0;
  while (flood.time < 8) {
    advance(flood, 8, stop);
    for (const Water& w : flood.water) ASSERT_GE(w.h, 0);
  }
  for (std::size_t i = 0; i < flood.mesh.area.size(); ++i) reached += flood.mesh.x[i] > 9 && flood.water[i].h > 0.01;
  EXPECT_GT(reached, 10);
  EXPECT_NEAR(total_volume(flood), before, 1e-14 * before);
}

INSTANTIATE_TEST_SUITE_P(Solver, ByOrder, ::testing::Values(1, 2));

TEST(Friction, BringsAChannelToStricklersSpeed) {
  // Uniform flow: g S = g u^2 / (K^2 h^(4/3)) has the speed K h^(2/3) S^(1/2). A slope's pull and then friction, step
  // after step, has it at the middle of the pull: half of g S dt above what friction leaves.
  const double h = 2, slope = 1e-3, strickler = 30, step = 0.5;
  double u = 0;
  for (int i = 0; i < 20000; ++i) {
    u += gravity * slope * step;
    u *= friction_factor(h, u, strickler, step);
  }
  EXPECT_NEAR(u + 0.5 * gravity * slope * step, strickler * std::cbrt(h * h) * std::sqrt(slope), 1e-5);
}

TEST(Flux, IsTheSameFromBothSides) {
  const Side left{1.3, 0.4, -0.2, 0.1}, right{0.7, -0.1, 0.3, 0.3};
  const FaceFlux there = flux_between(left, right, {0.6, 0.8, 2});
  const FaceFlux back = flux_between(right, left, {-0.6, -0.8, 2});
  EXPECT_DOUBLE_EQ(there.mass, -back.mass);
  EXPECT_DOUBLE_EQ(there.left_x, -back.right_x);
  EXPECT_DOUBLE_EQ(there.right_y, -back.left_y);
  EXPECT_DOUBLE_EQ(there.speed, back.speed);
}

TEST(Flux, TakesNoMoreThanThereIs) {
  // mass <= speed * depth, for violent states too: the time step relies on it.
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> depth(-9, 2), speed(-30, 30), bottom(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    const Side left{std::pow(10, depth(random)), speed(random), speed(random), bottom(random)};
    const Side right{std::pow(10, depth(random)), speed(random), speed(random), bottom(random)};
    const FaceFlux flux = flux_between(left, right, {1, 0, 1});
    EXPECT_LE(flux.mass, flux.speed * left.h * (1 + 1e-12));
    EXPECT_LE(-flux.mass, flux.speed * right.h * (1 + 1e-12));
  }
}

TEST(Mesh, ControlVolumesCloseAndFillTheBasin) {
  const WholeMesh whole = mesh_of({13, 7, 3, 2, 0.3}, 9);
  const Mesh mesh = build_mesh(self(), share_of(whole, [](std::size_t) { return true; }));
  double area = 0;
  for (const double a : mesh.area) area += a;
  EXPECT_NEAR(area, 6, 1e-13);
  std::vector<double> x(mesh.area.size(), 0), y(mesh.area.size(), 0);
  const auto add = [&](std::int32_t point, const Face& face, double sign) {
    x[static_cast<std::size_t>(point)] += sign * face.x * face.length;
    y[static_cast<std::size_t>(point)] += sign * face.y * face.length;
  };
  for (const Edge& edge : mesh.edges) {
    add(edge.a, edge.face, 1);
    add(edge.b, edge.face, -1);
  }
  for (const Wall& wall : mesh.walls) add(wall.point, wall.face, 1);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(std::hypot(x[i], y[i]), 0, 1e-14);
}

TEST(Mesh, NamesWhatItCannotTake) {
  WholeMesh whole = mesh_of({3, 3, 1, 1, 0});
  const auto error_of = [](const WholeMesh& mesh) -> std::string {
    try {
      build_mesh(self(), share_of(mesh, [](std::size_t) { return true; }));
    } catch (const base::Error& error) {
      return error.message();
    }
    return "none";
  };
  EXPECT_EQ(error_of(whole), "none");
  WholeMesh flat = whole;
  flat.x[1] = flat.x[0], flat.y[1] = flat.y[0];
  EXPECT_NE(error_of(flat).find("has no area"), std::string::npos);
  WholeMesh thrice = whole;
  thrice.x.push_back(0.4), thrice.y.push_back(0.6);
  thrice.triangles.push_back({0, 5, 16});
  EXPECT_NE(error_of(thrice).find("more than two triangles"), std::string::npos);
  WholeMesh alone = whole;
  alone.x.push_back(2), alone.y.push_back(2);
  EXPECT_EQ(error_of(alone), "1 of 17 points are in no triangle");
}

TEST(ExactSum, IsTheSameInAnyOrder) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> exponent(-40, 10);
  std::vector<double> terms;
  for (int i = 0; i < 5000; ++i) terms.push_back((i % 3 == 0 ? -1 : 1) * std::exp2(exponent(random)));
  const double sum = exact_sum(terms, {});
  long double reference = 0;
  for (const double term : terms) reference += static_cast<long double>(term);
  EXPECT_NEAR(sum, static_cast<double>(reference), 1e-12);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(exact_sum(terms, {}), sum);
  }
  EXPECT_EQ(exact_sum({}, {}), 0);
}

}  // namespace
}  // namespace octavo::shallow
