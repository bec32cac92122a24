#include "octavo/analysis/region_on_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <variant>

#include "octavo/analysis/slice.hpp"

namespace octavo::analysis {
namespace {

using mesh::Point3;

constexpr Share nothing{1, 0};

/// The stretch of the line between two coordinates along an axis. Along an axis in which the line does not move, all of
/// it or nothing.
Share share_between(const Line& line, std::size_t axis, double lo, double hi) {
  const double start = line.start[axis], course = line.course[axis];
  if (course == 0) return start >= lo && start < hi ? Share{0, 1} : Share{1, 0};
  const double a = (lo - start) / course, b = (hi - start) / course;
  return course > 0 ? Share{a, b} : Share{b, a};
}

// ------------------------------------------------------------------------------------- one image of one shape

/// The line seen from a point: start and course [code length], and what of it is looked at.
struct SeenLine {
  Point3 start{}, course{};
  double along(const Point3& direction, bool of_course) const {
    const Point3& v = of_course ? course : start;
    return direction[0] * v[0] + direction[1] * v[1] + direction[2] * v[2];
  }
};

SeenLine seen_from(const Line& line, const Point3& point) {
  SeenLine seen;
  for (std::size_t a = 0; a < static_cast<std::size_t>(line.dim); ++a) {
    seen.start[a] = line.from[a] - point[a];
    seen.course[a] = line.to[a] - line.from[a];
  }
  return seen;
}

Share common(const Share& a, const Share& b) { return {std::max(a[0], b[0]), std::min(a[1], b[1])}; }

/// Where square * t^2 + 2 * half * t + rest < 0 between 0 and 1, for square > 0.
Share share_below_zero(double square, double half, double rest) {
  const double middle = -half / square, reach = middle * middle - rest / square;
  if (!(reach > 0)) return nothing;
  return {std::max(0.0, middle - std::sqrt(reach)), std::min(1.0, middle + std::sqrt(reach))};
}

/// Where start + t * course > least.
Share share_above(double start, double course, double least) {
  if (course == 0) return start > least ? Share{0, 1} : nothing;
  const double t = (least - start) / course;
  return course > 0 ? Share{std::max(0.0, t), 1} : Share{0, std::min(1.0, t)};
}

double product(const Point3& a, const Point3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Share share_in_ball(const SeenLine& line, double radius) {
  return share_below_zero(product(line.course, line.course), product(line.start, line.course),
                          product(line.start, line.start) - radius * radius);
}

std::vector<Share> shares_here(const mesh::Sphere& sphere, const SeenLine& line, double unit) {
  return {share_in_ball(line, sphere.radius * unit)};
}

/// The share of a vector across a direction.
Point3 without_share(const Point3& v, const Point3& direction) {
  const double share = product(v, direction);
  return {v[0] - share * direction[0], v[1] - share * direction[1], v[2] - share * direction[2]};
}

std::vector<Share> shares_here(const mesh::Cylinder& cylinder, const SeenLine& line, double unit) {
  const double start = line.along(cylinder.axis, false), course = line.along(cylinder.axis, true);
  const double half = cylinder.height / 2 * unit, radius = cylinder.radius * unit;
  Share share = common(share_above(start, course, -half), share_above(-start, -course, -half));
  const Point3 from = without_share(line.start, cylinder.axis), way = without_share(line.course, cylinder.axis);
  const double square = product(way, way);
  if (square <= 1e-30 * product(line.course, line.course))
    return {product(from, from) < radius * radius ? share : nothing};
  return {common(share, share_below_zero(square, product(from, way), product(from, from) - radius * radius))};
}

/// In a cone of at most 90 degrees to either side of the direction: the line is in it between two places, or from one
/// on. Between them the sign of a quadratic form changes.
Share share_in_cone(const SeenLine& line, const Point3& direction, double cosine) {
  const double start = product(line.start, direction), course = product(line.course, direction);
  const double c2 = cosine * cosine;
  const double square = course * course - c2 * product(line.course, line.course);
  const double half = start * course - c2 * product(line.start, line.course);
  const double rest = start * start - c2 * product(line.start, line.start);
  std::vector<double> places{0, 1};
  const double discriminant = half * half - square * rest;
  const auto take = [&](double t) {
    if (t > 0 && t < 1) places.push_back(t);
  };
  if (square != 0 && discriminant >= 0) {
    // The larger root first, and the other from their product: a difference of near numbers would lose digits.
    const double q = -(half + std::copysign(std::sqrt(discriminant), half));
    take(q / square);
    if (q != 0) take(rest / q);
  } else if (square == 0 && half != 0) {
    take(-rest / (2 * half));
  }
  if (course != 0) take(-start / course);
  std::sort(places.begin(), places.end());
  Share found = nothing;
  for (std::size_t k = 0; k + 1 < places.size(); ++k) {
    const double t = 0.5 * (places[k] + places[k + 1]), along = start + t * course;
    double length = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = line.start[a] + t * line.course[a];
      length += d * d;
    }
    if (along > cosine * std::sqrt(length))
      found = found[0] < found[1] ? Share{found[0], places[k + 1]} : Share{places[k], places[k + 1]};
  }
  return found;
}

/// @pre `taken` ascends.
std::vector<Share> without(const std::vector<Share>& all, const std::vector<Share>& taken);

std::vector<Share> shares_here(const mesh::Sector& sector, const SeenLine& line, double unit) {
  const Share ball = share_in_ball(line, sector.radius * unit);
  const double cosine = std::cos(sector.angle * (std::numbers::pi / 180));
  if (sector.angle <= 90) return {common(ball, share_in_cone(line, sector.direction, std::max(0.0, cosine)))};
  Point3 back = sector.direction;
  for (double& x : back) x = -x;
  const Share hidden = share_in_cone(line, back, -cosine);
  return without({ball}, {hidden});
}

// ------------------------------------------------------------------------------------------------ lists of shares

void merge_shares(std::vector<Share>& shares) {
  std::sort(shares.begin(), shares.end());
  std::vector<Share> merged;
  for (const Share& share : shares)
    if (!merged.empty() && share[0] <= merged.back()[1])
      merged.back()[1] = std::max(merged.back()[1], share[1]);
    else
      merged.push_back(share);
  shares = std::move(merged);
}

std::vector<Share> in_both(const std::vector<Share>& a, const std::vector<Share>& b) {
  std::vector<Share> found;
  for (const Share& first : a)
    for (const Share& second : b)
      if (const Share share = common(first, second); share[0] < share[1]) found.push_back(share);
  return found;
}

std::vector<Share> without(const std::vector<Share>& all, const std::vector<Share>& taken) {
  std::vector<Share> left;
  for (const Share& share : all) {
    double from = share[0];
    for (const Share& gone : taken) {
      if (!(gone[0] < gone[1]) || gone[1] <= from || gone[0] >= share[1]) continue;
      if (from < gone[0]) left.push_back({from, gone[0]});
      from = gone[1];
    }
    if (from < share[1]) left.push_back({from, share[1]});
  }
  return left;
}

// ----------------------------------------------------------------------------------------------- all images of one

struct OnLine {
  const mesh::Header& header;
  const Line& line;
  double unit;  ///< [code length]
  Point3 size;  ///< of a cell of level 0 [code length]

  /// The moves with which what reaches so far to either side of a point can be on the line [code length].
  std::vector<Point3> moves(const Point3& centre, const Point3& reach) const {
    Point3 lo{}, hi{};
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = (centre[a] - reach[a]) * unit / size[a];
      hi[a] = (centre[a] + reach[a]) * unit / size[a];
    }
    std::vector<Point3> all = moves_of_line(line, lo, hi);
    for (Point3& move : all)
      for (std::size_t a = 0; a < 3; ++a) move[a] *= size[a];
    return all;
  }
  Point3 place(const Point3& centre, const Point3& move) const {
    Point3 at{};
    for (std::size_t a = 0; a < 3; ++a) at[a] = header.lo[a] + centre[a] * unit + move[a];
    return at;
  }

  std::vector<Share> shares(const mesh::Box& box) const {
    if (std::isinf(box.hi[0])) return {{0, 1}};
    Point3 lo{}, hi{}, edges{};
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = box.lo[a] * unit / size[a];
      hi[a] = box.hi[a] * unit / size[a];
      edges[a] = hi[a] - lo[a];
    }
    std::vector<Share> found;
    for (const Point3& move : moves_of_line(line, lo, hi))
      found.push_back(share_in_box(line, {lo[0] + move[0], lo[1] + move[1], lo[2] + move[2]}, edges));
    return found;
  }

  template <class Shape>
  std::vector<Share> shares_of_images(const Shape& shape, double reach) const {
    std::vector<Share> found;
    for (const Point3& move : moves(shape.centre, {reach, reach, reach}))
      for (const Share& share : shares_here(shape, seen_from(line, place(shape.centre, move)), unit))
        found.push_back(share);
    return found;
  }
  std::vector<Share> shares(const mesh::Sphere& sphere) const { return shares_of_images(sphere, sphere.radius); }
  std::vector<Share> shares(const mesh::Cylinder& cylinder) const {
    return shares_of_images(cylinder, cylinder.radius + cylinder.height / 2);
  }
  std::vector<Share> shares(const mesh::Sector& sector) const { return shares_of_images(sector, sector.radius); }

  /// Each image of the point has the half-space among the places nearest to it.
  std::vector<Share> shares(const mesh::HalfSpace& half) const {
    Point3 reach{};
    for (std::size_t a = 0; a < 3; ++a) reach[a] = 0.5 * (header.hi[a] - header.lo[a]) / unit;
    std::vector<Share> found;
    for (const Point3& move : moves(half.point, reach)) {
      const SeenLine seen = seen_from(line, place(half.point, move));
      Share share = share_above(seen.along(half.normal, false), seen.along(half.normal, true), 0);
      for (std::size_t a = 0; a < static_cast<std::size_t>(line.dim); ++a) {
        if (!line.periodic[a]) continue;
        const double side = reach[a] * unit;
        share = common(share, common(share_above(seen.start[a], seen.course[a], -side),
                                     share_above(-seen.start[a], -seen.course[a], -side)));
      }
      found.push_back(share);
    }
    return found;
  }

  std::vector<Share> shares(const mesh::Domains& domains) const {
    return domains.takes_away ? std::vector<Share>{} : std::vector<Share>{{0, 1}};
  }

  std::vector<Share> shares(const mesh::Joined& joined) const {
    std::vector<Share> first = all(joined.of[0]), second = all(joined.of[1]);
    if (joined.how == mesh::Join::both) return in_both(first, second);
    if (joined.how == mesh::Join::without) return without(first, second);
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  std::vector<Share> all(const mesh::Region& region) const {
    std::vector<Share> found =
        std::visit([&](const auto& shape) { return shares(shape); }, static_cast<const mesh::Region::variant&>(region));
    std::erase_if(found, [](const Share& share) { return !(share[0] < share[1]); });
    merge_shares(found);
    return found;
  }
};

}  // namespace

std::array<double, 2> range_along(const Line& line, std::size_t axis) {
  const double end = line.start[axis] + line.course[axis];
  return {std::min(line.start[axis], end), std::max(line.start[axis], end)};
}

Share share_in_box(const Line& line, const Point3& lo, const Point3& edges) {
  Share share{0, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(line.dim); ++a) {
    double hi = lo[a] + edges[a];
    if (!line.periodic[a] && line.course[a] == 0 && hi == line.cells[a])
      hi = std::nextafter(hi, std::numeric_limits<double>::infinity());
    const Share along = share_between(line, a, lo[a], hi);
    share = {std::max(share[0], along[0]), std::min(share[1], along[1])};
  }
  return share;
}

std::vector<Point3> moves_of_line(const Line& line, const Point3& lo, const Point3& hi) {
  std::array<std::vector<int>, 3> along;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto range = range_along(line, a);
    const bool moves = a < static_cast<std::size_t>(line.dim) && line.periodic[a];
    along[a] = moves_along(range[0] - hi[a] + line.cells[a], range[1] - lo[a], line.cells[a], moves);
  }
  std::vector<Point3> all;
  for (int k : along[2])
    for (int j : along[1])
      for (int i : along[0]) all.push_back({i * line.cells[0], j * line.cells[1], k * line.cells[2]});
  return all;
}

std::vector<Share> shares_in_region(const mesh::Header& header, const Line& line, const mesh::Region& region) {
  return OnLine{header, line, header.hi[0] - header.lo[0], mesh::cell_size(header, 0)}.all(region);
}

}  // namespace octavo::analysis
