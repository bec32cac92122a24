#include "octavo/mesh/triangles/point_slopes.hpp"

#include <array>
#include <cmath>

namespace octavo::mesh {

std::vector<double> point_slopes(const Unstructured& mesh, std::span<const double> values, std::size_t axis) {
  std::vector<double> rise(mesh.x.size(), 0.0), area(mesh.x.size(), 0.0);  // both twice, of all triangles around
  for (std::size_t t = 0; t + 2 < mesh.connectivity.size(); t += 3) {
    std::array<std::size_t, 3> p{};
    for (std::size_t k = 0; k < 3; ++k) p[k] = static_cast<std::size_t>(mesh.connectivity[t + k]);
    const double ax = mesh.x[p[1]] - mesh.x[p[0]], ay = mesh.y[p[1]] - mesh.y[p[0]];
    const double bx = mesh.x[p[2]] - mesh.x[p[0]], by = mesh.y[p[2]] - mesh.y[p[0]];
    const double a = values[p[1]] - values[p[0]], b = values[p[2]] - values[p[0]];
    const double turn = ax * by - bx * ay;
    const double step = std::copysign(1.0, turn) * (axis == 0 ? a * by - b * ay : ax * b - bx * a);
    for (const std::size_t point : p) {
      rise[point] += step;
      area[point] += std::abs(turn);
    }
  }
  for (std::size_t i = 0; i < rise.size(); ++i) rise[i] /= area[i];
  return rise;
}

}  // namespace octavo::mesh
