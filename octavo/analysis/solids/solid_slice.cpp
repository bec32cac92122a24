#include "octavo/analysis/solids/solid_slice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::analysis {
namespace {

using Pair = std::array<double, 2>;

/// Each point's place in the picture [pixels], and its distance from the plane; 0 where it is a rounding error.
struct SeenPoints {
  std::vector<Pair> at;
  std::vector<double> distance;
};

double pixel_size(const AnyView& view, std::size_t i) {
  return (view.hi[i] - view.lo[i]) / static_cast<double>(view.pixels[i]);
}

SeenPoints seen_points(const mesh::Solids& mesh, const AnyView& view) {
  double scale = std::fabs(view.depth_lo);
  for (std::size_t a = 0; a < 3; ++a) scale = std::max({scale, std::fabs(view.clip_lo[a]), std::fabs(view.clip_hi[a])});
  const double rounding = 1e-14 * scale;
  SeenPoints out;
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    const mesh::Point3 place{mesh.x[i], mesh.y[i], mesh.z[i]};
    out.at.push_back({(dot(view.axes.right, place) - view.lo[0]) / pixel_size(view, 0),
                      (dot(view.axes.up, place) - view.lo[1]) / pixel_size(view, 1)});
    const double distance = dot(view.axes.towards, place) - view.depth_lo;
    out.distance.push_back(std::fabs(distance) <= rounding ? 0 : distance);
  }
  return out;
}

/// A corner of the polygon in which the plane cuts a tetrahedron.
struct CutCorner {
  Pair at{};
  double value = 0;
};

/// Cuts tetrahedra one after another.
class SolidCutter {
 public:
  SolidCutter(const SeenPoints& seen, const SolidValues& field, std::vector<SolidSection>& to)
      : seen_(seen), field_(field), to_(to) {}

  void cut(std::size_t cell, const std::array<std::int64_t, 4>& points) {
    std::array<std::int64_t, 4> below{}, above{}, on{};
    std::size_t lower = 0, upper = 0, level = 0;
    for (const std::int64_t point : points) {
      const double distance = seen_.distance[static_cast<std::size_t>(point)];
      (distance < 0 ? below[lower++] : distance > 0 ? above[upper++] : on[level++]) = point;
    }
    std::array<CutCorner, 4> corners{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < level; ++k) corners[count++] = at_point(cell, on[k]);
    // Around the quadrangle: the second point below meets those above in the opposite order.
    for (std::size_t i = 0; i < lower; ++i)
      for (std::size_t j = 0; j < upper; ++j)
        if (count < 4) corners[count++] = crossing(cell, below[i], above[i % 2 == 0 ? j : upper - 1 - j]);
    if (count < 3 || level == 4) return;
    add(corners[0], corners[1], corners[2]);
    if (count == 4) add(corners[0], corners[2], corners[3]);
  }

 private:
  CutCorner at_point(std::size_t cell, std::int64_t point) const {
    return {seen_.at[static_cast<std::size_t>(point)], field_(cell, point)};
  }
  /// The point with the smaller number comes first, so that all cells at an edge give the same bits.
  CutCorner crossing(std::size_t cell, std::int64_t a, std::int64_t b) const {
    if (a > b) std::swap(a, b);
    const double from = seen_.distance[static_cast<std::size_t>(a)], to = seen_.distance[static_cast<std::size_t>(b)];
    const double share = from / (from - to);
    const CutCorner first = at_point(cell, a), last = at_point(cell, b);
    CutCorner out;
    for (std::size_t i = 0; i < 2; ++i) out.at[i] = first.at[i] + share * (last.at[i] - first.at[i]);
    out.value = first.value == last.value ? first.value : (1 - share) * first.value + share * last.value;
    return out;
  }
  void add(const CutCorner& a, const CutCorner& b, const CutCorner& c) {
    to_.push_back({{a.at, b.at, c.at}, {a.value, b.value, c.value}});
  }

  const SeenPoints& seen_;
  const SolidValues& field_;
  std::vector<SolidSection>& to_;
};

// ------------------------------------------------------------------------------------------------ drawing

/// The pixels first <= p < last whose middles may lie in [lo, hi].
RowRange middles_in(double lo, double hi, RowRange within) {
  const auto first = static_cast<double>(within.first), last = static_cast<double>(within.last);
  return {static_cast<std::size_t>(std::clamp(std::ceil(lo - 0.5 - 1e-9), first, last)),
          static_cast<std::size_t>(std::clamp(std::floor(hi - 0.5 + 1e-9) + 1, first, last))};
}

/// The value at a place in a cut; nothing outside. On an edge the cuts on both sides answer.
std::optional<double> value_in(const SolidSection& cut, const Pair& place) {
  // Differences to a corner: lengths of the cut, and not of the picture, make the rounding errors.
  const auto from = [&](const Pair& to) { return Pair{to[0] - cut.at[0][0], to[1] - cut.at[0][1]}; };
  const auto cross = [](const Pair& a, const Pair& b) { return a[0] * b[1] - a[1] * b[0]; };
  const Pair u = from(cut.at[1]), v = from(cut.at[2]), w = from(place);
  const double area = cross(u, v);
  if (area == 0) return {};
  const double second = cross(w, v) / area, third = cross(u, w) / area, first = 1 - second - third;
  constexpr double rounding = -1e-10;
  if (!(first >= rounding && second >= rounding && third >= rounding)) return {};
  if (cut.value[0] == cut.value[1] && cut.value[1] == cut.value[2]) return cut.value[0];
  return first * cut.value[0] + second * cut.value[1] + third * cut.value[2];
}

/// Whether a pixel's middle is in the view's box and region.
bool is_shown(const AnyView& view, const Pair& place) {
  mesh::Point3 point{};
  for (std::size_t a = 0; a < 3; ++a) {
    point[a] = view.axes.right[a] * (view.lo[0] + place[0] * pixel_size(view, 0)) +
               view.axes.up[a] * (view.lo[1] + place[1] * pixel_size(view, 1)) + view.axes.towards[a] * view.depth_lo;
    const double rounding = 1e-12 * (view.clip_hi[a] - view.clip_lo[a]);
    if (point[a] < view.clip_lo[a] - rounding || point[a] > view.clip_hi[a] + rounding) return false;
  }
  return !view.within || (*view.within)(point);
}

}  // namespace

std::vector<SolidSection> solid_sections(const mesh::Solids& mesh, const SolidValues& field, const AnyView& view) {
  const SeenPoints seen = seen_points(mesh, view);
  std::vector<SolidSection> cuts;
  SolidCutter cutter(seen, field, cuts);
  std::size_t first = 0;
  for (std::size_t cell = 0; cell < mesh.corners.size(); first += mesh.corners[cell], ++cell) {
    const auto points = std::span(mesh.connectivity).subspan(first, mesh.corners[cell]);
    bool below = false, above = false;
    for (const std::int64_t point : points) {
      below = below || seen.distance[static_cast<std::size_t>(point)] <= 0;
      above = above || seen.distance[static_cast<std::size_t>(point)] >= 0;
    }
    if (!below || !above) continue;
    mesh::for_each_tetrahedron(mesh, points, [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
      cutter.cut(cell, {a, b, c, d});
    });
  }
  return cuts;
}

Tile draw_cuts(std::span<const SolidSection> cuts, const AnyView& view, RowRange rows) {
  const std::size_t width = view.pixels[0];
  Tile tile{{0, rows.first}, {width, rows.last - rows.first}, {}, {}};
  tile.sum.assign(width * tile.size[1], std::numeric_limits<double>::quiet_NaN());
  for (const SolidSection& cut : cuts) {
    const auto range = [&](std::size_t i, RowRange within) {
      return middles_in(std::min({cut.at[0][i], cut.at[1][i], cut.at[2][i]}),
                        std::max({cut.at[0][i], cut.at[1][i], cut.at[2][i]}), within);
    };
    const RowRange high = range(1, rows), wide = range(0, {0, width});
    for (std::size_t j = high.first; j < high.last; ++j)
      for (std::size_t i = wide.first; i < wide.last; ++i) {
        const Pair place{static_cast<double>(i) + 0.5, static_cast<double>(j) + 0.5};
        const auto value = value_in(cut, place);
        if (value && is_shown(view, place)) tile.sum[(j - rows.first) * width + i] = *value;
      }
  }
  return tile;
}

}  // namespace octavo::analysis
