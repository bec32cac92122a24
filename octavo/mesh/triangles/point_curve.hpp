#pragma once
#include <cstdint>
#include <limits>
#include <span>

namespace octavo::mesh {

/// The box of points in a plane [code length]; lo above hi where there are none.
struct PlaneBox {
  static constexpr double far = std::numeric_limits<double>::infinity();
  double x_lo = far, x_hi = -far, y_lo = far, y_hi = -far;
};
PlaneBox box_of(std::span<const double> x, std::span<const double> y);

/// The key (40 bits) of a point's cell on the Hilbert curve of 2^20 cells an axis over the box. Pure arithmetic on the
/// coordinates: the same on every machine.
std::uint64_t point_key(const PlaneBox& box, double x, double y);

}  // namespace octavo::mesh
