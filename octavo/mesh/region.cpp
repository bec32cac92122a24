#include "octavo/mesh/region.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

std::string expected_form(int dim) {
  const std::string point = dim == 1 ? "x" : dim == 2 ? "x,y" : "x,y,z";
  return std::string("\"box:").append(point).append(":").append(point) +
         "\" (lower and upper corner) or \"sphere:" + point +
         ":r\", numbers in fractions of the domain's extent along x, \"center\" for the middle";
}

[[noreturn]] void refuse(std::string_view text, int dim, const std::string& why) {
  throw Error(Kind::usage, "region \"" + std::string(text) + "\": " + why).hint("write " + expected_form(dim));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return parts;
    at = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The context of error messages, besides the piece being read.
struct Reading {
  std::string_view text;
  int dim;
  const Point3& extent;
};

double parse_number(const Reading& reading, std::string_view piece) {
  std::string_view digits = trim(piece);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    refuse(reading.text, reading.dim, "\"" + std::string(piece) + "\" is not a number");
  if (!std::isfinite(value))
    refuse(reading.text, reading.dim, "expected a finite number, found \"" + std::string(piece) + "\"");
  return value;
}

Point3 parse_point(const Reading& reading, std::string_view piece, Point3 point) {
  const std::string_view word = trim(piece);
  if (word == "center" || word == "centre") {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(reading.dim); ++axis)
      point[axis] = reading.extent[axis] / 2;
    return point;
  }
  const auto numbers = split(piece, ',');
  if (numbers.size() != static_cast<std::size_t>(reading.dim))
    refuse(reading.text, reading.dim,
           "expected " + std::to_string(reading.dim) + (reading.dim == 1 ? " coordinate" : " coordinates") + " in \"" +
               std::string(piece) + "\", found " + std::to_string(numbers.size()));
  for (std::size_t axis = 0; axis < numbers.size(); ++axis) point[axis] = parse_number(reading, numbers[axis]);
  return point;
}

Box parse_box(const Reading& reading, std::string_view lo, std::string_view hi) {
  Box box;
  box.lo = parse_point(reading, lo, box.lo);
  box.hi = parse_point(reading, hi, box.hi);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(reading.dim); ++axis)
    if (!(box.lo[axis] < box.hi[axis]))
      refuse(reading.text, reading.dim,
             std::string("the upper corner must be above the lower one along ") + "xyz"[axis]);
  return box;
}

Sphere parse_sphere(const Reading& reading, std::string_view centre, std::string_view radius) {
  Sphere sphere;
  sphere.centre = parse_point(reading, centre, sphere.centre);
  sphere.radius = parse_number(reading, radius);
  if (!(sphere.radius > 0)) refuse(reading.text, reading.dim, "the radius must be positive");
  return sphere;
}

std::string to_string(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string to_string(const Point3& point, int dim) {
  std::string text = to_string(point[0]);
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(dim); ++axis)
    text.append(",").append(to_string(point[axis]));
  return text;
}

// Whether [lo, hi) + k * period, for any whole k, satisfies `meets(lo, hi)`. k runs around (from - hi) / period: a
// box narrower than the period has at most three images near a cell that is no wider either.
template <class Meets>
bool any_image(double lo, double hi, double period, double from, Meets&& meets) {
  if (meets(lo, hi)) return true;
  const double first = std::floor((from - hi) / period);
  for (int i = 0; i < 4; ++i) {
    const double shift = (first + i) * period;
    if (meets(lo + shift, hi + shift)) return true;
  }
  return false;
}

// The distance from the interval [lo, hi] to the nearest image of `centre`. The next images are tried too, so that a
// cell and a point in it see the same ones however their middles are rounded.
double gap(double lo, double hi, double centre, bool periodic, double period) {
  const auto plain = [&](double c) { return std::max({lo - c, c - hi, 0.0}); };
  if (!periodic) return plain(centre);
  const double nearest = std::round((0.5 * (lo + hi) - centre) / period);
  double best = plain(centre + nearest * period);
  for (double k : {nearest - 1, nearest + 1}) best = std::min(best, plain(centre + k * period));
  return best;
}

// Along one axis. A box as wide as the period is all of it: at its seam, images need not join to the last bit.
bool meets_cell(const Box& box, const Domain& domain, std::size_t axis, double lo, double hi) {
  const double from = box.lo[axis], to = box.hi[axis];
  const auto meets = [&](double a, double b) { return a < hi && lo < b; };
  if (!domain.periodic[axis]) return meets(from, to);
  if (to - from >= domain.extent[axis]) return true;
  return any_image(from, to, domain.extent[axis], lo, meets);
}

bool meets_point(const Box& box, const Domain& domain, std::size_t axis, double x) {
  const double from = box.lo[axis], to = box.hi[axis];
  const auto meets = [&](double a, double b) { return a <= x && x < b; };
  if (!domain.periodic[axis]) return meets(from, to);
  if (to - from >= domain.extent[axis]) return true;
  return any_image(from, to, domain.extent[axis], x, meets);
}

bool meets_cell(const Sphere& sphere, const Domain& domain, const Point3& lo, const Point3& hi) {
  double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(domain.dim); ++axis) {
    const double d = gap(lo[axis], hi[axis], sphere.centre[axis], domain.periodic[axis], domain.extent[axis]);
    square += d * d;
  }
  return square < sphere.radius * sphere.radius;
}

}  // namespace

Region parse_region(std::string_view text, int dim, const Point3& extent) {
  const Reading reading{text, dim, extent};
  const auto parts = split(text, ':');
  const std::string_view kind = trim(parts[0]);
  if (kind != "box" && kind != "sphere") refuse(text, dim, "expected it to begin with \"box:\" or \"sphere:\"");
  if (parts.size() != 3)
    refuse(text, dim, "expected three pieces between colons, found " + std::to_string(parts.size()));
  if (kind == "box") return parse_box(reading, parts[1], parts[2]);
  return parse_sphere(reading, parts[1], parts[2]);
}

std::string to_string(const Region& region, int dim) {
  if (const auto* box = std::get_if<Box>(&region))
    return std::string("box:").append(to_string(box->lo, dim)).append(":").append(to_string(box->hi, dim));
  const auto& sphere = std::get<Sphere>(region);
  return std::string("sphere:").append(to_string(sphere.centre, dim)).append(":").append(to_string(sphere.radius));
}

bool contains(const Region& region, const Domain& domain, const Point3& point) {
  if (const auto* sphere = std::get_if<Sphere>(&region)) return meets_cell(*sphere, domain, point, point);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(domain.dim); ++axis)
    if (!meets_point(std::get<Box>(region), domain, axis, point[axis])) return false;
  return true;
}

bool touches(const Region& region, const Domain& domain, const Point3& lo, const Point3& hi) {
  if (const auto* sphere = std::get_if<Sphere>(&region)) return meets_cell(*sphere, domain, lo, hi);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(domain.dim); ++axis)
    if (!meets_cell(std::get<Box>(region), domain, axis, lo[axis], hi[axis])) return false;
  return true;
}

}  // namespace octavo::mesh
