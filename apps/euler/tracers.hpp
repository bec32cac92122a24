#pragma once
#include <cstdint>
#include <vector>

#include "apps/euler/box.hpp"

namespace octavo::euler {

/// Particles that the flow carries and that do nothing to it.
struct Tracers {
  std::vector<std::int64_t> id;  ///< from 1, unique over all ranks
  std::vector<Point3> position;  ///< [code length]; 0 beyond dim
};

/// `edge`^dim tracers at the middle of as many equal parts of the domain [lo, hi].
Tracers lattice(int dim, const Point3& lo, const Point3& hi, int edge);

/// The velocity at a point: linear between the centres of cells. The point may lie half a cell outside of the box.
Point3 velocity_at(const Gas& gas, const Box& box, const Point3& at);
/// Where the flow carries what is at a point of the box in `dt`, half a step first (midpoint rule); needs ghosts filled
/// in, and a dt for which nothing moves by more than a cell.
Point3 carried(const Gas& gas, const Box& box, const Point3& at, double dt);

}  // namespace octavo::euler
