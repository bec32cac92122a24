#include "octavo/mesh/region.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

namespace octavo::mesh {
namespace {

// Far above rounding errors of fractions of a domain: where a test of a cell is not exact, it errs towards "some".
constexpr double rounding = 1e-12;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t axes_of(const Domain& domain) { return static_cast<std::size_t>(domain.dim); }

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

// ------------------------------------------------------------------------------------------------ boxes and spheres

// Along one axis. A box as wide as the period is all of it: at its seam, images need not join to the last bit.
template <class Meets>
bool meets_along(const Box& box, const Domain& domain, std::size_t axis, double x, Meets&& meets) {
  const double from = box.lo[axis], to = box.hi[axis];
  if (!domain.periodic[axis]) return meets(from, to);
  if (to - from >= domain.extent[axis]) return true;
  return any_image(from, to, domain.extent[axis], x, meets);
}

bool holds(const Box& box, const Domain& domain, const Point3& point) {
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis) {
    const double x = point[axis];
    if (!meets_along(box, domain, axis, x, [&](double a, double b) { return a <= x && x < b; })) return false;
  }
  return true;
}

Overlap meets_shape(const Box& box, const Domain& domain, const Point3& lo, const Point3& hi) {
  bool all = true;
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis) {
    const double from = lo[axis], to = hi[axis];
    if (!meets_along(box, domain, axis, from, [&](double a, double b) { return a < to && from < b; }))
      return Overlap::none;
    all = all && meets_along(box, domain, axis, from, [&](double a, double b) { return a <= from && to <= b; });
  }
  return all ? Overlap::all : Overlap::some;
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

// The distance from the image of `centre` that is nearest to the interval's middle to the interval's far end.
double reach(double lo, double hi, double centre, bool periodic, double period) {
  const double c = periodic ? centre + std::round((0.5 * (lo + hi) - centre) / period) * period : centre;
  return std::max(std::abs(lo - c), std::abs(hi - c));
}

bool holds(const Sphere& sphere, const Domain& domain, const Point3& point) {
  double square = 0;
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis) {
    const double d = gap(point[axis], point[axis], sphere.centre[axis], domain.periodic[axis], domain.extent[axis]);
    square += d * d;
  }
  return square < sphere.radius * sphere.radius;
}

Overlap meets_shape(const Sphere& sphere, const Domain& domain, const Point3& lo, const Point3& hi) {
  double near = 0, far = 0;
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis) {
    const bool periodic = domain.periodic[axis];
    const double d = gap(lo[axis], hi[axis], sphere.centre[axis], periodic, domain.extent[axis]);
    const double e = reach(lo[axis], hi[axis], sphere.centre[axis], periodic, domain.extent[axis]);
    near += d * d;
    far += e * e;
  }
  const double square = sphere.radius * sphere.radius;
  return !(near < square) ? Overlap::none : far < square ? Overlap::all : Overlap::some;
}

// ------------------------------------------------------------------------------------------ cylinders and sectors

double along(const Point3& direction, const Point3& d, std::size_t dim) {
  double sum = 0;
  for (std::size_t axis = 0; axis < dim; ++axis) sum += direction[axis] * d[axis];
  return sum;
}

Point3 less(const Point3& a, const Point3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// `d` without its share along a direction.
Point3 across(const Point3& direction, const Point3& d, std::size_t dim) {
  const double share = along(direction, d, dim);
  Point3 rest{};
  for (std::size_t axis = 0; axis < dim; ++axis) rest[axis] = d[axis] - share * direction[axis];
  return rest;
}

// The cell seen from a shape's centre. The ends of `along` over its points follow from corners: rounding keeps order.
struct SeenCell {
  Point3 lo, hi;

  double lowest(const Point3& direction, std::size_t dim) const {
    return along(direction, corner(direction, true), dim);
  }
  double highest(const Point3& direction, std::size_t dim) const {
    return along(direction, corner(direction, false), dim);
  }
  Point3 middle() const { return {(lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, (lo[2] + hi[2]) / 2}; }
  template <class Holds>
  bool all_corners(Holds&& holds) const {
    for (unsigned c = 0; c < 8; ++c)
      if (!holds({(c & 1) != 0 ? hi[0] : lo[0], (c & 2) != 0 ? hi[1] : lo[1], (c & 4) != 0 ? hi[2] : lo[2]}))
        return false;
    return true;
  }

 private:
  Point3 corner(const Point3& direction, bool lowest) const {
    Point3 at{};
    for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = (direction[axis] >= 0) == lowest ? lo[axis] : hi[axis];
    return at;
  }
};

/// The direction away from the line along `axis` through the centre, towards `d`; 0 if d is on the line.
Point3 away_from_line(const Point3& axis, const Point3& d, std::size_t dim) {
  Point3 away = across(axis, d, dim);
  const double length = std::sqrt(along(away, away, dim));
  for (double& x : away) x = length > 0 ? x / length : 0;
  return away;
}

bool is_in(const Cylinder& cylinder, std::size_t dim, const Point3& d) {
  const double height = std::abs(along(cylinder.axis, d, dim));
  const Point3 radius = across(cylinder.axis, d, dim);
  return height < cylinder.height / 2 && along(radius, radius, dim) < cylinder.radius * cylinder.radius;
}

/// Half the cylinder's width along an axis of the domain.
double half_width(const Cylinder& cylinder, std::size_t axis) {
  const double a = std::abs(cylinder.axis[axis]);
  if (a == 0 || a == 1) return a == 0 ? cylinder.radius : cylinder.height / 2;
  return cylinder.height / 2 * a + cylinder.radius * std::sqrt(std::max(0.0, 1 - a * a)) + rounding;
}

// The cell is apart from the cylinder if it is so seen along the cylinder's axis, an axis of the domain, or the
// direction from the cylinder's axis to the cell's middle.
Overlap meets_here(const Cylinder& cylinder, std::size_t dim, const SeenCell& cell) {
  const double half = cylinder.height / 2;
  if (cell.lowest(cylinder.axis, dim) >= half || cell.highest(cylinder.axis, dim) <= -half) return Overlap::none;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    const double wide = half_width(cylinder, axis);
    if (cell.lo[axis] >= wide || cell.hi[axis] <= -wide) return Overlap::none;
  }
  const Point3 away = away_from_line(cylinder.axis, cell.middle(), dim);
  if (cell.lowest(away, dim) >= cylinder.radius + rounding) return Overlap::none;
  const Cylinder smaller{{}, cylinder.axis, cylinder.radius - rounding, cylinder.height - rounding};
  const bool all = smaller.radius > 0 && smaller.height > 0 &&
                   cell.all_corners([&](const Point3& d) { return is_in(smaller, dim, d); });
  return all ? Overlap::all : Overlap::some;
}

/// A cone from its apex, of at most 90 degrees to either side.
struct Cone {
  Point3 direction{};
  double sine = 0, cosine = 1;
};

Overlap meets_here(const Cone& cone, std::size_t dim, const SeenCell& cell) {
  if (cell.highest(cone.direction, dim) <= -rounding) return Overlap::none;
  // The plane that touches the cone on the side of the cell's middle.
  const Point3 away = away_from_line(cone.direction, cell.middle(), dim);
  Point3 out{};
  for (std::size_t axis = 0; axis < dim; ++axis)
    out[axis] = cone.cosine * away[axis] - cone.sine * cone.direction[axis];
  if (cell.lowest(out, dim) >= rounding) return Overlap::none;
  const bool all = cell.all_corners([&](const Point3& d) {
    return along(cone.direction, d, dim) > cone.cosine * std::sqrt(along(d, d, dim)) + rounding;
  });
  return all ? Overlap::all : Overlap::some;
}

Overlap inverse(Overlap overlap) {
  return overlap == Overlap::none ? Overlap::all : overlap == Overlap::all ? Overlap::none : Overlap::some;
}

double radians(double degrees) { return degrees * (std::numbers::pi / 180); }

bool is_in(const Sector& sector, std::size_t dim, const Point3& d) {
  const double square = along(d, d, dim);
  return square < sector.radius * sector.radius &&
         along(sector.direction, d, dim) > std::cos(radians(sector.angle)) * std::sqrt(square);
}

Overlap meets_here(const Sector& sector, std::size_t dim, const SeenCell& cell) {
  const Overlap ball = meets_shape(Sphere{{}, sector.radius}, Domain{static_cast<int>(dim), {}, {}}, cell.lo, cell.hi);
  if (ball == Overlap::none) return ball;
  const bool wide = sector.angle > 90;  // then the rest of the sphere is a cone
  const double angle = radians(wide ? 180 - sector.angle : sector.angle);
  Cone cone{sector.direction, std::sin(angle), std::cos(angle)};
  if (wide)
    for (double& x : cone.direction) x = -x;
  const Overlap seen = meets_here(cone, dim, cell);
  return std::min(ball, wide ? inverse(seen) : seen);
}

double reach_of(const Cylinder& cylinder) { return cylinder.radius + cylinder.height / 2; }
double reach_of(const Sector& sector) { return sector.radius; }

// Calls visit(cell) for each place of the cell, moved by whole periods, within reach of a shape's centre: seen from
// there. Ends as soon as visit returns true.
template <class Shape, class Visit>
bool visit_images(const Shape& shape, const Domain& domain, const Point3& lo, const Point3& hi, Visit&& visit) {
  const double far = reach_of(shape) + rounding;
  std::array<std::array<double, 2>, 3> moves{};
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis)
    if (domain.periodic[axis]) {
      moves[axis][0] = std::ceil((shape.centre[axis] - far - hi[axis]) / domain.extent[axis]);
      moves[axis][1] = std::floor((shape.centre[axis] + far - lo[axis]) / domain.extent[axis]);
    }
  for (double k = moves[2][0]; k <= moves[2][1]; ++k)
    for (double j = moves[1][0]; j <= moves[1][1]; ++j)
      for (double i = moves[0][0]; i <= moves[0][1]; ++i) {
        SeenCell cell{lo, hi};
        const Point3 count{i, j, k};
        for (std::size_t axis = 0; axis < axes_of(domain); ++axis) {
          const double move = count[axis] * domain.extent[axis];
          cell.lo[axis] = lo[axis] + move - shape.centre[axis];
          cell.hi[axis] = hi[axis] + move - shape.centre[axis];
        }
        if (visit(cell)) return true;
      }
  return false;
}

template <class Shape>
bool holds(const Shape& shape, const Domain& domain, const Point3& point) {
  return visit_images(shape, domain, point, point,
                      [&](const SeenCell& at) { return is_in(shape, axes_of(domain), at.lo); });
}

template <class Shape>
Overlap meets_shape(const Shape& shape, const Domain& domain, const Point3& lo, const Point3& hi) {
  Overlap best = Overlap::none;
  visit_images(shape, domain, lo, hi, [&](const SeenCell& cell) {
    best = std::max(best, meets_here(shape, axes_of(domain), cell));
    return best == Overlap::all;
  });
  return best;
}

// ----------------------------------------------------------------------------------------------------- half-spaces

double periods_to(double x, double centre, double period) { return std::round((x - centre) / period); }

bool holds(const HalfSpace& half, const Domain& domain, const Point3& point) {
  Point3 d = less(point, half.point);
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis)
    if (domain.periodic[axis])
      d[axis] -= periods_to(point[axis], half.point[axis], domain.extent[axis]) * domain.extent[axis];
  return along(half.normal, d, axes_of(domain)) > 0;
}

// A cell around the place that is farthest from `point` along a periodic axis is nearest to two images: we look at
// its pieces.
Overlap meets_shape(const HalfSpace& half, const Domain& domain, const Point3& lo, const Point3& hi) {
  std::array<std::array<double, 2>, 3> moves{};
  for (std::size_t axis = 0; axis < axes_of(domain); ++axis)
    if (domain.periodic[axis])
      moves[axis] = {periods_to(lo[axis], half.point[axis], domain.extent[axis]),
                     periods_to(hi[axis], half.point[axis], domain.extent[axis])};
  bool any = false, all = true;
  for (double k = moves[2][0]; k <= moves[2][1]; ++k)
    for (double j = moves[1][0]; j <= moves[1][1]; ++j)
      for (double i = moves[0][0]; i <= moves[0][1]; ++i) {
        SeenCell piece{less(lo, half.point), less(hi, half.point)};
        const Point3 count{i, j, k};
        for (std::size_t axis = 0; axis < axes_of(domain); ++axis) {
          if (!domain.periodic[axis]) continue;
          const double move = count[axis] * domain.extent[axis], farthest = domain.extent[axis] / 2 + rounding;
          piece.lo[axis] = std::max(piece.lo[axis] - move, -farthest);
          piece.hi[axis] = std::min(piece.hi[axis] - move, farthest);
        }
        any = any || piece.highest(half.normal, axes_of(domain)) > 0;
        all = all && piece.lowest(half.normal, axes_of(domain)) > 0;
      }
  return !any ? Overlap::none : all ? Overlap::all : Overlap::some;
}

// --------------------------------------------------------------------------------------------------------- domains

bool holds(const Domains& domains, const Domain&, const Point3&) { return !domains.takes_away; }

Overlap meets_shape(const Domains& domains, const Domain&, const Point3&, const Point3&) {
  return domains.takes_away ? Overlap::none : Overlap::all;
}

// ---------------------------------------------------------------------------------------------------------- joined

bool holds(const Joined& joined, const Domain& domain, const Point3& point) {
  const bool first = contains(joined.of[0], domain, point);
  switch (joined.how) {
    case Join::both: return first && contains(joined.of[1], domain, point);
    case Join::either: return first || contains(joined.of[1], domain, point);
    case Join::without: return first && !contains(joined.of[1], domain, point);
  }
  return false;
}

Overlap meets_shape(const Joined& joined, const Domain& domain, const Point3& lo, const Point3& hi) {
  const Overlap first = meets(joined.of[0], domain, lo, hi);
  if (first == (joined.how == Join::either ? Overlap::all : Overlap::none)) return first;
  const Overlap second = meets(joined.of[1], domain, lo, hi);
  switch (joined.how) {
    case Join::both: return std::min(first, second);
    case Join::either: return std::max(first, second);
    case Join::without: return std::min(first, inverse(second));
  }
  return Overlap::some;
}

const Region::variant& shape_of(const Region& region) { return region; }

// --------------------------------------------------------------------------------------------------------- bounds

using Range = std::array<double, 2>;

/// The range that both hold, where images of the second count. If several images meet the first, all of the first.
Range in_both(const Range& a, const Range& b, bool periodic, double period) {
  if (!periodic) return {std::max(a[0], b[0]), std::max({a[0], b[0], std::min(a[1], b[1])})};
  if (!(b[1] - b[0] < period)) return a;
  if (!(a[1] - a[0] < period)) return b;
  Range found{a[0], a[0]};
  int images = 0;
  const double first = std::floor((a[0] - b[1]) / period);
  for (int i = 0; i < 4; ++i) {
    const double move = (first + i) * period;
    const Range both{std::max(a[0], b[0] + move), std::min(a[1], b[1] + move)};
    if (!(both[0] < both[1])) continue;
    found = both;
    ++images;
  }
  return images > 1 ? a : found;
}

Range range_along(const Region& region, const Domain& domain, std::size_t axis);

Range range_of(const Box& box, const Domain&, std::size_t axis) { return {box.lo[axis], box.hi[axis]}; }
Range range_of(const Sphere& sphere, const Domain&, std::size_t axis) {
  return {sphere.centre[axis] - sphere.radius, sphere.centre[axis] + sphere.radius};
}
Range range_of(const Cylinder& cylinder, const Domain&, std::size_t axis) {
  const double wide = half_width(cylinder, axis);
  return {cylinder.centre[axis] - wide, cylinder.centre[axis] + wide};
}
Range range_of(const Sector& sector, const Domain& domain, std::size_t axis) {
  return range_of(Sphere{sector.centre, sector.radius}, domain, axis);
}
Range range_of(const HalfSpace& half, const Domain& domain, std::size_t axis) {
  Range range{-infinity, infinity};
  if (!domain.periodic[axis] && std::abs(half.normal[axis]) == 1)
    range[half.normal[axis] > 0 ? 0 : 1] = half.point[axis];
  return range;
}
Range range_of(const Domains&, const Domain&, std::size_t) { return {-infinity, infinity}; }
Range range_of(const Joined& joined, const Domain& domain, std::size_t axis) {
  const Range first = range_along(joined.of[0], domain, axis);
  if (joined.how == Join::without) return first;
  const Range second = range_along(joined.of[1], domain, axis);
  const double period = domain.extent[axis];
  if (joined.how == Join::both) return in_both(first, second, domain.periodic[axis], period);
  const Range all{std::min(first[0], second[0]), std::max(first[1], second[1])};
  return domain.periodic[axis] && all[1] - all[0] > period ? Range{-infinity, infinity} : all;
}

Range range_along(const Region& region, const Domain& domain, std::size_t axis) {
  return std::visit([&](const auto& shape) { return range_of(shape, domain, axis); }, shape_of(region));
}

Point3 centre_of(const Box& box, const Domain& domain) {
  Point3 middle{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    middle[axis] =
        std::isfinite(box.hi[axis] - box.lo[axis]) ? (box.lo[axis] + box.hi[axis]) / 2 : domain.extent[axis] / 2;
  return middle;
}
Point3 centre_of(const HalfSpace& half, const Domain&) { return half.point; }
Point3 centre_of(const Domains&, const Domain& domain) { return centre(everything(), domain); }
Point3 centre_of(const Joined& joined, const Domain& domain) { return centre(joined.of[0], domain); }
template <class Shape>
Point3 centre_of(const Shape& shape, const Domain&) {
  return shape.centre;
}

/// Joins what is left of two regions.
std::optional<Region> join_rest(Join how, const std::optional<Region>& first, const std::optional<Region>& second) {
  const bool all_of_first = first && *first == everything(), all_of_second = second && *second == everything();
  switch (how) {
    case Join::both:
      if (!first || !second) return {};
      return all_of_second ? first : all_of_first ? second : join(how, *first, *second);
    case Join::either:
      if (!first || !second) return first ? first : second;
      return all_of_first || all_of_second ? everything() : join(how, *first, *second);
    case Join::without:
      if (!first || all_of_second) return {};
      return second ? join(how, *first, *second) : first;
  }
  return {};
}

/// The region with everything for domains of which `is_all` says so, and nothing for others.
std::optional<Region> resolved(const Region& region, const std::function<bool(const Domains&)>& is_all) {
  if (const auto* domains = std::get_if<Domains>(&region))
    return is_all(*domains) ? std::optional(everything()) : std::nullopt;
  const auto* joined = std::get_if<Joined>(&region);
  if (joined == nullptr) return region;
  return join_rest(joined->how, resolved(joined->of[0], is_all), resolved(joined->of[1], is_all));
}

}  // namespace

bool Joined::operator==(const Joined& other) const { return how == other.how && of == other.of; }

Region join(Join how, Region first, Region second) { return Joined{how, {std::move(first), std::move(second)}}; }

Region everything() { return Box{{-infinity, -infinity, -infinity}, {infinity, infinity, infinity}}; }

bool names_domains(const Region& region) {
  const auto* joined = std::get_if<Joined>(&region);
  return joined ? names_domains(joined->of[0]) || names_domains(joined->of[1])
                : std::holds_alternative<Domains>(region);
}

std::optional<Region> in_domain(const Region& region, int part) {
  return resolved(region, [part](const Domains& domains) {
    return std::any_of(domains.ranges.begin(), domains.ranges.end(),
                       [&](const auto& range) { return range[0] <= part + 1 && part + 1 <= range[1]; });
  });
}

std::optional<Region> in_any_domain(const Region& region) {
  return resolved(region, [](const Domains& domains) { return !domains.takes_away; });
}

bool contains(const Region& region, const Domain& domain, const Point3& point) {
  return std::visit([&](const auto& shape) { return holds(shape, domain, point); }, shape_of(region));
}

Overlap meets(const Region& region, const Domain& domain, const Point3& lo, const Point3& hi) {
  return std::visit([&](const auto& shape) { return meets_shape(shape, domain, lo, hi); }, shape_of(region));
}

bool touches(const Region& region, const Domain& domain, const Point3& lo, const Point3& hi) {
  return meets(region, domain, lo, hi) != Overlap::none;
}

Box bounds(const Region& region, const Domain& domain) {
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto [lo, hi] = range_along(region, domain, axis);
    box.lo[axis] = std::isinf(lo) ? 0 : lo;
    box.hi[axis] = std::isinf(hi) ? domain.extent[axis] : hi;
    if (box.hi[axis] < box.lo[axis]) box.hi[axis] = box.lo[axis];
  }
  return box;
}

Point3 centre(const Region& region, const Domain& domain) {
  return std::visit([&](const auto& shape) { return centre_of(shape, domain); }, shape_of(region));
}

}  // namespace octavo::mesh
