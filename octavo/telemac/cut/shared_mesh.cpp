#include "octavo/telemac/cut/shared_mesh.hpp"

#include <algorithm>
#include <utility>

#include "octavo/base/at.hpp"
#include "octavo/base/release.hpp"

namespace octavo::telemac {
namespace {

using base::at;
using base::Error;
using base::Kind;

/// Every point must be in an element: bits for those who own the points.
void require_all_used(const SharedJob& job, const std::vector<std::int32_t>& used) {
  std::vector<std::vector<std::int32_t>> to(job.size());
  for (const std::int32_t point : used) to[job.owner_of_point(point)].push_back(point);
  const auto mine = base::exchange(job.ranks, std::move(to));
  base::agree(job.ranks, [&] {
    const auto [first, last] = base::share(job.points, job.ranks.rank, job.ranks.size);
    std::vector<bool> seen(at(last - first), false);
    for (const std::int32_t point : mine) seen[at(point - first)] = true;
    const auto unused = std::find(seen.begin(), seen.end(), false);
    if (unused != seen.end())
      throw Error(Kind::corrupt,
                  "point " + std::to_string(first + (unused - seen.begin()) + 1) + " belongs to no element")
          .at(job.series.file->path().string());
  });
}

}  // namespace

PointSet::PointSet(std::span<const std::int32_t> corners, std::int32_t points)
    : PointSet([&] {
        std::vector<bool> has(at(points), false);
        for (const std::int32_t point : corners) has[at(point)] = true;
        return has;
      }()) {}

PointSet::PointSet(const std::vector<bool>& has) {
  points_.reserve(at(std::count(has.begin(), has.end(), true)));
  const bool whole = points_.capacity() == has.size();
  if (!whole) first_.assign((has.size() >> bits) + 2, 0);
  for (std::size_t point = 0; point < has.size(); ++point) {
    if (!whole && point % (std::size_t{1} << bits) == 0)
      first_[point >> bits] = static_cast<std::int32_t>(points_.size());
    if (has[point]) points_.push_back(static_cast<std::int32_t>(point));
  }
}

PointCoordinates read_places(const serafin::SerafinSeries& series, PointSet set) {
  PointCoordinates places{std::move(set), {}, {}};
  const auto& points = places.set.points();
  constexpr std::int32_t batch = 1 << 16;
  const std::int32_t total = serafin::plane_points(series.header);
  std::vector<double> some;
  for (const int axis : {0, 1}) {
    auto& kept = axis == 0 ? places.x : places.y;
    kept.reserve(points.size());
    for (std::int32_t first = 0; first < total; first += batch) {
      const auto begin = std::lower_bound(points.begin(), points.end(), first);
      const auto end = std::lower_bound(begin, points.end(), std::int64_t{first} + batch);
      if (begin == end) continue;
      some.resize(at(std::min(batch, total - first)));
      serafin::read_coordinates(series, axis, first, some);
      for (auto point = begin; point != end; ++point) kept.push_back(some[at(*point - first)]);
    }
  }
  return places;
}

ElementBlock read_block(const SharedJob& job) {
  const auto [first, last] = base::share(job.elements, job.ranks.rank, job.ranks.size);
  ElementBlock block;
  block.first = first;
  base::agree(job.ranks, [&, first = first, last = last] {
    block.triangles = serafin::read_triangles(job.series, first, last - first);
    block.places = read_places(job.series, PointSet(block.triangles, job.points));
  });
  require_all_used(job, block.places.set.points());
  return block;
}

partition::Turns find_turns(const SharedJob& job, const ElementBlock& block) {
  const auto x = [&](std::int32_t point) { return block.places.x[block.places.set.of(point)]; };
  const auto y = [&](std::int32_t point) { return block.places.y[block.places.set.of(point)]; };
  partition::Turns mine = partition::find_turns(block.triangles, x, y), all;
  if (mine.clockwise > 0) mine.first += static_cast<std::int32_t>(block.first);
  for (const partition::Turns& turns : base::gather(job.ranks, std::vector{mine})) {
    if (all.clockwise == 0) all.first = turns.first;
    all.clockwise += turns.clockwise;
    all.counter_clockwise += turns.counter_clockwise;
  }
  return all;
}

std::vector<Moved> move_elements(const SharedJob& job, ElementBlock block, partition::PartVector part_of) {
  block.places = {};
  std::vector<std::size_t> next(at(job.options.parts), 0);  // by part: its place among those of its rank
  // A counting sort: first the sizes of parts, then where each part's next element goes among those of its rank.
  for (const std::int32_t part : part_of) ++next[at(part)];
  std::vector<std::size_t> counts(job.size(), 0);
  for (std::int32_t part = 0; part < job.options.parts; ++part) {
    std::size_t& count = counts[job.owner_of_part(part)];
    count += std::exchange(next[at(part)], count);
  }
  std::vector<std::vector<Moved>> to(job.size());
  for (std::size_t rank = 0; rank < to.size(); ++rank) to[rank].resize(counts[rank]);
  for (std::size_t e = 0; e < part_of.size(); ++e) {
    const std::int32_t* corners = &block.triangles[3 * e];
    to[job.owner_of_part(part_of[e])][next[at(part_of[e])]++] = {
        part_of[e],
        static_cast<std::int32_t>(block.first + static_cast<std::int64_t>(e)),
        {corners[0], corners[1], corners[2]}};
  }
  block = {};
  base::release(part_of);
  auto mine = base::exchange(job.ranks, std::move(to));
  if (job.size() > 1) std::sort(mine.begin(), mine.end());
  return mine;
}

void add_places(const SharedJob& job, std::vector<GrowingPiece>& pieces) {
  std::vector<bool> has(at(job.points), false);
  for (const GrowingPiece& growing : pieces)
    for (const std::int32_t point : growing.piece.points) has[at(point)] = true;
  base::agree(job.ranks, [&] {
    const PointCoordinates places = read_places(job.series, PointSet(has));
    for (GrowingPiece& growing : pieces) {
      growing.piece.x.reserve(growing.piece.points.size());
      growing.piece.y.reserve(growing.piece.points.size());
      for (const std::int32_t point : growing.piece.points) {
        const std::size_t i = places.set.of(point);
        growing.piece.x.push_back(places.x[i]);
        growing.piece.y.push_back(places.y[i]);
      }
    }
  });
}

}  // namespace octavo::telemac
