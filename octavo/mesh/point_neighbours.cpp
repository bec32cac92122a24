#include "octavo/mesh/point_neighbours.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace octavo::mesh {
namespace {

using Near = std::array<std::uint32_t, 3>;
constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

/// The mesh by places; triangles of each point one after another.
struct Places {
  const Unstructured& mesh;
  std::span<const std::uint32_t> along;
  std::vector<std::uint32_t> place;  ///< of each point
  std::vector<std::uint32_t> first;  ///< of each place: where its triangles begin
  std::vector<std::uint32_t> triangles;

  std::span<const std::uint32_t> around(std::uint32_t p) const {
    return std::span(triangles).subspan(first[p], first[p + 1] - first[p]);
  }
  Near corners(std::uint32_t triangle) const {
    const std::int64_t* points = &mesh.connectivity[3 * std::size_t{triangle}];
    return {place[static_cast<std::size_t>(points[0])], place[static_cast<std::size_t>(points[1])],
            place[static_cast<std::size_t>(points[2])]};
  }
  double x(std::uint32_t p) const { return mesh.x[along[p]]; }
  double y(std::uint32_t p) const { return mesh.y[along[p]]; }
  double square(std::uint32_t p, std::uint32_t q) const {
    const double dx = x(p) - x(q), dy = y(p) - y(q);
    return dx * dx + dy * dy;
  }
};

Places places_of(const Unstructured& mesh, std::span<const std::uint32_t> along) {
  Places out{mesh, along, std::vector<std::uint32_t>(along.size()), {}, {}};
  for (std::uint32_t p = 0; p < along.size(); ++p) out.place[along[p]] = p;
  out.first.assign(along.size() + 1, 0);
  for (const std::int64_t point : mesh.connectivity) ++out.first[out.place[static_cast<std::size_t>(point)] + 1];
  for (std::size_t p = 0; p < along.size(); ++p) out.first[p + 1] += out.first[p];
  out.triangles.resize(mesh.connectivity.size());
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i)
    out.triangles[out.first[out.place[static_cast<std::size_t>(mesh.connectivity[i])]]++] =
        static_cast<std::uint32_t>(i / 3);
  // Each beginning has moved to the next one's.
  std::copy_backward(out.first.begin(), out.first.end() - 1, out.first.end());
  out.first[0] = 0;
  return out;
}

/// The two others of a triangle, the lower one first.
std::pair<std::uint32_t, std::uint32_t> others(const Near& corners, std::uint32_t p) {
  const std::uint32_t u = corners[0] == p ? corners[1] : corners[0];
  const std::uint32_t v = corners[2] == p ? corners[1] : corners[2];
  return {std::min(u, v), std::max(u, v)};
}

/// Points that share an edge with p, ascending.
void edges_of(const Places& places, std::uint32_t p, std::vector<std::uint32_t>& out) {
  out.clear();
  for (const std::uint32_t triangle : places.around(p)) {
    const auto [u, v] = others(places.corners(triangle), p);
    out.push_back(u);
    out.push_back(v);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

/// A parallelogram, and how far (squared) it misses the point. Of equal ones the first by its corners.
struct Candidate {
  double miss = 0;
  Near near{never, never, never};
  void consider(double other, const Near& corners) {
    if (near[0] != never && !(other < miss || (other == miss && corners < near))) return;
    miss = other;
    near = corners;
  }
};

Candidate parallelogram(const Places& places, std::uint32_t p, std::span<const std::uint32_t> visit) {
  Candidate best;
  for (const std::uint32_t triangle : places.around(p)) {
    const auto [u, v] = others(places.corners(triangle), p);
    if (visit[u] >= visit[p] || visit[v] >= visit[p]) continue;
    for (const std::uint32_t beyond : places.around(u)) {
      const Near corners = places.corners(beyond);
      if (corners[0] != v && corners[1] != v && corners[2] != v) continue;
      const std::uint32_t w = corners[0] + corners[1] + corners[2] - u - v;
      if (visit[w] >= visit[p]) continue;
      const double dx = places.x(u) + places.x(v) - places.x(w) - places.x(p);
      const double dy = places.y(u) + places.y(v) - places.y(w) - places.y(p);
      best.consider(dx * dx + dy * dy, {u, v, w});
    }
  }
  if (best.near[0] != never && places.square(p, best.near[1]) < places.square(p, best.near[0]))
    std::swap(best.near[0], best.near[1]);
  return best;
}

/// The nearest that was visited before; `never` where none was.
std::uint32_t nearest(const Places& places, std::uint32_t p, std::span<const std::uint32_t> visit,
                      std::span<const std::uint32_t> edges) {
  std::uint32_t best = never;
  for (const std::uint32_t q : edges)
    if (visit[q] < visit[p] && (best == never || places.square(p, q) < places.square(p, best))) best = q;
  return best;
}

/// Breadth first; edges to lower places first.
std::vector<std::uint32_t> breadth_first(const Places& places, std::vector<std::uint32_t>& visit) {
  std::vector<std::uint32_t> order, edges;
  order.reserve(visit.size());
  const auto reach = [&](std::uint32_t p) {
    visit[p] = static_cast<std::uint32_t>(order.size());
    order.push_back(p);
  };
  for (std::uint32_t root = 0; root < visit.size(); ++root) {
    if (visit[root] != never) continue;
    std::size_t next = order.size();
    for (reach(root); next < order.size(); ++next) {
      edges_of(places, order[next], edges);
      for (const std::uint32_t q : edges)
        if (visit[q] == never) reach(q);
    }
  }
  return order;
}

}  // namespace

PointNeighbours neighbours_along(const Unstructured& mesh, std::span<const std::uint32_t> along) {
  const Places places = places_of(mesh, along);
  std::vector<std::uint32_t> visit(along.size(), never), edges;
  PointNeighbours out;
  out.order = breadth_first(places, visit);
  out.near.reserve(along.size());
  for (std::size_t k = 0; k < along.size(); ++k) {
    const std::uint32_t p = out.order[k];
    const Candidate best = parallelogram(places, p, visit);
    if (best.near[0] != never) {
      out.near.push_back(best.near);
      continue;
    }
    edges_of(places, p, edges);
    const std::uint32_t like = nearest(places, p, visit, edges);
    const std::uint32_t before = like != never ? like : out.order[k == 0 ? 0 : k - 1];
    out.near.push_back({before, before, before});
  }
  return out;
}

}  // namespace octavo::mesh
