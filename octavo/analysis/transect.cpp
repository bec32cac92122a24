#include "octavo/analysis/transect.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

constexpr double shortest = 1e-12;  // of a leg; places nearer to each other are one but for rounding

struct Leg {
  std::array<double, 2> from{}, to{}, way{};
  double squared = 0;  // length
  std::array<double, 2> lo{}, hi{};

  Leg(const std::array<double, 2>& a, const std::array<double, 2>& b) : from(a), to(b) {
    for (std::size_t k = 0; k < 2; ++k) {
      way[k] = b[k] - a[k];
      lo[k] = std::min(a[k], b[k]);
      hi[k] = std::max(a[k], b[k]);
    }
    squared = way[0] * way[0] + way[1] * way[1];
  }
  /// Positive on the left.
  double side(double x, double y) const { return way[0] * (y - from[1]) - way[1] * (x - from[0]); }
  /// 0 at the beginning, 1 at the end.
  double along(double x, double y) const { return (way[0] * (x - from[0]) + way[1] * (y - from[1])) / squared; }
};

struct LegPlace {
  double along = 0;  // 0 to 1
  std::array<double, 2> at{};
  TrianglePlace place;
};

/// The piece of a leg that lies in a triangle.
struct LegStretch {
  LegPlace first, last;
};

LegPlace at_point(const mesh::Unstructured& mesh, const Leg& leg, std::int64_t point) {
  const auto i = static_cast<std::size_t>(point);
  return {leg.along(mesh.x[i], mesh.y[i]), {mesh.x[i], mesh.y[i]}, {{point, point, point}, {1, 0, 0}}};
}

/// The crossing of an edge whose points lie on both sides. The point with the smaller number comes first, so that both
/// triangles at the edge give the same bits.
LegPlace at_edge(const mesh::Unstructured& mesh, const Leg& leg, std::int64_t a, std::int64_t b) {
  if (a > b) std::swap(a, b);
  const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
  const double from = leg.side(mesh.x[i], mesh.y[i]), to = leg.side(mesh.x[j], mesh.y[j]);
  const double share = from / (from - to);
  const double x = mesh.x[i] + share * (mesh.x[j] - mesh.x[i]), y = mesh.y[i] + share * (mesh.y[j] - mesh.y[i]);
  return {leg.along(x, y), {x, y}, {{a, b, a}, {1 - share, share, 0}}};
}

/// A place of the leg inside of a triangle: one of its ends.
LegPlace at_end(const mesh::Unstructured& mesh, const std::int64_t* points, const std::array<double, 2>& end,
                double along) {
  LegPlace out{along, end, {}};
  std::copy_n(points, 3, out.place.points.begin());
  out.place.shares = shares_in(mesh, points, end);
  return out;
}

std::optional<LegStretch> stretch_in(const mesh::Unstructured& mesh, const std::int64_t* points, const Leg& leg) {
  std::array<double, 3> side{};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto i = static_cast<std::size_t>(points[k]);
    side[k] = leg.side(mesh.x[i], mesh.y[i]);
  }
  std::array<LegPlace, 3> found{};
  std::size_t count = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3;
    if (side[k] == 0) found[count++] = at_point(mesh, leg, points[k]);
    if ((side[k] < 0 && side[next] > 0) || (side[k] > 0 && side[next] < 0))
      found[count++] = at_edge(mesh, leg, points[k], points[next]);
  }
  if (count != 2) return {};  // a corner is touched, or the triangle has no area
  if (found[1].along < found[0].along) std::swap(found[0], found[1]);
  if (found[0].along < 0 && found[1].along > 0) found[0] = at_end(mesh, points, leg.from, 0);
  if (found[1].along > 1 && found[0].along < 1) found[1] = at_end(mesh, points, leg.to, 1);
  if (found[0].along < 0 || found[1].along > 1 || found[1].along - found[0].along <= shortest) return {};
  return LegStretch{found[0], found[1]};
}

bool boxes_meet(const mesh::Unstructured& mesh, const std::int64_t* points, const Leg& leg) {
  const auto a = static_cast<std::size_t>(points[0]), b = static_cast<std::size_t>(points[1]),
             c = static_cast<std::size_t>(points[2]);
  return std::min({mesh.x[a], mesh.x[b], mesh.x[c]}) <= leg.hi[0] &&
         std::max({mesh.x[a], mesh.x[b], mesh.x[c]}) >= leg.lo[0] &&
         std::min({mesh.y[a], mesh.y[b], mesh.y[c]}) <= leg.hi[1] &&
         std::max({mesh.y[a], mesh.y[b], mesh.y[c]}) >= leg.lo[1];
}

std::vector<LegStretch> stretches_of(const mesh::Unstructured& mesh, const Leg& leg) {
  std::vector<LegStretch> out;
  for (std::size_t t = 0; 3 * t < mesh.connectivity.size(); ++t) {
    const std::int64_t* points = &mesh.connectivity[3 * t];
    if (!boxes_meet(mesh, points, leg)) continue;
    if (auto stretch = stretch_in(mesh, points, leg)) out.push_back(*stretch);
  }
  std::stable_sort(out.begin(), out.end(), [](const LegStretch& a, const LegStretch& b) {
    return a.first.along != b.first.along ? a.first.along < b.first.along : a.last.along < b.last.along;
  });
  return out;
}

void check_line(const Polyline& line) {
  using base::Error;
  using base::Kind;
  if (line.size() < 2)
    throw Error(Kind::usage, "a line of " + std::to_string(line.size()) + " points: expected two or more");
  for (std::size_t p = 0; p < line.size(); ++p) {
    if (!std::isfinite(line[p][0]) || !std::isfinite(line[p][1]))
      throw Error(Kind::usage, "point " + std::to_string(p + 1) + " of the line is not finite");
    if (p > 0 && line[p] == line[p - 1])
      throw Error(Kind::usage, "points " + std::to_string(p) + " and " + std::to_string(p + 1) +
                                   " of the line are the same: the way between them has no length");
  }
}

}  // namespace

Transect transect_of(const mesh::Unstructured& mesh, const Polyline& line, bool jumps) {
  check_line(line);
  Transect out;
  bool on_mesh = false;  // the mesh reaches to the end of the leg before
  for (std::size_t l = 0; l + 1 < line.size(); ++l) {
    const Leg leg(line[l], line[l + 1]);
    const double length = std::hypot(leg.way[0], leg.way[1]);
    double reached = on_mesh ? 0 : -1;  // -1: the row before is of no triangle of this leg
    for (const LegStretch& stretch : stretches_of(mesh, leg)) {
      if (reached >= 0 && stretch.last.along <= reached + shortest) continue;  // the other triangle at an edge
      const auto row = [&](const LegPlace& place, bool begins) {
        out.rows.push_back({out.length + place.along * length, place.at, place.place, begins, l});
      };
      const bool begins = reached < 0 || stretch.first.along > reached + shortest;
      if (begins || jumps) row(stretch.first, begins);
      row(stretch.last, false);
      reached = stretch.last.along;
    }
    on_mesh = reached >= 1 - shortest;
    out.length += length;
  }
  return out;
}

double linear_at(std::span<const double> values, const TrianglePlace& place) {
  const auto at = [&](std::size_t k) { return values[static_cast<std::size_t>(place.points[k])]; };
  if (at(0) == at(1) && at(1) == at(2)) return at(0);  // shares sum to 1 but for rounding
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k)
    if (place.shares[k] != 0) sum += place.shares[k] * at(k);
  return sum;
}

Tile draw(const Curtain& curtain, const Frame& frame, RowRange rows) {
  const std::size_t width = frame.pixels[0], planes = curtain.planes;
  Tile tile{{0, rows.first}, {width, rows.last - rows.first}, {}, {}};
  tile.sum.assign(width * tile.size[1], std::numeric_limits<double>::quiet_NaN());
  const auto middle_of = [&](std::size_t axis, std::size_t pixel) {
    return frame.lo[axis] + (static_cast<double>(pixel) + 0.5) * (frame.hi[axis] - frame.lo[axis]) /
                                static_cast<double>(frame.pixels[axis]);
  };
  const auto& on_line = curtain.transect.rows;
  std::vector<double> heights(planes), values(planes);
  std::size_t next = 1;  // the row behind the column
  for (std::size_t i = 0; i < width; ++i) {
    const double distance = middle_of(0, i);
    while (next < on_line.size() && on_line[next].distance < distance) ++next;
    if (next >= on_line.size()) break;
    if (on_line[next].begins || on_line[next - 1].distance > distance) continue;
    const double gap = on_line[next].distance - on_line[next - 1].distance;
    const double share = gap > 0 ? (distance - on_line[next - 1].distance) / gap : 0;
    for (std::size_t k = 0; k < planes; ++k) {
      const std::size_t a = (next - 1) * planes + k, b = next * planes + k;
      heights[k] = (1 - share) * curtain.heights[a] + share * curtain.heights[b];
      values[k] = (1 - share) * curtain.values[a] + share * curtain.values[b];
    }
    for (std::size_t j = rows.first; j < rows.last; ++j)
      tile.sum[(j - rows.first) * width + i] = value_at_height(heights, values, middle_of(1, j));
  }
  return tile;
}

}  // namespace octavo::analysis
