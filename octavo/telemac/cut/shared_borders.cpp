#include <algorithm>
#include <numeric>

#include "octavo/telemac/cut/shared_mesh.hpp"

namespace octavo::telemac {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Error edge_of_three(const SharedJob& job, const Edge& edge) {
  return Error(Kind::corrupt, "an edge of three elements, between points " + std::to_string(edge.low + 1) + " and " +
                                  std::to_string(edge.high + 1))
      .at(job.series.file->path().string());
}

/// Numbers points by first appearance. `local` has a zero for every point of the set, before and after.
void number_points(std::span<const Moved> elements, const PointSet& set, std::vector<std::int32_t>& local,
                   Growing& growing) {
  Piece& piece = growing.piece;
  std::vector<std::size_t> places;
  for (const Moved& moved : elements)
    for (const std::int32_t corner : moved.corners) {
      const std::size_t i = set.of(corner);
      if (local[i] == 0) {
        piece.points.push_back(corner);
        places.push_back(i);
        local[i] = static_cast<std::int32_t>(places.size());
      }
      piece.connectivity.push_back(local[i]);
    }
  for (const std::size_t i : places) local[i] = 0;
}

/// Local numbers of the border's points.
void find_border_points(Growing& growing) {
  std::vector<bool> on(growing.piece.points.size(), false);
  for (const Edge& edge : growing.border)
    for (const std::int32_t end : {edge.side, (edge.side + 1) % 3})
      on[at(growing.piece.connectivity[at(3 * edge.element + end)] - 1)] = true;
  for (std::size_t i = 0; i < on.size(); ++i)
    if (on[i]) growing.border_points.emplace_back(growing.piece.points[i], static_cast<std::int32_t>(i + 1));
  std::sort(growing.border_points.begin(), growing.border_points.end());
}

/// Pairs edges within the part; what is left over is its border.
void find_border(const SharedJob& job, std::span<const Moved> elements, Growing& growing) {
  struct Side {
    std::uint64_t key;  ///< lower point, higher point
    std::int32_t index;
    bool operator<(const Side& other) const { return key != other.key ? key < other.key : index < other.index; }
  };
  std::vector<Side> sides(3 * elements.size());
  const auto ends = [&](std::int32_t i) {
    const auto& corners = elements[at(i / 3)].corners;
    return std::array{corners[at(i % 3)], corners[at((i + 1) % 3)]};
  };
  for (std::int32_t i = 0; at(i) < sides.size(); ++i) {
    const auto [a, b] = ends(i);
    sides[at(i)] = {static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b)), i};
  }
  std::sort(sides.begin(), sides.end());
  growing.behind.assign(sides.size(), -1);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto [a, b] = ends(sides[i].index);
    const Edge edge{std::min(a, b), std::max(a, b), a, growing.piece.part, sides[i].index / 3, sides[i].index % 3};
    if (i + 1 == sides.size() || sides[i].key != sides[i + 1].key) {
      growing.border.push_back(edge);
      continue;
    }
    if (i + 2 < sides.size() && sides[i].key == sides[i + 2].key) throw edge_of_three(job, edge);
    growing.behind[at(sides[i].index)] = sides[i + 1].index / 3;
    growing.behind[at(sides[i + 1].index)] = sides[i].index / 3;
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
    std::vector<std::int32_t> corners;
    corners.reserve(3 * elements.size());
    for (const Moved& moved : elements) corners.insert(corners.end(), moved.corners.begin(), moved.corners.end());
    const PointSet set(corners, job.points);
    corners = {};
    std::vector<std::int32_t> local(set.points().size(), 0);
    std::size_t begin = 0;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      std::size_t end = begin;
      const std::int32_t part = job.own.first + static_cast<std::int32_t>(p);
      while (end < elements.size() && elements[end].part == part) ++end;
      const auto mine = std::span(elements).subspan(begin, end - begin);
      pieces[p].piece.part = part;
      number_points(mine, set, local, pieces[p]);
      find_border(job, mine, pieces[p]);
      find_border_points(pieces[p]);
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
  auto edges = base::exchange(job.ranks, std::move(to));
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
      if (i + 1 < edges.size() && a.same(edges[i + 1])) throw edge_of_three(job, a);
      answers[job.owner_of_part(a.part)].push_back({a.part, a.element, a.side, b.part, b.element});
      answers[job.owner_of_part(b.part)].push_back({b.part, b.element, b.side, a.part, a.element});
      ++cut_edges;
    }
  });
  for (const Behind& behind : base::exchange(job.ranks, std::move(answers))) {
    Growing& growing = pieces[at(behind.part - job.own.first)];
    auto& halo = growing.halo.try_emplace(behind.element, PieceHalo{behind.element + 1, {-1, -1, -1}, {-1, -1, -1}})
                     .first->second;
    halo.parts[at(behind.side)] = behind.other_part;
    halo.elements[at(behind.side)] = behind.other_element + 1;
  }
  for (Growing& growing : pieces) finish_halo(growing);
  return base::gather(job.ranks, boundary);
}

std::int64_t share_points(const SharedJob& job, std::vector<Growing>& pieces) {
  struct Has {
    std::int32_t point, part;
    auto operator<=>(const Has&) const = default;
  };
  std::vector<std::vector<Has>> to(job.size());
  for (const Growing& growing : pieces) {
    for (const auto& [point, local] : growing.border_points)
      to[job.owner_of_point(point)].push_back({point, growing.piece.part});
  }
  auto all = base::exchange(job.ranks, std::move(to));
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
  auto mine = base::exchange(job.ranks, std::move(answers));
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

}  // namespace octavo::telemac
