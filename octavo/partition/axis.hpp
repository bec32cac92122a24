#pragma once
#include <array>
#include <cmath>

namespace octavo::partition {

/// The direction along which places (with members x and y) vary most: the eigenvector of the larger eigenvalue of their
/// covariance.
template <class Places>
std::array<float, 2> principal_axis(const Places& some) {
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (const auto& s : some) {
    mx += static_cast<double>(s.x);
    my += static_cast<double>(s.y);
  }
  mx /= static_cast<double>(some.size());
  my /= static_cast<double>(some.size());
  for (const auto& s : some) {
    const double u = static_cast<double>(s.x) - mx, v = static_cast<double>(s.y) - my;
    xx += u * u;
    xy += u * v;
    yy += v * v;
  }
  const double angle = std::atan2(2 * xy, xx - yy) / 2;
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

}  // namespace octavo::partition
