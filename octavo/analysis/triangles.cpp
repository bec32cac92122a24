#include "octavo/analysis/triangles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::analysis {
namespace {

using Point2 = std::array<double, 2>;

Point2 place_of(const mesh::Unstructured& mesh, std::int64_t point) {
  const auto i = static_cast<std::size_t>(point);
  return {mesh.x[i], mesh.y[i]};
}

/// Twice the area on the left of a -> b seen from c.
double cross(const Point2& a, const Point2& b, const Point2& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// A triangle made ready to be asked for shares.
struct Corner {
  std::array<Point2, 3> at{};
  double area = 0;  ///< twice, signed

  Corner(const mesh::Unstructured& mesh, std::size_t triangle) {
    for (std::size_t k = 0; k < 3; ++k) at[k] = place_of(mesh, mesh.connectivity[3 * triangle + k]);
    area = cross(at[0], at[1], at[2]);
  }
  /// Nothing outside. On an edge two triangles answer, with the same value.
  std::optional<std::array<double, 3>> shares(const Point2& place) const {
    if (area == 0) return {};
    std::array<double, 3> out{cross(at[1], at[2], place) / area, cross(at[2], at[0], place) / area,
                              cross(at[0], at[1], place) / area};
    // Places on an edge are on both sides of it but for rounding.
    constexpr double rounding = -1e-12;
    if (out[0] < rounding || out[1] < rounding || out[2] < rounding) return {};
    return out;
  }
  double lo(std::size_t axis) const { return std::min({at[0][axis], at[1][axis], at[2][axis]}); }
  double hi(std::size_t axis) const { return std::max({at[0][axis], at[1][axis], at[2][axis]}); }
};

double linear(std::span<const double> values, const std::int64_t* points, const std::array<double, 3>& shares) {
  const std::array<double, 3> at{values[static_cast<std::size_t>(points[0])],
                                 values[static_cast<std::size_t>(points[1])],
                                 values[static_cast<std::size_t>(points[2])]};
  if (at[0] == at[1] && at[1] == at[2]) return at[0];  // shares sum to 1 but for rounding
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k)
    if (shares[k] > 0) sum += shares[k] * at[k];
  return sum;
}

struct Pixels {
  std::size_t first = 0, last = 0;
};
/// Those whose middles are in [lo, hi].
Pixels pixels_in(const Frame& frame, std::size_t axis, double lo, double hi) {
  const double width = (frame.hi[axis] - frame.lo[axis]) / static_cast<double>(frame.pixels[axis]);
  const double most = static_cast<double>(frame.pixels[axis]);
  const double first = std::clamp(std::floor((lo - frame.lo[axis]) / width - 0.5), 0.0, most);
  const double last = std::clamp(std::ceil((hi - frame.lo[axis]) / width + 0.5), 0.0, most);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

Point2 middle(const Frame& frame, std::size_t i, std::size_t j) {
  const auto at = [&](std::size_t axis, std::size_t pixel) {
    return frame.lo[axis] + (static_cast<double>(pixel) + 0.5) * (frame.hi[axis] - frame.lo[axis]) /
                                static_cast<double>(frame.pixels[axis]);
  };
  return {at(0, i), at(1, j)};
}

/// The region of a frame as it is seen from above: heights do not matter.
std::optional<Within> from_above(const Frame& frame) {
  std::optional<Within> within = frame.within;
  if (within) within->domain.dim = 2;
  return within;
}

/// The pixels of the frame's rows whose middles lie in a triangle and in the frame's region, as far as `value_of` gives
/// them a value from the triangle's points and their shares.
template <class ValueOf>
Tile draw_pixels(const mesh::Unstructured& mesh, const Frame& frame, RowRange rows, ValueOf&& value_of) {
  const std::size_t width = frame.pixels[0];
  const std::optional<Within> within = from_above(frame);
  Tile tile{{0, rows.first}, {width, rows.last - rows.first}, {}, {}};
  tile.sum.assign(width * tile.size[1], std::numeric_limits<double>::quiet_NaN());
  for (std::size_t t = 0; 3 * t < mesh.connectivity.size(); ++t) {
    const Corner corner(mesh, t);
    const std::int64_t* points = &mesh.connectivity[3 * t];
    const Pixels x = pixels_in(frame, 0, corner.lo(0), corner.hi(0));
    const Pixels y = pixels_in(frame, 1, corner.lo(1), corner.hi(1));
    for (std::size_t j = std::max(y.first, rows.first); j < std::min(y.last, rows.last); ++j)
      for (std::size_t i = x.first; i < x.last; ++i) {
        const Point2 place = middle(frame, i, j);
        const auto shares = corner.shares(place);
        if (!shares || (within && !(*within)({place[0], place[1], 0}))) continue;
        if (const std::optional<double> value = value_of(points, *shares))
          tile.sum[(j - rows.first) * width + i] = *value;
      }
  }
  return tile;
}

}  // namespace

std::vector<double> point_areas(const mesh::Unstructured& mesh) {
  std::vector<double> areas(mesh.x.size(), 0);
  for (std::size_t t = 0; 3 * t < mesh.connectivity.size(); ++t) {
    const double third = std::fabs(Corner(mesh, t).area) / 6;
    for (std::size_t k = 0; k < 3; ++k) areas[static_cast<std::size_t>(mesh.connectivity[3 * t + k])] += third;
  }
  return areas;
}

std::vector<double> point_heights(const mesh::Unstructured& mesh, std::span<const double> elevation) {
  const std::size_t points = mesh.x.size(), planes = static_cast<std::size_t>(mesh.planes);
  std::vector<double> heights(points * planes, 0);
  for (std::size_t p = 0; p + 1 < planes; ++p)
    for (std::size_t i = 0; i < points; ++i) {
      // The trapezium rule: half of a layer goes with the plane below it, half with the one above.
      const double half = (elevation[(p + 1) * points + i] - elevation[p * points + i]) / 2;
      heights[p * points + i] += half;
      heights[(p + 1) * points + i] += half;
    }
  return heights;
}

std::vector<double> flatten(const mesh::Unstructured& mesh, std::span<const double> values,
                            std::span<const double> elevation, Projection kind) {
  const std::size_t points = mesh.x.size(), planes = static_cast<std::size_t>(mesh.planes);
  std::vector<double> out(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(points));
  if (planes == 1) return out;
  if (is_extreme(kind)) {
    for (std::size_t i = points; i < values.size(); ++i)
      out[i % points] =
          kind == Projection::maximum ? std::fmax(out[i % points], values[i]) : std::fmin(out[i % points], values[i]);
    return out;
  }
  const std::vector<double> heights = point_heights(mesh, elevation);
  for (std::size_t i = 0; i < points; ++i) {
    double sum = 0, height = 0, plain = 0;
    for (std::size_t k = i; k < values.size(); k += points) {
      sum += values[k] * heights[k];
      height += heights[k];
      plain += values[k];
    }
    if (kind == Projection::integral)
      out[i] = sum;
    else
      out[i] = height > 0 ? sum / height : plain / static_cast<double>(planes);
  }
  return out;
}

std::array<double, 3> shares_in(const mesh::Unstructured& mesh, const std::int64_t* points, const Point2& place) {
  const Point2 a = place_of(mesh, points[0]), b = place_of(mesh, points[1]), c = place_of(mesh, points[2]);
  const double area = cross(a, b, c);
  return {cross(b, c, place) / area, cross(c, a, place) / area, cross(a, b, place) / area};
}

double value_at_height(std::span<const double> heights, std::span<const double> values, double at) {
  if (heights.size() == 1) return values[0];
  for (std::size_t k = 0; k + 1 < heights.size(); ++k) {
    if (!(at >= heights[k]) || !(at <= heights[k + 1])) continue;
    const double thick = heights[k + 1] - heights[k];
    if (!(thick > 0)) return values[k];
    const double share = (at - heights[k]) / thick;
    return share == 0 ? values[k] : share == 1 ? values[k + 1] : (1 - share) * values[k] + share * values[k + 1];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::optional<TrianglePlace>> locate(const mesh::Unstructured& mesh, std::span<const Point2> places) {
  std::vector<std::optional<TrianglePlace>> found(places.size());
  for (std::size_t t = 0; 3 * t < mesh.connectivity.size(); ++t) {
    const Corner corner(mesh, t);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (found[i]) continue;
      const auto shares = corner.shares(places[i]);
      if (!shares) continue;
      found[i].emplace();
      std::copy_n(&mesh.connectivity[3 * t], 3, found[i]->points.begin());
      found[i]->shares = *shares;
      found[i]->triangle = static_cast<std::int64_t>(t);
    }
  }
  return found;
}

Tile draw(const mesh::Unstructured& mesh, std::span<const double> values, std::span<const double> mask, double above,
          const Frame& frame, RowRange rows) {
  return draw_pixels(mesh, frame, rows, [&](const std::int64_t* points, const std::array<double, 3>& shares) {
    const bool shown = mask.empty() || linear(mask, points, shares) > above;
    return shown ? std::optional(linear(values, points, shares)) : std::nullopt;
  });
}

Tile draw(const mesh::Unstructured& mesh, std::span<const double> values, std::span<const double> elevation,
          const Level& level, const Frame& frame, RowRange rows) {
  const std::size_t points_of_plane = mesh.x.size(), planes = static_cast<std::size_t>(mesh.planes);
  const auto plane = [&](std::span<const double> all, std::size_t k) {
    return all.subspan(k * points_of_plane, points_of_plane);
  };
  if (level.kind == Level::Kind::plane)
    return draw(mesh, plane(values, static_cast<std::size_t>(level.at)), {}, 0, frame, rows);
  std::vector<double> heights(planes), column(planes);
  return draw_pixels(mesh, frame, rows, [&](const std::int64_t* points, const std::array<double, 3>& shares) {
    for (std::size_t k = 0; k < planes; ++k) {
      heights[k] = linear(plane(elevation, k), points, shares);
      column[k] = linear(plane(values, k), points, shares);
    }
    const double at = level.kind == Level::Kind::height ? level.at : heights.back() - level.at;
    const double value = value_at_height(heights, column, at);
    return std::isnan(value) ? std::nullopt : std::optional(value);
  });
}

}  // namespace octavo::analysis
