#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace octavo::partition {

/// The eigenvector of the largest eigenvalue of a symmetric matrix, by rotations of Jacobi. Entries off the diagonal
/// that rounding may have made count as zeros, so that the axes of a cube are its own and not some in between.
inline std::array<double, 3> largest_eigenvector(std::array<std::array<double, 3>, 3> a) {
  std::array<std::array<double, 3>, 3> axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 3> planes{{{0, 1}, {0, 2}, {1, 2}}};
  constexpr int sweeps = 12;  // far more than the precision of doubles needs
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (const auto& [p, q] : planes) {
      if (std::abs(a[p][q]) <= 1e-9 * std::max(std::abs(a[p][p]), std::abs(a[q][q]))) continue;
      const double angle = std::atan2(2 * a[p][q], a[p][p] - a[q][q]) / 2, c = std::cos(angle), s = std::sin(angle);
      for (std::size_t k = 0; k < 3; ++k) {
        const double u = a[k][p], v = a[k][q];
        a[k][p] = c * u + s * v;
        a[k][q] = c * v - s * u;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const double u = a[p][k], v = a[q][k];
        a[p][k] = c * u + s * v;
        a[q][k] = c * v - s * u;
        const double x = axes[p][k], y = axes[q][k];
        axes[p][k] = c * x + s * y;
        axes[q][k] = c * y - s * x;
      }
    }
  std::size_t largest = 0;
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}})
    if (a[k][k] > a[largest][largest]) largest = k;
  return axes[largest];
}

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

/// The same in space (members x, y and z).
template <class Places>
std::array<double, 3> principal_axis_in_space(const Places& some) {
  std::array<double, 3> mean{};
  for (const auto& s : some) mean = {mean[0] + s.x, mean[1] + s.y, mean[2] + s.z};
  for (double& m : mean) m /= static_cast<double>(some.size());
  std::array<std::array<double, 3>, 3> covariance{};
  for (const auto& s : some) {
    const std::array<double, 3> u{s.x - mean[0], s.y - mean[1], s.z - mean[2]};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) covariance[i][j] += u[i] * u[j];
  }
  return largest_eigenvector(covariance);
}

}  // namespace octavo::partition
