#include <algorithm>
#include <numeric>

#include "octavo/jobs/shared_mesh.hpp"

namespace octavo::jobs {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Error edge_of_three(const Edge& edge) {
  return {Kind::corrupt, "an edge of three elements, between points " + std::to_string(edge.low + 1) + " and " +
                             std::to_string(edge.high + 1)};
}

void number_points(std::span<const Moved> elements, Growing& growing) {
  auto& by_point = growing.by_point;
  for (std::size_t i = 0; i < 3 * elements.size(); ++i)
    by_point.emplace_back(elements[i / 3].corners[i % 3], static_cast<std::int32_t>(i));
  std::sort(by_point.begin(), by_point.end());
  by_point.erase(
      std::unique(by_point.begin(), by_point.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      by_point.end());
  std::vector<std::size_t> order(by_point.size());  // by first appearance
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return by_point[a].second < by_point[b].second; });
  for (const std::size_t i : order) {
    growing.piece.points.push_back(by_point[i].first);
    by_point[i].second = static_cast<std::int32_t>(growing.piece.points.size());
  }
  for (const Moved& moved : elements)
    for (const std::int32_t corner : moved.corners) growing.piece.connectivity.push_back(growing.local(corner));
}

/// Pairs edges within the part; what is left over is its border.
void find_border(std::span<const Moved> elements, Growing& growing) {
  std::vector<Edge> edges;
  for (std::size_t e = 0; e < elements.size(); ++e)
    for (std::size_t side = 0; side < 3; ++side) {
      const std::int32_t a = elements[e].corners[side], b = elements[e].corners[(side + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), a, elements[e].part, static_cast<std::int32_t>(e),
                       static_cast<std::int32_t>(side)});
    }
  std::sort(edges.begin(), edges.end());
  growing.behind.assign(edges.size(), -1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i + 1 == edges.size() || !edges[i].same(edges[i + 1])) {
      growing.border.push_back(edges[i]);
      continue;
    }
    if (i + 2 < edges.size() && edges[i].same(edges[i + 2])) throw edge_of_three(edges[i]);
    growing.behind[at(3 * edges[i].element + edges[i].side)] = edges[i + 1].element;
    growing.behind[at(3 * edges[i + 1].element + edges[i + 1].side)] = edges[i].element;
    ++i;
  }
}

/// What lies behind a border edge: told to the part that has it.
struct Behind {
  std::int32_t part, element, side, other_part, other_element;
};

void finish_halo(Growing& growing) {
  for (auto& [element, halo] : growing.halo) {
    for (std::size_t side = 0; side < 3; ++side)
      if (const std::int32_t behind = growing.behind[at(3 * element) + side]; behind >= 0) {
        halo.parts[side] = growing.piece.part;
        halo.elements[side] = behind + 1;
      }
    growing.piece.halo.push_back(halo);
  }
}

}  // namespace

std::vector<Growing> make_pieces(const SharedJob& job, const std::vector<Moved>& elements) {
  std::vector<Growing> pieces(at(job.own.last - job.own.first));
  base::agree(job.ranks, [&] {
    std::size_t begin = 0;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      std::size_t end = begin;
      const std::int32_t part = job.own.first + static_cast<std::int32_t>(p);
      while (end < elements.size() && elements[end].part == part) ++end;
      const auto mine = std::span(elements).subspan(begin, end - begin);
      pieces[p].piece.part = part;
      number_points(mine, pieces[p]);
      find_border(mine, pieces[p]);
      begin = end;
    }
  });
  return pieces;
}

std::vector<partition::BoundaryEdge> pair_borders(const SharedJob& job, std::vector<Growing>& pieces,
                                                  std::int64_t& cut_edges) {
  std::vector<std::vector<Edge>> to(job.size());
  for (const Growing& growing : pieces)
    for (const Edge& edge : growing.border) to[job.owner_of_point(edge.low)].push_back(edge);
  auto edges = exchange(job.ranks, std::move(to));
  std::sort(edges.begin(), edges.end());
  std::vector<partition::BoundaryEdge> boundary;
  std::vector<std::vector<Behind>> answers(job.size());
  base::agree(job.ranks, [&] {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& a = edges[i];
      if (i + 1 == edges.size() || !a.same(edges[i + 1])) {
        boundary.push_back({a.from, a.from == a.low ? a.high : a.low, a.part});
        continue;
      }
      const Edge& b = edges[++i];
      if (i + 1 < edges.size() && a.same(edges[i + 1])) throw edge_of_three(a);
      answers[job.owner_of_part(a.part)].push_back({a.part, a.element, a.side, b.part, b.element});
      answers[job.owner_of_part(b.part)].push_back({b.part, b.element, b.side, a.part, a.element});
      ++cut_edges;
    }
  });
  for (const Behind& behind : exchange(job.ranks, std::move(answers))) {
    Growing& growing = pieces[at(behind.part - job.own.first)];
    auto& halo = growing.halo.try_emplace(behind.element, PieceHalo{behind.element + 1, {-1, -1, -1}, {-1, -1, -1}})
                     .first->second;
    halo.parts[at(behind.side)] = behind.other_part;
    halo.elements[at(behind.side)] = behind.other_element + 1;
  }
  for (Growing& growing : pieces) finish_halo(growing);
  return gather(job.ranks, boundary);
}

std::int64_t share_points(const SharedJob& job, std::vector<Growing>& pieces) {
  struct Has {
    std::int32_t point, part;
    auto operator<=>(const Has&) const = default;
  };
  std::vector<std::vector<Has>> to(job.size());
  for (const Growing& growing : pieces) {
    std::vector<std::int32_t> points;
    for (const Edge& edge : growing.border) points.insert(points.end(), {edge.low, edge.high});
    sort_unique(points);
    for (const std::int32_t point : points) to[job.owner_of_point(point)].push_back({point, growing.piece.part});
  }
  auto all = exchange(job.ranks, std::move(to));
  std::sort(all.begin(), all.end());
  struct Shared {
    std::int32_t part, point, other;
    auto operator<=>(const Shared&) const = default;
  };
  std::vector<std::vector<Shared>> answers(job.size());
  std::int64_t count = 0;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].point == all[begin].point) ++end;
    count += end - begin > 1;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t k = begin; k < end; ++k)
        if (i != k) answers[job.owner_of_part(all[i].part)].push_back({all[i].part, all[i].point, all[k].part});
  }
  auto mine = exchange(job.ranks, std::move(answers));
  std::sort(mine.begin(), mine.end());
  for (Growing& growing : pieces) growing.piece.shared_first.push_back(0);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Growing& growing = pieces[at(mine[i].part - job.own.first)];
    const bool begins = i == 0 || mine[i].part != mine[i - 1].part || mine[i].point != mine[i - 1].point;
    if (begins) {
      growing.piece.shared.push_back(growing.local(mine[i].point));
      growing.piece.shared_first.push_back(0);
    }
    growing.piece.sharers.push_back(mine[i].other);
    growing.piece.shared_first.back() = static_cast<std::int64_t>(growing.piece.sharers.size());
  }
  return count;
}

}  // namespace octavo::jobs
