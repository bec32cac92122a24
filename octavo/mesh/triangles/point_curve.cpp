#include "octavo/mesh/triangles/point_curve.hpp"

#include <algorithm>

#include "octavo/mesh/tree/curve.hpp"

namespace octavo::mesh {
namespace {

constexpr int curve_bits = 20;

std::uint32_t cell_of(double x, double lo, double hi) {
  constexpr double cells = 1 << curve_bits;
  const double scaled = hi > lo ? (x - lo) / (hi - lo) * cells : 0;
  return scaled >= 0 && scaled < cells ? static_cast<std::uint32_t>(scaled)
         : scaled >= cells             ? (1u << curve_bits) - 1
                                       : 0;
}

}  // namespace

PlaneBox box_of(std::span<const double> x, std::span<const double> y) {
  PlaneBox box;
  if (x.empty()) return box;
  const auto [x_lo, x_hi] = std::minmax_element(x.begin(), x.end());
  const auto [y_lo, y_hi] = std::minmax_element(y.begin(), y.end());
  return {*x_lo, *x_hi, *y_lo, *y_hi};
}

std::uint64_t point_key(const PlaneBox& box, double x, double y) {
  return curve_key(Curve::hilbert, 2, curve_bits, {cell_of(x, box.x_lo, box.x_hi), cell_of(y, box.y_lo, box.y_hi), 0})
      .low;
}

}  // namespace octavo::mesh
