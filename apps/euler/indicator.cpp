#include "apps/euler/indicator.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace octavo::euler {

namespace {

double curvature(const double* q, std::size_t stride) {
  const double below = q[-static_cast<std::ptrdiff_t>(stride)], above = q[stride];
  const double noise = 0.02 * (std::abs(above) + 2 * std::abs(*q) + std::abs(below));
  return std::abs(above - 2 * *q + below) / (std::abs(above - *q) + std::abs(*q - below) + noise + 1e-300);
}

std::vector<double> pressures(const Gas& gas, std::size_t size, std::span<const double> state) {
  std::vector<double> out(size);
  for (std::size_t i = 0; i < size; ++i) {
    double kinetic = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis)
      kinetic += 0.5 * state[(1 + axis) * size + i] * state[(1 + axis) * size + i] / state[i];
    out[i] = (gas.gamma - 1) * (state[static_cast<std::size_t>(energy_of(gas)) * size + i] - kinetic);
  }
  return out;
}

}  // namespace

void indicator(const Gas& gas, const Shape& shape, std::span<const double> state, std::span<double> out) {
  const std::size_t size = padded_size(shape);
  std::fill(out.begin(), out.end(), 0.0);
  const std::vector<double> pressure = pressures(gas, size, state);
  const int y = shape.dim > 1 ? 1 : 0, z = shape.dim > 2 ? 1 : 0;
  for (int k = -z; k < shape.cells[2] + z; ++k)
    for (int j = -y; j < shape.cells[1] + y; ++j)
      for (int i = -1; i < shape.cells[0] + 1; ++i) {
        const std::size_t at = offset_of(shape, i, j, k);
        for (int axis = 0; axis < shape.dim; ++axis)
          out[at] = std::max({out[at], curvature(state.data() + at, stride_of(shape, axis)),
                              curvature(pressure.data() + at, stride_of(shape, axis))});
      }
}

}  // namespace octavo::euler
