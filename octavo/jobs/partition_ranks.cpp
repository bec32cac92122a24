#include "octavo/jobs/partition_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/liquid.hpp"
#include "octavo/jobs/cut_mesh.hpp"
#include "octavo/jobs/cut_steps.hpp"
#include "octavo/jobs/piece_text.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// ------------------------------------------------------------------------------------------------------------ exchange

template <class T>
std::string to_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
void append(std::vector<T>& values, const std::string& bytes) {
  const std::size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

/// Everybody's values, by rank.
template <class T>
std::vector<T> gather(const base::Ranks& ranks, const std::vector<T>& mine) {
  std::vector<T> all;
  for (const std::string& bytes : base::all_gather(ranks, to_bytes(mine))) append(all, bytes);
  return all;
}

/// Sends each rank its values; gives what came, by sender.
template <class T>
std::vector<T> exchange(const base::Ranks& ranks, std::vector<std::vector<T>> to) {
  std::vector<std::string> bytes;
  for (auto& values : to) {
    bytes.push_back(to_bytes(values));
    values = {};
  }
  std::vector<T> all;
  for (std::string& some : base::all_to_all(ranks, std::move(bytes))) append(all, some);
  return all;
}

/// [first, last) of `count` things that are a rank's.
std::array<std::int64_t, 2> share(std::int64_t count, std::int64_t rank, std::int64_t size) {
  return {count * rank / size, count * (rank + 1) / size};
}
/// Whose the i-th is.
std::size_t owner(std::int64_t i, std::int64_t count, std::int64_t size) { return at(((i + 1) * size - 1) / count); }

// -------------------------------------------------------------------------------------------------------- the elements

/// Coordinates of some points, which ascend.
struct Places {
  std::vector<std::int32_t> points;
  std::vector<double> x, y;
  std::size_t of(std::int32_t point) const {
    return at(std::lower_bound(points.begin(), points.end(), point) - points.begin());
  }
};

void sort_unique(std::vector<std::int32_t>& points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
}

/// Reads the coordinates through, and keeps those.
Places read_places(const serafin::Series& series, std::vector<std::int32_t> points) {
  Places places{std::move(points), {}, {}};
  constexpr std::int32_t batch = 1 << 16;
  const std::int32_t total = serafin::plane_points(series.header);
  std::vector<double> some;
  for (const int axis : {0, 1}) {
    auto& kept = axis == 0 ? places.x : places.y;
    kept.reserve(places.points.size());
    for (std::int32_t first = 0; first < total; first += batch) {
      const auto begin = std::lower_bound(places.points.begin(), places.points.end(), first);
      const auto end = std::lower_bound(begin, places.points.end(), std::int64_t{first} + batch);
      if (begin == end) continue;
      some.resize(at(std::min(batch, total - first)));
      serafin::read_coordinates(series, axis, first, some);
      for (auto point = begin; point != end; ++point) kept.push_back(some[at(*point - first)]);
    }
  }
  return places;
}

/// An element on its way to its part.
struct Moved {
  std::int32_t part, element;
  std::array<std::int32_t, 3> corners;
  bool operator<(const Moved& other) const { return part != other.part ? part < other.part : element < other.element; }
};

struct Job {
  const base::Ranks& ranks;
  const serafin::Series& series;
  const PartitionOptions& options;
  std::int32_t points = 0;
  std::int64_t elements = 0;
  PieceWriter::Own own;
  std::size_t size() const { return at(ranks.size); }
  std::size_t owner_of_part(std::int32_t part) const { return owner(part, options.parts, ranks.size); }
  std::size_t owner_of_point(std::int32_t point) const { return owner(point, points, ranks.size); }
};

/// Every point must be in an element: bits for those who own the points.
void require_all_used(const Job& job, const std::vector<std::int32_t>& used) {
  std::vector<std::vector<std::int32_t>> to(job.size());
  for (const std::int32_t point : used) to[job.owner_of_point(point)].push_back(point);
  const auto mine = exchange(job.ranks, std::move(to));
  base::agree(job.ranks, [&] {
    const auto [first, last] = share(job.points, job.ranks.rank, job.ranks.size);
    std::vector<bool> seen(at(last - first), false);
    for (const std::int32_t point : mine) seen[at(point - first)] = true;
    const auto unused = std::find(seen.begin(), seen.end(), false);
    if (unused != seen.end())
      throw Error(Kind::corrupt,
                  "point " + std::to_string(first + (unused - seen.begin()) + 1) + " belongs to no element")
          .at(job.series.file->path().string());
  });
}

std::array<float, 2> centre(const Places& places, const std::int32_t* corners) {
  double x = 0, y = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    x += places.x[places.of(corners[k])];
    y += places.y[places.of(corners[k])];
  }
  return {static_cast<float>(x / 3), static_cast<float>(y / 3)};
}

/// This rank's parts, element by element.
std::vector<Moved> move_elements(const Job& job) {
  const auto [first, last] = share(job.elements, job.ranks.rank, job.ranks.size);
  std::vector<std::int32_t> triangles;
  Places places;
  base::agree(job.ranks, [&, first = first, last = last] {
    triangles = serafin::read_triangles(job.series, first, last - first);
    std::vector<std::int32_t> used = triangles;
    sort_unique(used);
    places = read_places(job.series, std::move(used));
  });
  require_all_used(job, places.points);
  const std::int64_t stride = partition::InertialCuts::stride(job.elements, job.options.parts);
  std::vector<float> x, y;
  for (std::int64_t e = (first + stride - 1) / stride * stride; e < last; e += stride) {
    const auto [cx, cy] = centre(places, &triangles[at(3 * (e - first))]);
    x.push_back(cx);
    y.push_back(cy);
  }
  const partition::InertialCuts cuts(gather(job.ranks, x), gather(job.ranks, y), job.options.parts);
  std::vector<std::vector<Moved>> to(job.size());
  for (std::int64_t e = first; e < last; ++e) {
    const std::int32_t* corners = &triangles[at(3 * (e - first))];
    std::int32_t part = 0;
    if (stride == 1) {
      part = cuts.parts()[at(e)];
    } else {
      const auto [cx, cy] = centre(places, corners);
      part = cuts.part_at(cx, cy);
    }
    to[job.owner_of_part(part)].push_back({part, static_cast<std::int32_t>(e), {corners[0], corners[1], corners[2]}});
  }
  triangles = {};
  places = {};
  auto mine = exchange(job.ranks, std::move(to));
  std::sort(mine.begin(), mine.end());
  return mine;
}

// ---------------------------------------------------------------------------------------------------------- the pieces

/// An edge that an element of this rank's parts has, local elements from 0.
struct Edge {
  std::int32_t low, high, from, part, element, side;
  bool operator<(const Edge& other) const {
    return std::tie(low, high, part, element) < std::tie(other.low, other.high, other.part, other.element);
  }
  bool same(const Edge& other) const { return low == other.low && high == other.high; }
};

Error edge_of_three(const Edge& edge) {
  return {Kind::corrupt, "an edge of three elements, between points " + std::to_string(edge.low + 1) + " and " +
                             std::to_string(edge.high + 1)};
}

/// What a piece needs until it is whole.
struct Growing {
  Piece piece;
  std::vector<std::int32_t> behind;        ///< elements of the part behind each side, local from 0; -1: none of them
  std::vector<Edge> border;                ///< edges of one element of the part
  std::map<std::int32_t, PieceHalo> halo;  ///< by local element from 0
  std::int32_t local(std::int32_t point) const {  ///< from 1
    const auto found = std::lower_bound(by_point.begin(), by_point.end(), std::pair(point, std::int32_t{0}));
    return found->second;
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> by_point;  ///< point, local number
};

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

std::vector<Growing> make_pieces(const Job& job, const std::vector<Moved>& elements) {
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

/// What lies behind a border edge: told to the part that has it.
struct Behind {
  std::int32_t part, element, side, other_part, other_element;
};

/// Border edges meet where their lower points are owned. Gives those that no part has on the other side.
std::vector<partition::BoundaryEdge> pair_borders(const Job& job, std::vector<Growing>& pieces,
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
  return gather(job.ranks, boundary);
}

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

/// Points of borders meet where they are owned; parts are told with whom they share them.
std::int64_t share_points(const Job& job, std::vector<Growing>& pieces) {
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

// -------------------------------------------------------------------------------------------------------- the boundary

using Ranked = std::vector<std::pair<std::int32_t, std::int32_t>>;  ///< point and rank from 1, by point

/// IPOBO of a rank's share of points, and whether any of all is not zero.
std::vector<std::int32_t> read_own_numbers(const Job& job, std::int64_t& numbered) {
  const auto [first, last] = share(job.points, job.ranks.rank, job.ranks.size);
  std::vector<std::int32_t> own(at(last - first));
  base::agree(job.ranks, [&, first = first] { serafin::read_numbers(job.series, first, own); });
  const auto counts =
      gather(job.ranks,
             std::vector<std::int64_t>{std::count_if(own.begin(), own.end(), [](std::int32_t n) { return n != 0; })});
  numbered = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  return own;
}

Ranked ranked(const std::vector<std::int32_t>& points) {
  Ranked result;
  for (std::size_t k = 0; k < points.size(); ++k) result.emplace_back(points[k], static_cast<std::int32_t>(k + 1));
  std::sort(result.begin(), result.end());
  return result;
}

std::int32_t rank_of(const Ranked& ranks, std::int32_t point) {
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), std::pair(point, std::int32_t{0}));
  return found == ranks.end() || found->first != point ? 0 : found->second;
}

void require_agreement(const Job& job, const Ranked& ranks, const std::vector<std::int32_t>& own,
                       std::int64_t numbered) {
  base::agree(job.ranks, [&] {
    const std::int64_t first = share(job.points, job.ranks.rank, job.ranks.size)[0];
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto point = static_cast<std::int32_t>(first + static_cast<std::int64_t>(i));
      if ((own[i] != 0) != (rank_of(ranks, point) != 0))
        throw Error(Kind::corrupt, "point " + std::to_string(point + 1) + " is on the boundary by " +
                                       (own[i] != 0 ? "IPOBO" : "the boundary file") +
                                       " only: " + std::to_string(numbered) + " points by IPOBO, " +
                                       std::to_string(ranks.size()) + " lines in the boundary file")
            .at(job.series.file->path().string());
    }
  });
}

CutBoundary read_boundary(const Job& job, const std::vector<partition::BoundaryEdge>& edges) {
  CutBoundary boundary;
  base::agree(job.ranks, [&] {
    boundary.points = serafin::read_boundary(*job.options.boundary, job.points);
    std::vector<std::int32_t> points;
    for (const serafin::BoundaryPoint& p : boundary.points) points.push_back(p.point - 1);
    std::vector<std::int32_t> sorted = points;
    sort_unique(sorted);
    const Places places = read_places(job.series, std::move(sorted));
    for (const std::int32_t point : points) {
      boundary.x.push_back(places.x[places.of(point)]);
      boundary.y.push_back(places.y[places.of(point)]);
    }
    try {
      boundary.contour = partition::link_edges(edges, points);
      boundary.liquid = serafin::number_liquid(boundary.points, boundary.contour.next, boundary.x, boundary.y);
    } catch (Error& error) {
      error.at(job.options.boundary->string());
      throw;
    }
  });
  boundary.edge_part = boundary.contour.element;  // the edges name parts, not elements
  return boundary;
}

/// Without a boundary file and without numbers in the mesh.
Ranked find_lost_ranks(const Job& job, const std::vector<partition::BoundaryEdge>& edges) {
  Ranked found;
  base::agree(job.ranks, [&] {
    std::vector<std::int32_t> points;
    for (const partition::BoundaryEdge& edge : edges) points.push_back(edge.from);
    sort_unique(points);
    const Places places = read_places(job.series, points);
    found = ranked(partition::order_boundary(points, partition::link_edges(edges, points), places.x, places.y));
  });
  return found;
}

/// Ranks of boundary points by the mesh's own numbers: only whether there is one matters for pieces.
Ranked gather_numbers(const Job& job, const std::vector<std::int32_t>& own) {
  const std::int64_t first = share(job.points, job.ranks.rank, job.ranks.size)[0];
  std::vector<std::array<std::int32_t, 2>> some;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != 0) some.push_back({static_cast<std::int32_t>(first + static_cast<std::int64_t>(i)), own[i]});
  Ranked all;
  for (const auto& [point, rank] : gather(job.ranks, some)) all.emplace_back(point, rank);
  return all;
}

void add_boundary(const Job& job, const std::vector<partition::BoundaryEdge>& edges, std::vector<Growing>& pieces,
                  PartitionReport& report) {
  std::int64_t numbered = 0;
  const auto own = read_own_numbers(job, numbered);
  if (numbered == 0) report.notes.push_back("IPOBO is zero everywhere: the boundary was found from the mesh");
  std::optional<CutBoundary> boundary;
  Ranked ranks;
  if (job.options.boundary) {
    boundary = read_boundary(job, edges);
    std::vector<std::int32_t> points;
    for (const serafin::BoundaryPoint& p : boundary->points) points.push_back(p.point - 1);
    ranks = ranked(points);
    if (numbered != 0) require_agreement(job, ranks, own, numbered);
  } else {
    ranks = numbered == 0 ? find_lost_ranks(job, edges) : gather_numbers(job, own);
  }
  for (Growing& growing : pieces) {
    std::vector<std::array<std::int32_t, 2>> here;  // position on the boundary, local number
    for (std::size_t i = 0; i < growing.piece.points.size(); ++i)
      if (const std::int32_t rank = rank_of(ranks, growing.piece.points[i]); rank != 0)
        here.push_back({rank - 1, static_cast<std::int32_t>(i + 1)});
    growing.piece.boundary_points = static_cast<std::int32_t>(here.size());
    if (!boundary) continue;
    std::sort(here.begin(), here.end());
    for (const auto& [k, local] : here)
      growing.piece.boundary.push_back(boundary_point(*boundary, growing.piece.part, k, local));
  }
}

void add_places(const Job& job, std::vector<Growing>& pieces) {
  std::vector<std::int32_t> points;
  for (const Growing& growing : pieces)
    points.insert(points.end(), growing.piece.points.begin(), growing.piece.points.end());
  sort_unique(points);
  base::agree(job.ranks, [&] {
    const Places places = read_places(job.series, std::move(points));
    for (Growing& growing : pieces)
      for (const std::int32_t point : growing.piece.points) {
        growing.piece.x.push_back(places.x[places.of(point)]);
        growing.piece.y.push_back(places.y[places.of(point)]);
      }
  });
}

// -------------------------------------------------------------------------------------------------------------- files

fs::path named(const fs::path& prefix, const std::string& name) { return prefix.string() + name; }

/// Pieces of a SERAFIN file: all parts are planned by what they count, the own ones written.
void write_series(const Job& job, const fs::path& path, const fs::path& prefix, const std::vector<Growing>& pieces,
                  PartitionReport& report) {
  serafin::Series series;
  base::agree(job.ranks, [&] {
    series = serafin::open_series(path);
    require_same_mesh(series, job.points);
  });
  std::vector<std::array<std::int32_t, 4>> counts;
  for (const Growing& g : pieces)
    counts.push_back({static_cast<std::int32_t>(g.piece.points.size()),
                      static_cast<std::int32_t>(g.piece.connectivity.size() / 3), g.piece.boundary_points,
                      static_cast<std::int32_t>(g.piece.shared.size())});
  counts = gather(job.ranks, counts);
  PieceWriter writer(prefix, job.options.parts, job.options.layout, IndexKind::bytes, job.own);
  std::vector<PiecePlace> own;
  base::agree(job.ranks, [&] {
    for (std::int32_t part = 0; part < job.options.parts; ++part) {
      const serafin::Header header = piece_header(series.header, counts[at(part)]);
      PiecePlace place = writer.next(piece_bytes(header, series.steps), 0);
      place.header = header;
      if (part >= job.own.first && part < job.own.last) own.push_back(std::move(place));
    }
  });
  base::agree(job.ranks, [&] {
    Buckets points;
    points.first.push_back(0);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Piece& piece = pieces[p].piece;
      writer.put(own[p], 0, encode_piece(own[p].header, piece, job.points));
      points.items.insert(points.items.end(), piece.points.begin(), piece.points.end());
      points.first.push_back(static_cast<std::int64_t>(points.items.size()));
    }
    cut_steps(series, writer, own, points, job.options.progress);
    for (fs::path& file : writer.finish()) report.files.push_back(std::move(file));
  });
}

void write_texts(const Job& job, const fs::path& prefix, IndexKind kind, std::string (*text_of)(const Piece&),
                 const std::vector<Growing>& pieces, PartitionReport& report) {
  std::vector<std::string> texts;
  std::vector<std::array<std::int64_t, 2>> sizes;
  base::agree(job.ranks, [&] {
    for (const Growing& growing : pieces) {
      texts.push_back(text_of(growing.piece));
      sizes.push_back(
          {static_cast<std::int64_t>(texts.back().size()), std::count(texts.back().begin(), texts.back().end(), '\n')});
    }
  });
  sizes = gather(job.ranks, sizes);
  PieceWriter writer(prefix, job.options.parts, job.options.layout, kind, job.own);
  std::vector<PiecePlace> places;
  base::agree(job.ranks, [&] {
    for (const auto& [bytes, lines] : sizes) places.push_back(writer.next(static_cast<std::uint64_t>(bytes), lines));
  });
  base::agree(job.ranks, [&] {
    for (std::size_t p = 0; p < texts.size(); ++p)
      writer.put(places[at(job.own.first) + p], 0, std::as_bytes(std::span(texts[p])));
    for (fs::path& file : writer.finish()) report.files.push_back(std::move(file));
  });
}

partition::Quality quality_of(const Job& job, const std::vector<Growing>& pieces, std::int64_t cut_edges,
                              std::int64_t shared) {
  std::vector<std::array<std::int64_t, 2>> mine;  // elements, neighbours
  for (const Growing& growing : pieces)
    mine.push_back(
        {static_cast<std::int64_t>(growing.piece.connectivity.size() / 3),
         static_cast<std::int64_t>(std::set(growing.piece.sharers.begin(), growing.piece.sharers.end()).size())});
  partition::Quality quality;
  quality.fewest = job.elements;
  for (const auto& [elements, neighbours] : gather(job.ranks, mine)) {
    quality.fewest = std::min(quality.fewest, elements);
    quality.most = std::max(quality.most, elements);
    quality.most_neighbours = std::max(quality.most_neighbours, static_cast<std::int32_t>(neighbours));
  }
  for (const auto& [edges, points] : gather(job.ranks, std::vector<std::array<std::int64_t, 2>>{{cut_edges, shared}})) {
    quality.cut_edges += edges;
    quality.shared_points += points;
  }
  return quality;
}

void require_possible(const PartitionOptions& options, const base::Ranks& ranks) {
  if (options.method != partition::Method::inertial || options.part_of)
    throw Error(Kind::unsupported, std::string("several processes cut by method inertial only, found ") +
                                       std::string(partition::name_of(options.method)))
        .hint("--method inertial, or run it without mpirun");
  if (options.sections || options.zones || options.weirs)
    throw Error(Kind::unsupported, "sections, zones and weirs are cut by one process only")
        .hint("run it without mpirun");
  if (ranks.size > 1 && !ranks.all_to_all)
    throw Error(Kind::usage, "several processes need an exchange of all with all");
}

}  // namespace

PartitionReport partition_by_ranks(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                   const base::Ranks& ranks) {
  PartitionReport report;
  serafin::Series series;
  base::agree(ranks, [&] {
    require_possible(options, ranks);
    series = serafin::open_series(path);
    partition::check_parts(options.parts, serafin::plane_elements(series.header));
  });
  const auto own = share(options.parts, ranks.rank, ranks.size);
  const Job job{ranks,
                series,
                options,
                serafin::plane_points(series.header),
                serafin::plane_elements(series.header),
                {static_cast<std::int32_t>(own[0]), static_cast<std::int32_t>(own[1])}};
  std::vector<Growing> pieces = make_pieces(job, move_elements(job));
  std::int64_t cut_edges = 0;
  const auto edges = pair_borders(job, pieces, cut_edges);
  for (Growing& growing : pieces) finish_halo(growing);
  const std::int64_t shared = share_points(job, pieces);
  add_boundary(job, edges, pieces, report);
  add_places(job, pieces);
  for (Growing& growing : pieces) {  // what was needed on the way
    growing.behind = {};
    growing.border = {};
    growing.by_point = {};
  }
  report.elements = job.elements;
  report.points = job.points;
  report.quality = quality_of(job, pieces, cut_edges, shared);
  write_series(job, path, named(prefix, "GEO"), pieces, report);
  for (const auto& [name, also] : options.also) write_series(job, also, named(prefix, name), pieces, report);
  if (options.boundary) {
    write_texts(job, named(prefix, "CLI"), IndexKind::lines, boundary_text, pieces, report);
    if (serafin::planes(series.header) == 1 && options.parts > 1)
      write_texts(job, named(prefix, "PAR"), IndexKind::text, parallel_text, pieces, report);
  }
  report.peak_bytes = peak_memory();
  return report;
}

}  // namespace octavo::jobs
