#include "apps/shallow/flux.hpp"

#include <algorithm>
#include <cmath>

namespace octavo::shallow {

namespace {

struct Speeds {
  double left = 0, right = 0;
};

/// Fastest waves: of both sides, of the state between two rarefactions, and of a front on a dry bed. Both sides' are
/// always among them, which is what makes the mass flux at most speed times depth.
Speeds wave_speeds(double hl, double ul, double hr, double ur) {
  const double cl = std::sqrt(gravity * hl), cr = std::sqrt(gravity * hr);
  if (hl <= 0) return {ur - 2 * cr, ur + cr};
  if (hr <= 0) return {ul - cl, ul + 2 * cl};
  const double u = 0.5 * (ul + ur) + cl - cr, c = std::max(0.0, 0.5 * (cl + cr) + 0.25 * (ul - ur));
  return {std::min({ul - cl, ur - cr, u - c}), std::max({ul + cl, ur + cr, u + c})};
}

double hll(double fl, double fr, double jump, const Speeds& s) {
  return (s.right * fl - s.left * fr + s.left * s.right * jump) / (s.right - s.left);
}

/// Water, and momentum along the normal without `rest`, through a unit of face.
struct UnitFlux {
  double mass = 0, normal = 0;
};

UnitFlux unit_flux(double hl, double ul, double hr, double ur, const Speeds& s) {
  const double ql = hl * ul, qr = hr * ur;
  const double pl = ql * ul + 0.5 * gravity * hl * hl, pr = qr * ur + 0.5 * gravity * hr * hr;
  if (s.left >= 0) return {ql, pl};
  if (s.right <= 0) return {qr, pr};
  return {hll(ql, qr, hr - hl, s), hll(pl, pr, qr - ql, s)};
}

}  // namespace

FaceFlux flux_between(const Side& left, const Side& right, const Face& face) {
  const double z = std::max(left.z, right.z);
  const double hl = std::max(0.0, left.h + left.z - z), hr = std::max(0.0, right.h + right.z - z);
  if (hl <= 0 && hr <= 0) return {};
  const double nx = face.x, ny = face.y, length = face.length;
  const double ul = left.u * nx + left.v * ny, tl = left.v * nx - left.u * ny;
  const double ur = right.u * nx + right.v * ny, tr = right.v * nx - right.u * ny;
  const Speeds speeds = wave_speeds(hl, ul, hr, ur);
  const UnitFlux flux = unit_flux(hl, ul, hr, ur, speeds);
  // The contact carries the tangential velocity of the side that the water comes from.
  const double mass = flux.mass * length, across = mass * (flux.mass >= 0 ? tl : tr);
  const double along_left = (flux.normal - 0.5 * gravity * hl * hl) * length;
  const double along_right = (flux.normal - 0.5 * gravity * hr * hr) * length;
  return {mass,
          along_left * nx - across * ny,
          along_left * ny + across * nx,
          along_right * nx - across * ny,
          along_right * ny + across * nx,
          std::max(std::abs(speeds.left), std::abs(speeds.right)) * length};
}

FaceFlux flux_at_wall(const Side& side, const Face& face) {
  if (side.h <= 0) return {};
  const double nx = face.x, ny = face.y, length = face.length;
  const double u = side.u * nx + side.v * ny;
  const double speed = std::abs(u) + std::sqrt(gravity * side.h);
  const double push = side.h * u * (u + speed) * length;  // HLL between u and -u, without the pressure at rest
  return {0, push * nx, push * ny, 0, 0, speed * length};
}

double friction_factor(double h, double speed, double strickler, double step) {
  if (strickler <= 0 || h <= 0) return 1;
  return 1 / (1 + step * gravity * speed / (strickler * strickler * h * std::cbrt(h)));
}

}  // namespace octavo::shallow
