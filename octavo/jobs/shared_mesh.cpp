#include "octavo/jobs/shared_mesh.hpp"

#include <algorithm>

namespace octavo::jobs {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Every point must be in an element: bits for those who own the points.
void require_all_used(const SharedJob& job, const std::vector<std::int32_t>& used) {
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

}  // namespace

void sort_unique(std::vector<std::int32_t>& points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
}

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

std::vector<Moved> move_elements(const SharedJob& job) {
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

void add_places(const SharedJob& job, std::vector<Growing>& pieces) {
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

}  // namespace octavo::jobs
