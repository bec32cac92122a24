#pragma once

namespace octavo::euler {

struct Gas1D {
  double density, velocity, pressure;
};

constexpr Gas1D sod_left{1.0, 0.0, 1.0};
constexpr Gas1D sod_right{0.125, 0.0, 0.1};

/// The exact solution of the Riemann problem of an ideal gas at x / t = `speed` (Toro, chapter 4); the two sides must
/// not leave a vacuum between them.
Gas1D exact_riemann(const Gas1D& left, const Gas1D& right, double gamma, double speed);

}  // namespace octavo::euler
