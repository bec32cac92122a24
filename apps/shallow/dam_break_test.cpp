#include <gtest/gtest.h>

#include <cmath>

#include "apps/shallow/test_basins.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::shallow {
namespace {

struct Depth {
  double h = 0, u = 0;
};

/// A dam at x = 0 on a flat bed without friction, `h0` behind it and nothing before it: Ritter 1892.
Depth ritter(double h0, double x, double t) {
  const double c = std::sqrt(gravity * h0), s = x / t;
  if (s <= -c) return {h0, 0};
  if (s >= 2 * c) return {0, 0};
  return {(2 * c - s) * (2 * c - s) / (9 * gravity), 2.0 / 3.0 * (s + c)};
}

/// The same with `h1` before it: Stoker 1957. A rarefaction, a plateau and a bore; its depth by bisection.
Depth stoker(double h0, double h1, double x, double t) {
  const double c0 = std::sqrt(gravity * h0);
  const auto excess = [&](double h) {  // velocity behind the bore less that at the foot of the rarefaction
    return (h - h1) * std::sqrt(0.5 * gravity * (h + h1) / (h * h1)) - 2 * (c0 - std::sqrt(gravity * h));
  };
  double low = h1, high = h0;
  for (int i = 0; i < 100; ++i) (excess(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
  const double hm = low, um = 2 * (c0 - std::sqrt(gravity * hm)), bore = hm * um / (hm - h1), s = x / t;
  if (s >= bore) return {h1, 0};
  if (s >= um - std::sqrt(gravity * hm)) return {hm, um};
  if (s <= -c0) return {h0, 0};
  return {(2 * c0 - s) * (2 * c0 - s) / (9 * gravity), 2.0 / 3.0 * (s + c0)};
}

/// Mean error of depth [m] of a dam break at x = 50 m in a channel of 100 m after 2.5 s, `cells` squares long.
double error_of(int cells, int order, double before, const std::function<Depth(double x, double t)>& exact) {
  testing::everyone();
  Physics physics;
  physics.order = order;
  const WholeMesh mesh = mesh_of({cells, 4, 100, 400.0 / cells, 0});
  Simulation run = basin_run(MPI_COMM_SELF, mesh, physics, [&](double x, double) {
    return std::pair{0.0, Water{x < 50 ? 4 : before, 0, 0}};
  });
  run_until(run, 2.5);
  double error = 0, area = 0;
  for (std::size_t i = 0; i < run.mesh.area.size(); ++i) {
    error += run.mesh.area[i] * std::abs(run.water[i].h - exact(run.mesh.x[i] - 50, 2.5).h);
    area += run.mesh.area[i];
  }
  return error / area;
}

void expect_convergence(int order, double before, const std::function<Depth(double x, double t)>& exact, double rate,
                        double last) {
  const double coarse = error_of(50, order, before, exact), middle = error_of(100, order, before, exact);
  const double fine = error_of(200, order, before, exact);
  EXPECT_GT(std::log2(coarse / middle), rate);
  EXPECT_GT(std::log2(middle / fine), rate);
  EXPECT_LT(fine, last);
}

const auto dry_bed = [](double x, double t) { return ritter(4, x, t); };
const auto wet_bed = [](double x, double t) { return stoker(4, 1, x, t); };

// Bars are a fifth above the reached values: see docs/shallow.md.
TEST(DamBreak, OnADryBedConvergesToRitter) { expect_convergence(1, 0, dry_bed, 0.55, 0.03); }
TEST(DamBreak, OnADryBedConvergesToRitterAtSecondOrder) { expect_convergence(2, 0, dry_bed, 0.9, 0.012); }
TEST(DamBreak, OnAWetBedConvergesToStoker) { expect_convergence(1, 1, wet_bed, 0.6, 0.04); }
TEST(DamBreak, OnAWetBedConvergesToStokerAtSecondOrder) { expect_convergence(2, 1, wet_bed, 0.8, 0.01); }

}  // namespace
}  // namespace octavo::shallow
