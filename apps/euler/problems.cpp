#include "apps/euler/problems.hpp"

#include <cmath>
#include <numbers>

#include "apps/euler/riemann.hpp"

namespace octavo::euler {

void set_initial(const Problem& problem, Box& box) {
  const Gas& gas = problem.gas;
  const std::size_t size = padded_size(box.shape);
  const auto variables = static_cast<std::size_t>(num_variables(gas));
  const int n = problem.samples;
  const std::array<int, 3> count{n, gas.dim > 1 ? n : 1, gas.dim > 2 ? n : 1};
  const double weight = 1.0 / (count[0] * count[1] * count[2]);
  std::vector<double> sum(variables), one(variables);
  for_each_cell(box.shape, [&](int i, int j, int k) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int c = 0; c < count[2]; ++c)
      for (int b = 0; b < count[1]; ++b)
        for (int a = 0; a < count[0]; ++a) {
          const Point3 at{box.lo[0] + (i + (a + 0.5) / count[0]) * box.width[0],
                          box.lo[1] + (j + (b + 0.5) / count[1]) * box.width[1],
                          box.lo[2] + (k + (c + 0.5) / count[2]) * box.width[2]};
          to_conserved(gas, problem.initial(at), one.data());
          for (std::size_t v = 0; v < variables; ++v) sum[v] += one[v];
        }
    for (std::size_t v = 0; v < variables; ++v) box.state[v * size + offset_of(box.shape, i, j, k)] = weight * sum[v];
  });
}

Problem sedov(int dim, double radius, double energy, double gamma) {
  Problem problem;
  problem.name = "sedov";
  problem.gas = {dim, 0, gamma};
  problem.samples = 8;
  const double volume = dim == 1   ? 2 * radius
                        : dim == 2 ? std::numbers::pi * radius * radius
                                   : 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  problem.initial = [=](const Point3& at) {
    double distance2 = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      distance2 += (at[axis] - 0.5) * (at[axis] - 0.5);
    Primitive state;
    state.pressure = distance2 < radius * radius ? (gamma - 1) * energy / volume : 1e-5;
    return state;
  };
  return problem;
}

double sedov_radius(int dim, double time, double energy, double density) {
  const double alpha = dim == 2 ? 0.984 : 0.851;
  return std::pow(energy * time * time / (alpha * density), 1.0 / (dim + 2));
}

Problem sod(int dim, double edge) {
  Problem problem;
  problem.name = "sod";
  problem.gas = {dim, 1, 1.4};
  problem.hi = {1, dim > 1 ? edge : 1, dim > 2 ? edge : 1};
  problem.boundary = {Boundary::outflow, Boundary::periodic, Boundary::periodic};
  problem.initial = [](const Point3& at) {
    const bool left = at[0] < 0.5;
    const Gas1D side = left ? sod_left : sod_right;
    return Primitive{side.density, {side.velocity, 0, 0}, side.pressure, {left ? 1.0 : 0.0}};
  };
  return problem;
}

double wave_density(int dim, const Point3& at, double time) {
  double phase = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) phase += at[axis] - time;
  return 1 + 0.2 * std::sin(2 * std::numbers::pi * phase);
}

Problem wave(int dim) {
  Problem problem;
  problem.name = "wave";
  problem.gas = {dim, 0, 1.4};
  problem.boundary = {Boundary::periodic, Boundary::periodic, Boundary::periodic};
  problem.samples = 4;
  problem.initial = [dim](const Point3& at) {
    return Primitive{wave_density(dim, at, 0), {1, dim > 1 ? 1.0 : 0.0, dim > 2 ? 1.0 : 0.0}, 1, {}};
  };
  return problem;
}

}  // namespace octavo::euler
