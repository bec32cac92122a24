#include "octavo/analysis/orientation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <variant>

#include "octavo/analysis/frame.hpp"
#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;
using mesh::Point3;

/// A component that is nothing but a rounding error of a unit vector.
constexpr double no_component = 1e-15;

Point3 cross(const Point3& a, const Point3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

std::string vector_text(const Point3& v) {
  char text[96];
  std::snprintf(text, sizeof text, "%.4g,%.4g,%.4g", v[0], v[1], v[2]);
  return text;
}

/// The unit vector; nothing where there is none.
std::optional<Point3> unit_vector(Point3 v) {
  const double largest = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])});
  if (!(largest > 0) || !std::isfinite(largest)) return {};
  // First by the largest component: else the square of a large vector is infinite, and that of a small one 0.
  for (double& c : v) c /= largest;
  const auto normalise = [](Point3& w) {
    const double length = std::sqrt(dot(w, w));
    for (double& c : w) c /= length;
  };
  normalise(v);
  for (double& c : v)
    if (std::abs(c) < no_component) c = 0;
  normalise(v);
  return v;
}

Point3 checked_unit(const char* what, const Point3& v) {
  for (double c : v)
    if (!std::isfinite(c)) throw Error(Kind::usage, std::string(what) + ": a component is not finite");
  if (const auto unit = unit_vector(v)) return *unit;
  throw Error(Kind::usage, std::string(what) + " " + vector_text(v) + " has no length");
}

/// A share of the box length: far less than a cell, far more than rounding errors.
constexpr double thin = 1e-12;

bool along_one_axis(const Point3& v) { return std::count(v.begin(), v.end(), 0.0) == 2; }

// ------------------------------------------------------------------ windows

void take_in_point(AnyView& view, const Point3& x) {
  const std::array<double, 2> at{dot(view.axes.right, x), dot(view.axes.up, x)};
  for (std::size_t i = 0; i < 2; ++i) {
    view.lo[i] = std::min(view.lo[i], at[i]);
    view.hi[i] = std::max(view.hi[i], at[i]);
  }
  const double depth = dot(view.axes.towards, x);
  view.depth_lo = std::min(view.depth_lo, depth);
  view.depth_hi = std::max(view.depth_hi, depth);
}

Point3 corner_of_box(const Point3& lo, const Point3& hi, unsigned corner) {
  return {(corner & 1) != 0 ? hi[0] : lo[0], (corner & 2) != 0 ? hi[1] : lo[1], (corner & 4) != 0 ? hi[2] : lo[2]};
}

/// The view with its clip and region, and no window yet.
AnyView clipped_view(const mesh::Header& header, const Orientation& axes, const std::optional<mesh::Region>& region,
                     std::size_t pixels, RegionEdge edge) {
  AnyView view;
  view.axes = axes;
  for (int axis = 0; axis < 2; ++axis) {  // errors and ranges are those of a map along an axis
    const Frame frame = make_frame(header, axis, Projection::integral, region, pixels, edge);
    const auto other = static_cast<std::size_t>(frame.image_axis[1]), a = static_cast<std::size_t>(axis);
    view.clip_lo[a] = frame.depth_lo;
    view.clip_hi[a] = frame.depth_hi;
    view.clip_lo[other] = frame.lo[1];
    view.clip_hi[other] = frame.hi[1];
    view.within = frame.within;
  }
  constexpr double far = 1e300;
  view.lo = {far, far};
  view.hi = {-far, -far};
  view.depth_lo = far;
  view.depth_hi = -far;
  return view;
}

void set_pixels(AnyView& view, std::size_t pixels) {
  const double longest = std::max(view.hi[0] - view.lo[0], view.hi[1] - view.lo[1]);
  for (std::size_t i = 0; i < 2; ++i) {
    const double wanted = static_cast<double>(pixels) * (view.hi[i] - view.lo[i]) / longest;
    view.pixels[i] = std::max(std::size_t{1}, static_cast<std::size_t>(std::llround(wanted)));
  }
}

/// Calls visit(from, to) for the 12 edges of the box.
template <class Visit>
void for_each_edge(const Point3& lo, const Point3& hi, Visit&& visit) {
  for (unsigned corner = 0; corner < 8; ++corner)
    for (unsigned bit = 1; bit < 8; bit <<= 1)
      if ((corner & bit) == 0) visit(corner_of_box(lo, hi, corner), corner_of_box(lo, hi, corner | bit));
}

/// Takes in the corners of the polygon in which the plane cuts the box.
void take_in_cut(AnyView& view, double depth) {
  for_each_edge(view.clip_lo, view.clip_hi, [&](const Point3& from, const Point3& to) {
    const double a = dot(view.axes.towards, from) - depth, b = dot(view.axes.towards, to) - depth;
    if ((a < 0 && b < 0) || (a > 0 && b > 0)) return;
    const double share = a == b ? 0 : a / (a - b);
    Point3 x{};
    for (std::size_t axis = 0; axis < 3; ++axis) x[axis] = from[axis] + share * (to[axis] - from[axis]);
    take_in_point(view, x);
    if (a == b) take_in_point(view, to);
  });
}

}  // namespace

double dot(const Point3& a, const Point3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Orientation make_orientation(const Point3& towards, const std::optional<Point3>& up) {
  Orientation axes;
  axes.towards = checked_unit("the direction", towards);
  const bool along_z = std::hypot(axes.towards[0], axes.towards[1]) < 1e-9;
  const Point3 wanted = up ? checked_unit("the direction up", *up) : along_z ? Point3{0, 1, 0} : Point3{0, 0, 1};
  const Point3 right = cross(wanted, axes.towards);
  const auto unit = unit_vector(right);
  if (!unit || dot(right, right) < 1e-18)
    throw Error(Kind::usage,
                "the direction up " + vector_text(wanted) + " is along the line of sight " + vector_text(towards));
  axes.right = *unit;
  axes.up = *unit_vector(cross(axes.towards, axes.right));
  return axes;
}

Orientation along_axis(int axis) {
  if (axis == 2) return make_orientation({0, 0, 1});
  return axis == 0 ? make_orientation({1, 0, 0}) : make_orientation({0, -1, 0});
}

std::string name_of(const Point3& direction) {
  if (along_one_axis(direction))
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (direction[axis] != 0) return std::string(direction[axis] < 0 ? "-" : "") + "xyz"[axis];
  char text[96];
  const auto shown = [](double c) { return std::abs(c) < 5e-4 ? 0.0 : c; };  // never "-0"
  std::snprintf(text, sizeof text, "(%.3g, %.3g, %.3g)", shown(direction[0]), shown(direction[1]), shown(direction[2]));
  return text;
}

AnyView view_of_region(const mesh::Header& header, const Orientation& axes, const std::optional<mesh::Region>& region,
                       std::size_t pixels, RegionEdge edge) {
  AnyView view = clipped_view(header, axes, region, pixels, edge);
  for (unsigned corner = 0; corner < 8; ++corner)
    take_in_point(view, corner_of_box(view.clip_lo, view.clip_hi, corner));
  if (const auto* sphere = region ? std::get_if<mesh::Sphere>(&*region) : nullptr) {
    const double unit = header.hi[0] - header.lo[0], radius = sphere->radius * unit;
    Point3 centre{};
    for (std::size_t a = 0; a < 3; ++a) centre[a] = header.lo[a] + sphere->centre[a] * unit;
    view.lo = {dot(axes.right, centre) - radius, dot(axes.up, centre) - radius};
    view.hi = {dot(axes.right, centre) + radius, dot(axes.up, centre) + radius};
  }
  set_pixels(view, pixels);
  return view;
}

AnyView view_of_plane(const mesh::Header& header, const Orientation& axes, const Point3& at,
                      const std::optional<mesh::Region>& region, std::size_t pixels) {
  AnyView view = clipped_view(header, axes, region, pixels, RegionEdge::usual);
  const double depth = dot(axes.towards, at);
  take_in_cut(view, depth);
  view.depth_lo = view.depth_hi = depth;
  if (!(view.lo[0] < view.hi[0] && view.lo[1] < view.hi[1]))
    throw Error(Kind::usage, "the plane across " + name_of(axes.towards) + " through " + vector_text(at) +
                                 " [code length] does not meet the " + (region ? "region" : "domain"));
  set_pixels(view, pixels);
  return view;
}

double on_side_if_near(double place, double cells) {
  constexpr int fine = 20;  // levels, far above rounding errors
  const double side = std::ldexp(std::round(std::ldexp(place, fine)), -fine);
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * (std::abs(place) + cells);
  return std::abs(place - side) <= rounding ? side : place;
}

std::array<double, 2> stretch_at(const mesh::Header& header, std::size_t axis, double at) {
  const double unit = header.hi[0] - header.lo[0];
  const double cells = static_cast<double>(header.roots[axis] * header.block[axis]);
  const double side = on_side_if_near((at - header.lo[axis]) / mesh::cell_size(header, 0)[axis], cells);
  // A plane on a side of cells shows the upper ones, so the stretch begins behind the side: no lower cell is read.
  const double place = std::ldexp(side, 20);
  const bool on_side = place == std::floor(place) && side < cells;
  const double fraction = (at - header.lo[axis]) / unit;
  return {on_side ? fraction + thin : fraction - thin, fraction + 2 * thin};
}

std::vector<mesh::Box> boxes_of_plane(const mesh::Header& header, const AnyView& view, int fineness) {
  const double unit = header.hi[0] - header.lo[0];
  const auto in_region_units = [&](Point3 lo, Point3 hi) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lo[axis] = (lo[axis] - header.lo[axis]) / unit;
      hi[axis] = (hi[axis] - header.lo[axis]) / unit;
    }
    return mesh::Box{lo, hi};
  };
  const Point3& towards = view.axes.towards;
  if (along_one_axis(towards)) {
    mesh::Box box = in_region_units(view.clip_lo, view.clip_hi);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (towards[axis] == 0) continue;
      const auto stretch = stretch_at(header, axis, view.depth_lo * towards[axis]);
      box.lo[axis] = stretch[0];
      box.hi[axis] = stretch[1];
    }
    return {box};
  }
  const double margin = thin * unit;
  const int pieces = 1 << fineness;
  std::vector<mesh::Box> boxes;
  Point3 step{};
  for (std::size_t axis = 0; axis < 3; ++axis) step[axis] = (view.clip_hi[axis] - view.clip_lo[axis]) / pieces;
  const double reach =
      0.5 * (std::abs(towards[0]) * step[0] + std::abs(towards[1]) * step[1] + std::abs(towards[2]) * step[2]);
  for (int k = 0; k < pieces; ++k)
    for (int j = 0; j < pieces; ++j)
      for (int i = 0; i < pieces; ++i) {
        Point3 lo{}, hi{}, centre{};
        const std::array<int, 3> index{i, j, k};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const double begin = view.clip_lo[axis] + index[axis] * step[axis];
          // The domain's lower side belongs to the first cells: across a periodic side nothing is seen from there.
          lo[axis] = begin < header.lo[axis] ? begin - margin : std::max(begin - margin, header.lo[axis]);
          hi[axis] = begin + step[axis] + margin;
          centre[axis] = 0.5 * (lo[axis] + hi[axis]);
        }
        if (std::abs(dot(towards, centre) - view.depth_lo) <= reach + 2 * margin)
          boxes.push_back(in_region_units(lo, hi));
      }
  return boxes;
}

}  // namespace octavo::analysis
