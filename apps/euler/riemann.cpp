#include "apps/euler/riemann.hpp"

#include <algorithm>
#include <cmath>

namespace octavo::euler {

namespace {

double sound(const Gas1D& side, double gamma) { return std::sqrt(gamma * side.pressure / side.density); }

struct Jump {
  double value, slope;  // change of velocity over the wave, and its derivative
};

// Over the wave between a side and the star region at `pressure`: a shock above the side's pressure, else a
// rarefaction.
Jump jump(const Gas1D& side, double gamma, double pressure) {
  if (pressure > side.pressure) {
    const double a = 2 / ((gamma + 1) * side.density), b = (gamma - 1) / (gamma + 1) * side.pressure;
    const double root = std::sqrt(a / (pressure + b));
    return {(pressure - side.pressure) * root, root * (1 - 0.5 * (pressure - side.pressure) / (pressure + b))};
  }
  const double c = sound(side, gamma), ratio = pressure / side.pressure;
  return {2 * c / (gamma - 1) * (std::pow(ratio, (gamma - 1) / (2 * gamma)) - 1),
          std::pow(ratio, -(gamma + 1) / (2 * gamma)) / (side.density * c)};
}

double star_pressure(const Gas1D& left, const Gas1D& right, double gamma) {
  double pressure = 0.5 * (left.pressure + right.pressure);
  for (int i = 0; i < 100; ++i) {
    const Jump l = jump(left, gamma, pressure), r = jump(right, gamma, pressure);
    const double next = std::max(1e-12 * pressure,
                                 pressure - (l.value + r.value + right.velocity - left.velocity) / (l.slope + r.slope));
    const bool done = std::abs(next - pressure) < 1e-14 * pressure;
    pressure = next;
    if (done) break;
  }
  return pressure;
}

// Left of the contact; a right side is looked at in a mirror.
Gas1D sample(const Gas1D& side, double gamma, double star, double contact, double speed) {
  const double c = sound(side, gamma), ratio = star / side.pressure;
  if (star > side.pressure) {
    const double shock = side.velocity - c * std::sqrt((gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma));
    if (speed < shock) return side;
    const double q = (gamma - 1) / (gamma + 1);
    return {side.density * (ratio + q) / (q * ratio + 1), contact, star};
  }
  const double star_sound = c * std::pow(ratio, (gamma - 1) / (2 * gamma));
  if (speed < side.velocity - c) return side;
  if (speed > contact - star_sound) return {side.density * std::pow(ratio, 1 / gamma), contact, star};
  const double fan = 2 / (gamma + 1) + (gamma - 1) / ((gamma + 1) * c) * (side.velocity - speed);
  return {side.density * std::pow(fan, 2 / (gamma - 1)),
          2 / (gamma + 1) * (c + 0.5 * (gamma - 1) * side.velocity + speed),
          side.pressure * std::pow(fan, 2 * gamma / (gamma - 1))};
}

}  // namespace

Gas1D exact_riemann(const Gas1D& left, const Gas1D& right, double gamma, double speed) {
  const double star = star_pressure(left, right, gamma);
  const double contact =
      0.5 * (left.velocity + right.velocity) + 0.5 * (jump(right, gamma, star).value - jump(left, gamma, star).value);
  if (speed <= contact) return sample(left, gamma, star, contact, speed);
  const Gas1D mirrored = sample({right.density, -right.velocity, right.pressure}, gamma, star, -contact, -speed);
  return {mirrored.density, -mirrored.velocity, mirrored.pressure};
}

}  // namespace octavo::euler
