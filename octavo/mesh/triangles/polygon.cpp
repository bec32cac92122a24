#include "octavo/mesh/triangles/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using Corner2 = std::array<double, 2>;

/// Twice the area of three corners; positive if they turn counter-clockwise.
double doubled_area(const Corner2& a, const Corner2& b, const Corner2& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

bool edges_cross(const Corner2& a, const Corner2& b, const Corner2& c, const Corner2& d) {
  const auto opposite = [](double left, double right) { return (left < 0 && right > 0) || (left > 0 && right < 0); };
  return opposite(doubled_area(a, b, c), doubled_area(a, b, d)) &&
         opposite(doubled_area(c, d, a), doubled_area(c, d, b));
}

struct RingEdge {
  Corner2 from, to;
};
std::vector<RingEdge> edges_of(const Polygon& polygon) {
  std::vector<RingEdge> out;
  for (const Ring& ring : polygon)
    for (std::size_t i = 0; i < ring.size(); ++i) out.push_back({ring[i], ring[(i + 1) % ring.size()]});
  return out;
}

std::string text_of(const Corner2& place) { return std::to_string(place[0]) + "," + std::to_string(place[1]); }

void refuse_crossings(const Polygon& polygon) {
  std::vector<RingEdge> edges = edges_of(polygon);
  std::sort(edges.begin(), edges.end(), [](const RingEdge& a, const RingEdge& b) {
    return std::min(a.from[0], a.to[0]) < std::min(b.from[0], b.to[0]);
  });
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (std::size_t j = i + 1; j < edges.size(); ++j) {
      if (std::min(edges[j].from[0], edges[j].to[0]) > std::max(edges[i].from[0], edges[i].to[0])) break;
      if (edges_cross(edges[i].from, edges[i].to, edges[j].from, edges[j].to))
        throw base::Error(base::Kind::usage, "the polygon crosses itself near " + text_of(edges[i].from));
    }
}

bool in_ring(const Ring& ring, const Corner2& place) {
  bool inside = false;
  for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
    if ((ring[i][1] > place[1]) == (ring[j][1] > place[1])) continue;
    const double x = ring[i][0] + (place[1] - ring[i][1]) / (ring[j][1] - ring[i][1]) * (ring[j][0] - ring[i][0]);
    inside = inside != (place[0] < x);
  }
  return inside;
}

/// The rings with those around areas counter-clockwise and holes clockwise: then signed areas add up.
Polygon turned(const Polygon& polygon) {
  Polygon out = polygon;
  for (std::size_t r = 0; r < out.size(); ++r) {
    bool hole = false;
    for (std::size_t other = 0; other < out.size(); ++other)
      if (other != r && in_ring(polygon[other], polygon[r][0])) hole = !hole;
    double area = 0;
    for (std::size_t i = 1; i + 1 < out[r].size(); ++i) area += doubled_area(out[r][0], out[r][i], out[r][i + 1]);
    if ((area < 0) != hole) std::reverse(out[r].begin(), out[r].end());
  }
  return out;
}

/// A ring in a triangle's own coordinates: how much of each of the first two points there is.
using LocalRing = std::vector<Corner2>;

double third_share(const Corner2& at) { return 1 - at[0] - at[1]; }

/// The piece of a ring on the side of an edge of the triangle on which `share` is not negative. Stretches along the
/// edge that go both ways stay: their areas cancel.
template <class Share>
LocalRing clipped(const LocalRing& ring, Share&& share) {
  LocalRing out;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner2 &here = ring[i], &next = ring[(i + 1) % ring.size()];
    const double a = share(here), b = share(next);
    if (a >= 0) out.push_back(here);
    if ((a < 0) == (b < 0)) continue;
    const double way = a / (a - b);
    out.push_back({here[0] + way * (next[0] - here[0]), here[1] + way * (next[1] - here[1])});
  }
  return out;
}

/// Adds the integrals of the three shares over a ring, in units of twice the triangle's area.
void add_integrals(const LocalRing& ring, std::array<double, 3>& sums) {
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
    const double area = doubled_area(ring[0], ring[i], ring[i + 1]) / 2;
    const Corner2 sum{ring[0][0] + ring[i][0] + ring[i + 1][0], ring[0][1] + ring[i][1] + ring[i + 1][1]};
    sums[0] += area * sum[0] / 3;
    sums[1] += area * sum[1] / 3;
    sums[2] += area * (3 - sum[0] - sum[1]) / 3;
  }
}

struct CornerBounds {
  Corner2 lo, hi;
};
template <class Corners>
CornerBounds extent_of(const Corners& corners) {
  CornerBounds out{corners[0], corners[0]};
  for (const Corner2& corner : corners)
    for (std::size_t k = 0; k < 2; ++k) {
      out.lo[k] = std::min(out.lo[k], corner[k]);
      out.hi[k] = std::max(out.hi[k], corner[k]);
    }
  return out;
}
bool apart(const CornerBounds& a, const CornerBounds& b) {
  return a.hi[0] < b.lo[0] || b.hi[0] < a.lo[0] || a.hi[1] < b.lo[1] || b.hi[1] < a.lo[1];
}

/// The integrals of the three shares over the polygon in a triangle, in units of twice its area.
std::array<double, 3> shares_over(const Polygon& rings, const std::array<Corner2, 3>& corners, double area) {
  std::array<double, 3> sums{};
  for (const Ring& ring : rings) {
    LocalRing local;
    local.reserve(ring.size());
    for (const Corner2& at : ring)
      local.push_back(
          {doubled_area(corners[1], corners[2], at) / area, doubled_area(corners[2], corners[0], at) / area});
    local = clipped(local, [](const Corner2& at) { return at[0]; });
    local = clipped(local, [](const Corner2& at) { return at[1]; });
    local = clipped(local, third_share);
    add_integrals(local, sums);
  }
  return sums;
}

}  // namespace

void validate(const Polygon& polygon) {
  using base::Error;
  using base::Kind;
  if (polygon.empty()) throw Error(Kind::usage, "a polygon without corners");
  for (const Ring& ring : polygon) {
    if (ring.size() < 3)
      throw Error(Kind::usage, "a polygon of " + std::to_string(ring.size()) + " corners: expected three or more");
    for (const Corner2& corner : ring)
      if (!std::isfinite(corner[0]) || !std::isfinite(corner[1]))
        throw Error(Kind::usage, "a corner of the polygon is not finite");
  }
  refuse_crossings(polygon);
}

bool contains(const Polygon& polygon, const Corner2& place) {
  bool inside = false;
  for (const Ring& ring : polygon) inside = inside != in_ring(ring, place);
  return inside;
}

std::vector<double> point_weights(const Unstructured& mesh, const Polygon& polygon) {
  const Polygon rings = turned(polygon);
  std::vector<CornerBounds> extents;
  for (const Ring& ring : rings) extents.push_back(extent_of(ring));
  std::vector<double> weights(mesh.x.size(), 0);
  for (std::size_t t = 0; 3 * t < mesh.connectivity.size(); ++t) {
    const std::int64_t* points = &mesh.connectivity[3 * t];
    std::array<Corner2, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto i = static_cast<std::size_t>(points[k]);
      corners[k] = {mesh.x[i], mesh.y[i]};
    }
    const CornerBounds extent = extent_of(corners);
    if (std::all_of(extents.begin(), extents.end(), [&](const CornerBounds& ring) { return apart(ring, extent); }))
      continue;
    const double area = doubled_area(corners[0], corners[1], corners[2]);
    if (area == 0) continue;
    const std::array<double, 3> shares = shares_over(rings, corners, area);
    // In a clockwise triangle local areas have the other sign, and so has `area`.
    for (std::size_t k = 0; k < 3; ++k) weights[static_cast<std::size_t>(points[k])] += shares[k] * area;
  }
  return weights;
}

}  // namespace octavo::mesh
