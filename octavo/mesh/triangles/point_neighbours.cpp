#include "octavo/mesh/triangles/point_neighbours.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace octavo::mesh {
namespace {

using Near = std::array<std::uint32_t, 3>;
constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// The mesh by places. Every point of a triangle lists the two others, the lower one first. PointPlaces follow a curve,
/// so neighbours in the mesh are near each other in memory.
struct PointPlaces {
  std::vector<double> x, y;
  std::vector<std::uint32_t> first;  ///< of each place: where its pairs begin
  std::vector<Pair> pairs;

  std::span<const Pair> around(std::uint32_t p) const {
    return std::span(pairs).subspan(first[p], first[p + 1] - first[p]);
  }
  double square(std::uint32_t p, std::uint32_t q) const {
    const double dx = x[p] - x[q], dy = y[p] - y[q];
    return dx * dx + dy * dy;
  }
};

/// A triangle that is there a thousand times is looked at once.
void leave_out_repeats(PointPlaces& places) {
  std::uint32_t begin = 0, kept = 0;
  for (std::size_t p = 0; p + 1 < places.first.size(); ++p) {
    const auto first = places.pairs.begin() + begin, last = places.pairs.begin() + places.first[p + 1];
    std::sort(first, last);
    const auto end = std::unique(first, last);
    std::move(first, end, places.pairs.begin() + kept);
    begin = places.first[p + 1];
    kept += static_cast<std::uint32_t>(end - first);
    places.first[p + 1] = kept;
  }
  places.pairs.resize(kept);
}

PointPlaces places_of(const Unstructured& mesh, std::span<const std::uint32_t> along) {
  PointPlaces out;
  std::vector<std::uint32_t> place(along.size());
  out.x.reserve(along.size());
  out.y.reserve(along.size());
  for (std::uint32_t p = 0; p < along.size(); ++p) {
    place[along[p]] = p;
    out.x.push_back(mesh.x[along[p]]);
    out.y.push_back(mesh.y[along[p]]);
  }
  const auto at = [&](std::size_t i) { return place[static_cast<std::size_t>(mesh.connectivity[i])]; };
  out.first.assign(along.size() + 1, 0);
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) ++out.first[at(i) + 1];
  for (std::size_t p = 0; p < along.size(); ++p) out.first[p + 1] += out.first[p];
  out.pairs.resize(mesh.connectivity.size());
  for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t u = at(t + (i + 1) % 3), v = at(t + (i + 2) % 3);
      out.pairs[out.first[at(t + i)]++] = std::minmax(u, v);
    }
  // Each beginning has moved to the next one's.
  std::copy_backward(out.first.begin(), out.first.end() - 1, out.first.end());
  out.first[0] = 0;
  leave_out_repeats(out);
  return out;
}

/// Pairs looked at for each corner of a triangle, on the whole: a mesh of simulations takes 6, a book of N pages on one
/// edge N.
constexpr std::uint64_t most_looks = 256;

/// A parallelogram, and the square of its distance from the point. Equal ones are ordered by their corners.
struct Parallelogram {
  double miss = 0;
  Near near{never, never, never};
  void consider(double other, const Near& corners) {
    if (near[0] != never && !(other < miss || (other == miss && corners < near))) return;
    miss = other;
    near = corners;
  }
};

/// `work` is what pairs may be looked at; it is 0 where they do not suffice.
Parallelogram parallelogram(const PointPlaces& places, std::uint32_t p, std::span<const std::uint32_t> visit,
                            std::uint64_t& work) {
  Parallelogram best;
  for (const auto& [u, v] : places.around(p)) {
    if (visit[u] >= visit[p] || visit[v] >= visit[p]) continue;
    // Both have the triangles of u with v; one may be the hub of many others.
    const bool by_u = places.around(u).size() <= places.around(v).size();
    const std::uint32_t here = by_u ? u : v, there = by_u ? v : u;
    work -= std::min<std::uint64_t>(work, places.around(here).size());
    if (work == 0) return {};
    for (const Pair& beyond : places.around(here)) {
      if (beyond.first != there && beyond.second != there) continue;
      const std::uint32_t w = beyond.first == there ? beyond.second : beyond.first;
      if (visit[w] >= visit[p]) continue;
      const double dx = places.x[u] + places.x[v] - places.x[w] - places.x[p];
      const double dy = places.y[u] + places.y[v] - places.y[w] - places.y[p];
      best.consider(dx * dx + dy * dy, {u, v, w});
    }
  }
  if (best.near[0] != never && places.square(p, best.near[1]) < places.square(p, best.near[0]))
    std::swap(best.near[0], best.near[1]);
  return best;
}

/// The nearest that was visited before, of equals the lowest; `never` where none was.
std::uint32_t nearest(const PointPlaces& places, std::uint32_t p, std::span<const std::uint32_t> visit) {
  std::uint32_t best = never;
  double least = 0;
  for (const Pair& pair : places.around(p))
    for (const std::uint32_t q : {pair.first, pair.second}) {
      if (visit[q] >= visit[p]) continue;
      const double square = places.square(p, q);
      if (best != never && !(square < least || (square == least && q < best))) continue;
      best = q;
      least = square;
    }
  return best;
}

/// Breadth first; edges to lower places first.
std::vector<std::uint32_t> breadth_first(const PointPlaces& places, std::vector<std::uint32_t>& visit) {
  std::vector<std::uint32_t> order, found;
  order.reserve(visit.size());
  const auto reach = [&](std::uint32_t p) {
    if (visit[p] != never) return;
    visit[p] = static_cast<std::uint32_t>(order.size());
    order.push_back(p);
  };
  std::size_t next = 0;
  for (std::uint32_t root = 0; root < visit.size(); ++root)
    for (reach(root); next < order.size(); ++next) {
      found.clear();
      for (const Pair& pair : places.around(order[next]))
        for (const std::uint32_t q : {pair.first, pair.second})
          if (visit[q] == never) found.push_back(q);
      std::sort(found.begin(), found.end());
      std::for_each(found.begin(), found.end(), reach);
    }
  return order;
}

}  // namespace

PointNeighbours neighbours_along(const Unstructured& mesh, std::span<const std::uint32_t> along) {
  const PointPlaces places = places_of(mesh, along);
  std::vector<std::uint32_t> visit(along.size(), never);
  PointNeighbours out;
  out.order = breadth_first(places, visit);
  out.near.reserve(along.size());
  std::uint64_t work = (places.pairs.size() + 1) * most_looks;
  for (std::size_t k = 0; k < along.size(); ++k) {
    const std::uint32_t p = out.order[k];
    const Parallelogram best = parallelogram(places, p, visit, work);
    if (work == 0) return {};
    if (best.near[0] != never) {
      out.near.push_back(best.near);
      continue;
    }
    const std::uint32_t like = nearest(places, p, visit);
    const std::uint32_t before = like != never ? like : out.order[k == 0 ? 0 : k - 1];
    out.near.push_back({before, before, before});
  }
  return out;
}

}  // namespace octavo::mesh
