#include <algorithm>
#include <limits>
#include <optional>

#include "octavo/base/at.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"

namespace octavo::telemac {
namespace {

using base::at;
using base::Error;
using base::Kind;

using Numbered = MeshBoundary::Numbered;

/// IPOBO of a rank's share of points, and whether any of all is not zero.
std::vector<std::int32_t> read_own_numbers(const SharedJob& job, std::int64_t& numbered) {
  const auto [first, last] = base::share(job.points, job.ranks.rank, job.ranks.size);
  std::vector<std::int32_t> own(at(last - first));
  base::agree(job.ranks, [&, first = first] { serafin::read_numbers(job.series, first, own); });
  const std::int64_t mine = std::count_if(own.begin(), own.end(), [](std::int32_t n) { return n != 0; });
  numbered = base::sum(job.ranks, std::vector{mine})[0];
  return own;
}

Numbered number(const std::vector<std::int32_t>& points) {
  Numbered result;
  for (std::size_t k = 0; k < points.size(); ++k) result.emplace_back(points[k], static_cast<std::int32_t>(k + 1));
  std::sort(result.begin(), result.end());
  return result;
}

std::int32_t number_of(const Numbered& numbers, std::int32_t point) {
  const auto found =
      std::lower_bound(numbers.begin(), numbers.end(), std::pair(point, std::numeric_limits<std::int32_t>::min()));
  return found == numbers.end() || found->first != point ? 0 : found->second;
}

std::vector<std::int32_t> points_of(const std::vector<serafin::BoundaryPoint>& lines) {
  std::vector<std::int32_t> points;
  for (const serafin::BoundaryPoint& line : lines) points.push_back(line.point - 1);
  return points;
}

}  // namespace

std::vector<serafin::BoundaryPoint> lines_of(const SharedJob& job) {
  if (job.options.conditions && !job.options.boundary) return *job.options.conditions;
  return serafin::read_boundary(*job.options.boundary, job.points);
}

namespace {

CutBoundary read_lines(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                       const partition::Turns& turns) {
  CutBoundary boundary;
  base::agree(job.ranks, [&] {
    std::vector<serafin::BoundaryPoint> lines = lines_of(job);
    const std::vector<std::int32_t> points = points_of(lines);
    const PointCoordinates places = read_places(job.series, PointSet(points, job.points));
    std::vector<double> x, y;
    for (const std::int32_t point : points) {
      x.push_back(places.x[places.set.of(point)]);
      y.push_back(places.y[places.set.of(point)]);
    }
    try {
      const std::filesystem::path from = job.options.boundary.value_or(job.series.file->path());
      boundary = link_boundary(std::move(lines), std::move(x), std::move(y), edges, from.string());
    } catch (const Error&) {
      require_one_turn(turns, job.series.file->path().string());
      throw;
    }
  });
  return boundary;
}

/// Without a boundary file and without numbers in the mesh.
Numbered find_lost_numbers(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                           const partition::Turns& turns) {
  Numbered found;
  base::agree(job.ranks, [&] {
    require_one_turn(turns, job.series.file->path().string());
    std::vector<std::int32_t> from;
    for (const partition::BoundaryEdge& edge : edges) from.push_back(edge.from);
    const PointCoordinates places = read_places(job.series, PointSet(from, job.points));
    const auto& points = places.set.points();
    found = number(partition::order_boundary(points, partition::link_edges(edges, points), places.x, places.y));
  });
  return found;
}

/// The mesh's own numbers. Only whether a point has one matters for pieces.
Numbered gather_numbers(const SharedJob& job, const std::vector<std::int32_t>& own) {
  const std::int64_t first = base::share(job.points, job.ranks.rank, job.ranks.size)[0];
  std::vector<std::array<std::int32_t, 2>> some;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != 0) some.push_back({static_cast<std::int32_t>(first + static_cast<std::int64_t>(i)), own[i]});
  Numbered all;
  for (const auto& [point, number] : base::gather(job.ranks, some)) all.emplace_back(point, number);
  return all;
}

}  // namespace

MeshBoundary find_mesh_boundary(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                                const partition::Turns& turns, std::vector<std::string>& notes) {
  std::int64_t numbered = 0;
  const auto own = read_own_numbers(job, numbered);
  MeshBoundary found;
  if (has_boundary(job.options)) {
    found.lines = read_lines(job, edges, turns);
    found.numbers = number(points_of(found.lines->points));
    const Numbered numbers = gather_numbers(job, own);
    std::vector<std::int32_t> by_line;
    for (const serafin::BoundaryPoint& line : found.lines->points)
      by_line.push_back(number_of(numbers, line.point - 1));
    note_own_numbers(by_line, numbered, *found.lines, notes);
  } else if (numbered == 0) {
    notes.push_back("IPOBO is zero everywhere: the boundary was found from the mesh");
    found.numbers = find_lost_numbers(job, edges, turns);
  } else {
    found.numbers = gather_numbers(job, own);
  }
  return found;
}

void add_boundary(const SharedJob& job, const MeshBoundary& boundary, std::vector<GrowingPiece>& pieces) {
  std::vector<bool> on(at(job.points), false);
  for (const auto& [point, number] : boundary.numbers) on[at(point)] = true;
  for (GrowingPiece& growing : pieces) {
    std::vector<std::array<std::int32_t, 2>> here;  // position on the boundary, local number
    for (std::size_t i = 0; i < growing.piece.points.size(); ++i)
      if (const std::int32_t point = growing.piece.points[i]; on[at(point)])
        here.push_back({number_of(boundary.numbers, point) - 1, static_cast<std::int32_t>(i + 1)});
    growing.piece.boundary_points = static_cast<std::int32_t>(here.size());
    if (!boundary.lines) continue;
    std::sort(here.begin(), here.end());
    std::vector<PieceBoundaryPoint> points;
    for (const auto& [k, local] : here) points.push_back(boundary_point(*boundary.lines, growing.piece.part, k, local));
    set_boundary(growing.piece, std::move(points));
  }
}

}  // namespace octavo::telemac
