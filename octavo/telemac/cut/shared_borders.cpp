#include <algorithm>

#include "octavo/base/at.hpp"
#include "octavo/partition/graph.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"

namespace octavo::telemac {
namespace {

using base::at;
using base::Error;
using base::Kind;

Error edge_of_three(const SharedJob& job, std::int32_t low, std::int32_t high) {
  Error error(Kind::corrupt, "an edge of three elements, between points " + std::to_string(low + 1) + " and " +
                                 std::to_string(high + 1));
  if (job.series.file) error.at(job.series.file->path().string());  // a step of a store has none
  return error;
}

/// Numbers points by first appearance. `local` has a zero for every point of the set, before and after.
void number_points(std::span<const Moved> elements, const PointSet& set, std::vector<std::int32_t>& local,
                   GrowingPiece& growing) {
  Piece& piece = growing.piece;
  std::vector<std::size_t> places;
  piece.connectivity.reserve(3 * elements.size());
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
void find_border_points(GrowingPiece& growing) {
  std::vector<bool> on(growing.piece.points.size(), false);
  for (const Edge& edge : growing.border) {
    if (edge.element < 0) continue;
    for (const std::int32_t end : {edge.side, (edge.side + 1) % 3})
      on[at(growing.piece.connectivity[at(3 * edge.element + end)] - 1)] = true;
  }
  for (std::size_t i = 0; i < on.size(); ++i)
    if (on[i]) growing.border_points.emplace_back(growing.piece.points[i], static_cast<std::int32_t>(i + 1));
  std::sort(growing.border_points.begin(), growing.border_points.end());
}

/// Throws Error(corrupt) if two elements of the part have an edge that a third one has on its border. Another part may
/// have the third one: edges between points of the border are added to the border without an element.
void require_two_elements(const SharedJob& job, GrowingPiece& growing, const std::vector<std::int32_t>& behind) {
  const std::vector<std::int32_t>& corners = growing.piece.connectivity;
  const auto ends = [&](std::size_t side) {
    return std::minmax(corners[side], corners[side % 3 == 2 ? side - 2 : side + 1]);
  };
  std::vector<bool> on(growing.piece.points.size() + 1, false);
  std::vector<std::pair<std::int32_t, std::int32_t>> border;
  for (const Edge& edge : growing.border) {
    border.emplace_back(ends(at(3 * edge.element + edge.side)));
    on[at(border.back().first)] = on[at(border.back().second)] = true;
  }
  std::sort(border.begin(), border.end());
  for (std::size_t side = 0; side < behind.size(); ++side) {
    const std::pair<std::int32_t, std::int32_t> found = ends(side);
    if (behind[side] < 0 || !on[at(found.first)] || !on[at(found.second)]) continue;
    const auto [low, high] =
        std::minmax(growing.piece.points[at(found.first - 1)], growing.piece.points[at(found.second - 1)]);
    if (std::binary_search(border.begin(), border.end(), found)) throw edge_of_three(job, low, high);
    if (behind[side] > static_cast<std::int32_t>(side / 3))
      growing.border.push_back({low, high, -1, growing.piece.part, -1, -1});
  }
}

/// Finds what lies behind the sides of the part's elements within the part. Sides with nothing behind are its border.
void find_border(const SharedJob& job, std::span<const Moved> elements, GrowingPiece& growing) {
  const Piece& piece = growing.piece;
  // Local numbers begin at 1: one more of them.
  const auto behind = partition::find_behind(piece.connectivity, static_cast<std::int32_t>(piece.points.size()) + 1);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const std::array<std::int32_t, 3> here{behind[3 * e], behind[3 * e + 1], behind[3 * e + 2]};
    if (*std::min_element(here.begin(), here.end()) >= 0) continue;
    const auto element = static_cast<std::int32_t>(e);
    growing.along.push_back({element, here});
    for (std::int32_t side = 0; side < 3; ++side) {
      if (here[at(side)] >= 0) continue;
      const std::int32_t from = elements[e].corners[at(side)], to = elements[e].corners[at((side + 1) % 3)];
      growing.border.push_back({std::min(from, to), std::max(from, to), from, piece.part, element, side});
    }
  }
  require_two_elements(job, growing, behind);
}

/// The element behind a border edge: told to the part that has it.
struct Behind {
  std::int32_t part, element, side, other_part, other_element;
};

void finish_halo(GrowingPiece& growing) {
  auto along = growing.along.begin();
  for (auto& [element, halo] : growing.halo) {
    while (along->element < element) ++along;
    for (std::size_t side = 0; side < 3; ++side)
      if (const std::int32_t behind = along->elements[side]; behind >= 0) {
        halo.parts[side] = growing.piece.part;
        halo.elements[side] = behind + 1;
      }
    growing.piece.halo.push_back(halo);
  }
}

}  // namespace

std::vector<GrowingPiece> make_pieces(const SharedJob& job, const std::vector<Moved>& elements) {
  std::vector<GrowingPiece> pieces(at(job.own.last - job.own.first));
  base::agree(job.ranks, [&] {
    std::vector<bool> has(at(job.points), false);
    for (const Moved& moved : elements)
      for (const std::int32_t corner : moved.corners) has[at(corner)] = true;
    const PointSet set(has);
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

std::vector<partition::BoundaryEdge> pair_borders(const SharedJob& job, std::vector<GrowingPiece>& pieces,
                                                  std::int64_t& cut_edges) {
  std::vector<std::vector<Edge>> to(job.size());
  for (const GrowingPiece& growing : pieces)
    for (const Edge& edge : growing.border) to[job.owner_of_point(edge.low)].push_back(edge);
  auto edges = base::exchange(job.ranks, std::move(to));
  std::sort(edges.begin(), edges.end());
  std::vector<partition::BoundaryEdge> boundary;
  std::vector<std::vector<Behind>> answers(job.size());
  base::agree(job.ranks, [&] {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& a = edges[i];
      // An edge of one element is the mesh's boundary, an edge of elements of two parts is cut. An entry without an
      // element is an edge inside of a part: alone it says nothing; with another entry the edge has three elements.
      if (i + 1 == edges.size() || !a.same(edges[i + 1])) {
        if (a.element >= 0) boundary.push_back({a.from, a.from == a.low ? a.high : a.low, a.part});
        continue;
      }
      const Edge& b = edges[++i];
      const bool third = i + 1 < edges.size() && a.same(edges[i + 1]);
      if (third || a.element < 0 || b.element < 0) throw edge_of_three(job, a.low, a.high);
      answers[job.owner_of_part(a.part)].push_back({a.part, a.element, a.side, b.part, b.element});
      answers[job.owner_of_part(b.part)].push_back({b.part, b.element, b.side, a.part, a.element});
      ++cut_edges;
    }
  });
  for (const Behind& behind : base::exchange(job.ranks, std::move(answers))) {
    GrowingPiece& growing = pieces[at(behind.part - job.own.first)];
    auto& halo = growing.halo.try_emplace(behind.element, PieceHalo{behind.element + 1, {-1, -1, -1}, {-1, -1, -1}})
                     .first->second;
    halo.parts[at(behind.side)] = behind.other_part;
    halo.elements[at(behind.side)] = behind.other_element + 1;
  }
  for (GrowingPiece& growing : pieces) finish_halo(growing);
  return base::gather(job.ranks, boundary);
}

std::int64_t share_points(const SharedJob& job, std::vector<GrowingPiece>& pieces) {
  struct Has {
    std::int32_t point, part;
    auto operator<=>(const Has&) const = default;
  };
  std::vector<std::vector<Has>> to(job.size());
  for (const GrowingPiece& growing : pieces) {
    for (const auto& [point, local] : growing.border_points)
      to[job.owner_of_point(point)].push_back({point, growing.piece.part});
  }
  auto all = base::exchange(job.ranks, std::move(to));
  std::sort(all.begin(), all.end());
  struct SharedPoint {
    std::int32_t part, point, other;
    auto operator<=>(const SharedPoint&) const = default;
  };
  std::vector<std::vector<SharedPoint>> answers(job.size());
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
  for (GrowingPiece& growing : pieces) growing.piece.shared_first.push_back(0);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    GrowingPiece& growing = pieces[at(mine[i].part - job.own.first)];
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
