#include "octavo/partition/contour.hpp"

#include <algorithm>
#include <string>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"

namespace octavo::partition {
namespace {

using base::Error;
using base::Kind;

using base::at;

/// Keeps the edges that belong to one element only.
std::vector<BoundaryEdge> single(std::vector<BoundaryEdge> edges) {
  const auto key = [](const BoundaryEdge& e) { return std::pair(std::min(e.from, e.to), std::max(e.from, e.to)); };
  std::sort(edges.begin(), edges.end(), [&](const BoundaryEdge& a, const BoundaryEdge& b) {
    return key(a) != key(b) ? key(a) < key(b) : a.element < b.element;
  });
  std::vector<BoundaryEdge> alone;
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i + 1;
    while (end < edges.size() && key(edges[end]) == key(edges[i])) ++end;
    if (end == i + 1) alone.push_back(edges[i]);
    i = end;
  }
  return alone;
}

/// The edges for whose two points `holds` is true.
template <class Holds>
std::vector<BoundaryEdge> edges_where(Connectivity connectivity, Holds&& holds) {
  std::vector<BoundaryEdge> edges;
  for (std::size_t e = 0; e < connectivity.size() / 3; ++e)
    for (std::size_t side = 0; side < 3; ++side) {
      const std::int32_t a = connectivity[3 * e + side], b = connectivity[3 * e + (side + 1) % 3];
      if (holds(a) && holds(b)) edges.push_back({a, b, static_cast<std::int32_t>(e)});
    }
  return edges;
}

Error off_the_boundary(std::int32_t point, const char* why) {
  return Error(Kind::corrupt, "point " + std::to_string(point + 1) + " " + why);
}

/// Finds points on the boundary. Around an interior point the edges of its elements pair up; around a point with a
/// boundary edge they do not.
std::vector<bool> points_on_edges_of_one_element(Connectivity connectivity, std::size_t points) {
  // The sum over a point's elements of (leading point - trailing point) is zero around an interior point.
  std::vector<std::int64_t> sum(points, 0);
  for (std::size_t e = 0; e < connectivity.size() / 3; ++e)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t before = connectivity[3 * e + (k + 2) % 3], after = connectivity[3 * e + (k + 1) % 3];
      // With squares added, sums are hardly ever zero by chance.
      sum[at(connectivity[3 * e + k])] += (after - before) * (after + before + 1);
    }
  std::vector<bool> on(points, false);
  for (std::size_t i = 0; i < points; ++i) on[i] = sum[i] != 0;
  return on;
}

}  // namespace

Outline link_edges(std::span<const BoundaryEdge> edges, std::span<const std::int32_t> boundary) {
  constexpr std::int32_t none = -1;
  std::vector<std::pair<std::int32_t, std::int32_t>> position;  // sorted by point
  for (std::size_t k = 0; k < boundary.size(); ++k) position.emplace_back(boundary[k], static_cast<std::int32_t>(k));
  std::sort(position.begin(), position.end());
  const auto position_of = [&](std::int32_t point) {
    const auto found = std::lower_bound(position.begin(), position.end(), std::pair(point, std::int32_t{0}));
    if (found == position.end() || found->first != point)
      throw off_the_boundary(point, "is on the mesh's boundary and has no line");
    return found->second;
  };
  Outline contour;
  contour.next.assign(boundary.size(), none);
  contour.previous = contour.element = contour.next;
  for (const BoundaryEdge& edge : edges) {
    const std::int32_t from = position_of(edge.from), to = position_of(edge.to);
    if (contour.next[at(from)] != none) throw off_the_boundary(edge.from, "has two boundary edges that leave it");
    if (contour.previous[at(to)] != none) throw off_the_boundary(edge.to, "has two boundary edges that lead to it");
    contour.next[at(from)] = to;
    contour.previous[at(to)] = from;
    contour.element[at(from)] = edge.element;
  }
  for (std::size_t k = 0; k < boundary.size(); ++k)
    if (contour.next[k] == none || contour.previous[k] == none)
      throw off_the_boundary(boundary[k], "is said to be on the boundary, where the mesh has no closed boundary line");
  return contour;
}

Outline trace_contour(Connectivity connectivity, std::int32_t points, std::span<const std::int32_t> boundary) {
  std::vector<bool> on(at(points), false);
  for (const std::int32_t point : boundary) on[at(point)] = true;
  return link_edges(single(edges_where(connectivity, [&](std::int32_t p) { return on[at(p)]; })), boundary);
}

std::vector<std::int32_t> order_boundary(std::span<const std::int32_t> points, const Outline& contour,
                                         std::span<const double> x, std::span<const double> y) {
  std::vector<std::size_t> starts(points.size());
  for (std::size_t k = 0; k < starts.size(); ++k) starts[k] = k;
  std::stable_sort(starts.begin(), starts.end(),
                   [&](std::size_t a, std::size_t b) { return x[a] + y[a] < x[b] + y[b]; });
  std::vector<bool> seen(points.size(), false);
  std::vector<std::int32_t> ordered;
  for (const std::size_t start : starts)
    for (std::size_t k = start; !seen[k]; k = at(contour.next[k])) {
      seen[k] = true;
      ordered.push_back(points[k]);
    }
  return ordered;
}

std::vector<BoundaryEdge> find_boundary_edges(Connectivity connectivity, std::int32_t points) {
  const std::vector<bool> on = points_on_edges_of_one_element(connectivity, at(points));
  return single(edges_where(connectivity, [&](std::int32_t p) { return on[at(p)]; }));
}

std::vector<std::int32_t> find_boundary(Connectivity connectivity, std::span<const double> x,
                                        std::span<const double> y) {
  const auto edges = find_boundary_edges(connectivity, static_cast<std::int32_t>(x.size()));
  std::vector<std::int32_t> points;
  for (const BoundaryEdge& edge : edges) points.push_back(edge.from);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<double> px, py;
  for (const std::int32_t point : points) {
    px.push_back(x[at(point)]);
    py.push_back(y[at(point)]);
  }
  return order_boundary(points, link_edges(edges, points), px, py);
}

}  // namespace octavo::partition
