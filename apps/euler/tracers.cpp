#include "apps/euler/tracers.hpp"

#include <algorithm>
#include <cmath>

namespace octavo::euler {

Tracers lattice(int dim, const Point3& lo, const Point3& hi, int edge) {
  Tracers tracers;
  const std::array<int, 3> count{edge, dim > 1 ? edge : 1, dim > 2 ? edge : 1};
  for (int k = 0; k < count[2]; ++k)
    for (int j = 0; j < count[1]; ++j)
      for (int i = 0; i < count[0]; ++i) {
        const std::array<int, 3> at{i, j, k};
        Point3 position{0, 0, 0};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
          position[axis] = lo[axis] + (at[axis] + 0.5) * (hi[axis] - lo[axis]) / count[axis];
        tracers.id.push_back(1 + i + static_cast<std::int64_t>(count[0]) * (j + count[1] * k));
        tracers.position.push_back(position);
      }
  return tracers;
}

Point3 velocity_at(const Gas& gas, const Box& box, const Point3& at) {
  const Shape& shape = box.shape;
  const std::size_t size = padded_size(shape);
  std::array<int, 3> low{0, 0, 0};
  Point3 part{0, 0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis) {
    const double place = (at[axis] - box.lo[axis]) / box.width[axis] - 0.5;
    low[axis] = std::clamp(static_cast<int>(std::floor(place)), -ghosts, shape.cells[axis]);
    part[axis] = place - low[axis];
  }
  Point3 velocity{0, 0, 0};
  for (int corner = 0; corner < 1 << gas.dim; ++corner) {
    const int x = corner & 1, y = (corner >> 1) & 1, z = (corner >> 2) & 1;
    const double weight = (x ? part[0] : 1 - part[0]) * (gas.dim > 1 ? (y ? part[1] : 1 - part[1]) : 1.0) *
                          (gas.dim > 2 ? (z ? part[2] : 1 - part[2]) : 1.0);
    const std::size_t cell = offset_of(shape, low[0] + x, low[1] + y, low[2] + z);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis)
      velocity[axis] += weight * box.state[(1 + axis) * size + cell] / box.state[cell];
  }
  return velocity;
}

Point3 carried(const Gas& gas, const Box& box, const Point3& at, double dt) {
  const Point3 first = velocity_at(gas, box, at);
  Point3 middle = at, last = at;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis) middle[axis] += 0.5 * dt * first[axis];
  const Point3 half = velocity_at(gas, box, middle);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis) last[axis] += dt * half[axis];
  return last;
}

}  // namespace octavo::euler
