#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "octavo/formats/serafin/liquid.hpp"
#include "octavo/telemac/cut/cut_mesh.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"

namespace octavo::telemac {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Ranked = std::vector<std::pair<std::int32_t, std::int32_t>>;  ///< point and rank from 1, by point

/// IPOBO of a rank's share of points, and whether any of all is not zero.
std::vector<std::int32_t> read_own_numbers(const SharedJob& job, std::int64_t& numbered) {
  const auto [first, last] = base::share(job.points, job.ranks.rank, job.ranks.size);
  std::vector<std::int32_t> own(at(last - first));
  base::agree(job.ranks, [&, first = first] { serafin::read_numbers(job.series, first, own); });
  const auto counts = base::gather(job.ranks, std::vector<std::int64_t>{std::count_if(
                                                  own.begin(), own.end(), [](std::int32_t n) { return n != 0; })});
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
  const auto found =
      std::lower_bound(ranks.begin(), ranks.end(), std::pair(point, std::numeric_limits<std::int32_t>::min()));
  return found == ranks.end() || found->first != point ? 0 : found->second;
}

std::vector<std::int32_t> points_of(const std::vector<serafin::BoundaryPoint>& lines) {
  std::vector<std::int32_t> points;
  for (const serafin::BoundaryPoint& line : lines) points.push_back(line.point - 1);
  return points;
}

CutBoundary read_boundary(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                          const partition::Turns& turns) {
  CutBoundary boundary;
  base::agree(job.ranks, [&] {
    std::vector<serafin::BoundaryPoint> lines = serafin::read_boundary(*job.options.boundary, job.points);
    const std::vector<std::int32_t> points = points_of(lines);
    const Places places = read_places(job.series, PointSet(points, job.points));
    std::vector<double> x, y;
    for (const std::int32_t point : points) {
      x.push_back(places.x[places.set.of(point)]);
      y.push_back(places.y[places.set.of(point)]);
    }
    try {
      boundary = link_boundary(std::move(lines), std::move(x), std::move(y), edges, job.options.boundary->string());
    } catch (const Error&) {
      require_one_turn(turns, job.series.file->path().string());
      throw;
    }
  });
  return boundary;
}

/// Without a boundary file and without numbers in the mesh.
Ranked find_lost_ranks(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                       const partition::Turns& turns) {
  Ranked found;
  base::agree(job.ranks, [&] {
    require_one_turn(turns, job.series.file->path().string());
    std::vector<std::int32_t> from;
    for (const partition::BoundaryEdge& edge : edges) from.push_back(edge.from);
    const Places places = read_places(job.series, PointSet(from, job.points));
    const auto& points = places.set.points();
    found = ranked(partition::order_boundary(points, partition::link_edges(edges, points), places.x, places.y));
  });
  return found;
}

/// Ranks of boundary points by the mesh's own numbers: only whether there is one matters for pieces.
Ranked gather_numbers(const SharedJob& job, const std::vector<std::int32_t>& own) {
  const std::int64_t first = base::share(job.points, job.ranks.rank, job.ranks.size)[0];
  std::vector<std::array<std::int32_t, 2>> some;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != 0) some.push_back({static_cast<std::int32_t>(first + static_cast<std::int64_t>(i)), own[i]});
  Ranked all;
  for (const auto& [point, rank] : base::gather(job.ranks, some)) all.emplace_back(point, rank);
  return all;
}

}  // namespace

CutBoundary link_boundary(std::vector<serafin::BoundaryPoint> lines, std::vector<double> x, std::vector<double> y,
                          std::span<const partition::BoundaryEdge> edges, const std::string& from) {
  CutBoundary boundary;
  boundary.from = from;
  boundary.points = std::move(lines);
  require_lines(boundary);
  boundary.x = std::move(x);
  boundary.y = std::move(y);
  try {
    boundary.contour = partition::link_edges(edges, points_of(boundary.points));
    boundary.liquid = serafin::number_liquid(boundary.points, boundary.contour.next, boundary.x, boundary.y);
  } catch (Error& error) {
    error.at(from);
    throw;
  }
  boundary.edge_part = boundary.contour.element;  // the edges name parts, not elements
  return boundary;
}

void add_boundary(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                  const partition::Turns& turns, std::vector<Growing>& pieces, PartitionReport& report) {
  std::int64_t numbered = 0;
  const auto own = read_own_numbers(job, numbered);
  std::optional<CutBoundary> boundary;
  Ranked ranks;
  if (job.options.boundary) {
    boundary = read_boundary(job, edges, turns);
    ranks = ranked(points_of(boundary->points));
    const Ranked numbers = gather_numbers(job, own);
    std::vector<std::int32_t> by_line;
    for (const serafin::BoundaryPoint& line : boundary->points) by_line.push_back(rank_of(numbers, line.point - 1));
    note_own_numbers(by_line, numbered, *boundary, report.notes);
  } else if (numbered == 0) {
    report.notes.push_back("IPOBO is zero everywhere: the boundary was found from the mesh");
    ranks = find_lost_ranks(job, edges, turns);
  } else {
    ranks = gather_numbers(job, own);
  }
  for (Growing& growing : pieces) {
    std::vector<std::array<std::int32_t, 2>> here;  // position on the boundary, local number
    for (std::size_t i = 0; i < growing.piece.points.size(); ++i)
      if (const std::int32_t rank = rank_of(ranks, growing.piece.points[i]); rank != 0)
        here.push_back({rank - 1, static_cast<std::int32_t>(i + 1)});
    growing.piece.boundary_points = static_cast<std::int32_t>(here.size());
    if (!boundary) continue;
    std::sort(here.begin(), here.end());
    std::vector<PieceBoundaryPoint> points;
    for (const auto& [k, local] : here) points.push_back(boundary_point(*boundary, growing.piece.part, k, local));
    set_boundary(growing.piece, std::move(points));
  }
}

}  // namespace octavo::telemac
