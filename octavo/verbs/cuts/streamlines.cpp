#include "octavo/verbs/cuts/streamlines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "octavo/analysis/triangles.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/solids/refuse.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
using Velocities = std::array<std::vector<double>, 2>;

/// Means of the cells around each point, weighted by the areas of their triangles.
std::vector<double> brought_to_points(const mesh::Unstructured& mesh, const std::vector<double>& in_cells) {
  const std::vector<std::int64_t> cells = mesh::cells_of_triangles(mesh.connectivity);
  std::vector<double> sums(mesh.x.size(), 0), areas(mesh.x.size(), 0);
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) {
    const std::int64_t* points = &mesh.connectivity[i - i % 3];
    const auto a = static_cast<std::size_t>(points[0]), b = static_cast<std::size_t>(points[1]),
               c = static_cast<std::size_t>(points[2]), at = static_cast<std::size_t>(mesh.connectivity[i]);
    const double area = std::fabs((mesh.x[b] - mesh.x[a]) * (mesh.y[c] - mesh.y[a]) -
                                  (mesh.y[b] - mesh.y[a]) * (mesh.x[c] - mesh.x[a]));
    const double value = in_cells.at(static_cast<std::size_t>(cells[i / 3]));
    if (std::isnan(value)) continue;  // a dry cell beside a wet one
    sums[at] += area * value;
    areas[at] += area;
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = areas[i] > 0 ? sums[i] / areas[i] : std::numeric_limits<double>::quiet_NaN();
  return sums;
}

/// The velocities of one plane of a step, at points.
Velocities velocities_of(const mesh::Dataset& step, const mesh::Unstructured& mesh, const WayOptions& options) {
  const std::vector<std::string> names{options.velocity + "_x", options.velocity + "_y"};
  const mesh::Dataset dataset = step::with_fields(step, names);
  const bool cells = detail::all_in_cells(dataset, names);
  detail::PointValues read = detail::read_values(dataset, names);
  const std::size_t points = mesh.x.size(), planes = static_cast<std::size_t>(mesh.planes);
  const std::size_t plane = options.plane < 0 ? planes - 1 : static_cast<std::size_t>(options.plane);
  if (options.plane < -1 || plane >= planes)
    throw Error(Kind::usage,
                "plane: expected 0 to " + std::to_string(planes - 1) + ", found " + std::to_string(options.plane));
  Velocities out;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (cells) read.fields[axis] = brought_to_points(mesh, read.fields[axis]);
    if (read.fields[axis].size() != points * planes)
      throw Error(Kind::unsupported, "the mesh changes from step to step").at(step.path);
    const auto first = read.fields[axis].begin() + static_cast<std::ptrdiff_t>(plane * points);
    out[axis].assign(first, first + static_cast<std::ptrdiff_t>(points));
  }
  return out;
}

analysis::FlowBetween between(double from, double to, const Velocities& begin, const Velocities& end) {
  return {from, to, {begin[0], begin[1]}, {end[0], end[1]}};
}

analysis::Way way_at(const std::array<double, 2>& at, std::int64_t triangle, double time) {
  analysis::Way way;
  way.at = {at};
  way.time = {time};
  way.triangle = triangle;
  return way;
}

/// Places of a square grid that lie in the mesh, row by row; the squares' side is such that there are about `count`.
std::vector<analysis::Way> spread_seeds(const mesh::Unstructured& mesh, int count, double time) {
  const std::vector<double> areas = analysis::point_areas(mesh);
  double area = 0;
  for (const double some : areas) area += some;
  const double side = std::sqrt(area / count);
  const auto [x0, x1] = std::minmax_element(mesh.x.begin(), mesh.x.end());
  const auto [y0, y1] = std::minmax_element(mesh.y.begin(), mesh.y.end());
  if (!(side > 0) || (*x1 - *x0) / side > 1e5 || (*y1 - *y0) / side > 1e5)
    throw Error(Kind::unsupported, "a mesh without an area, or of a thin one: give the seeds").hint("--at X,Y");
  const auto columns = static_cast<std::size_t>((*x1 - *x0) / side) + 1;
  std::vector<std::pair<std::size_t, std::int64_t>> found;  // number on the grid, triangle
  const auto first = [&](double lo, double from) {
    return static_cast<std::size_t>(std::max(0.0, std::ceil((lo - from) / side - 0.5)));
  };
  for (std::size_t t = 0; 3 * t < mesh.connectivity.size(); ++t) {
    std::array<double, 3> x{}, y{};
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = mesh.x[static_cast<std::size_t>(mesh.connectivity[3 * t + k])];
      y[k] = mesh.y[static_cast<std::size_t>(mesh.connectivity[3 * t + k])];
    }
    const auto [x_lo, x_hi] = std::minmax({x[0], x[1], x[2]});
    const auto [y_lo, y_hi] = std::minmax({y[0], y[1], y[2]});
    for (std::size_t j = first(y_lo, *y0); *y0 + (static_cast<double>(j) + 0.5) * side <= y_hi; ++j)
      for (std::size_t i = first(x_lo, *x0); *x0 + (static_cast<double>(i) + 0.5) * side <= x_hi; ++i) {
        const auto shares = analysis::shares_in(
            mesh, &mesh.connectivity[3 * t],
            {*x0 + (static_cast<double>(i) + 0.5) * side, *y0 + (static_cast<double>(j) + 0.5) * side});
        if (shares[0] >= 0 && shares[1] >= 0 && shares[2] >= 0)
          found.emplace_back(j * columns + i, static_cast<std::int64_t>(t));
      }
  }
  std::sort(found.begin(), found.end());  // on an edge the first of two triangles
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  std::vector<analysis::Way> out;
  for (const auto& [place, triangle] : found)
    out.push_back(way_at({*x0 + (static_cast<double>(place % columns) + 0.5) * side,
                          *y0 + (static_cast<double>(place / columns) + 0.5) * side},
                         triangle, time));
  return out;
}

std::vector<analysis::Way> seeded(const mesh::Unstructured& mesh, const WayOptions& options, double time) {
  if (options.seeds.empty()) {
    if (options.count < 1)
      throw Error(Kind::usage, "seeds: expected 1 or more, found " + std::to_string(options.count));
    return spread_seeds(mesh, options.count, time);
  }
  std::vector<analysis::Way> out;
  const auto found = analysis::locate(mesh, options.seeds);
  for (std::size_t s = 0; s < found.size(); ++s) {
    if (!found[s])
      throw Error(Kind::usage, "seed " + std::to_string(s + 1) + " lies outside of the mesh")
          .hint("seeds are X,Y in the mesh's own coordinates; octavo info shows their extent");
    out.push_back(way_at(options.seeds[s], found[s]->triangle, time));
  }
  return out;
}

formats::Series series_with_velocity(const std::filesystem::path& path, const WayOptions& options,
                                     std::vector<std::string>& notes) {
  mesh::refuse_solids(step::open(path, {options.flow, {}}), "streamlines and pathlines are on meshes of triangles",
                      "octavo map and octavo slice --vectors NAME draw arrows");
  formats::Series series = step::open_triangles(path, {}, "a way of particles", options.flow);
  const std::vector<std::string> names{options.velocity + "_x", options.velocity + "_y"};
  const mesh::Dataset dataset = step::with_fields(series.first, names);
  mesh::select_fields(dataset.header, names);  // unknown names are refused before anything is read
  if (detail::all_in_cells(dataset, names))
    notes.emplace_back("velocities stand in cells: they are brought to points, weighted by area");
  return series;
}

/// The backward way from its end to the seed, then the forward one.
analysis::Way joined(analysis::Way backward, analysis::Way forward) {
  std::reverse(backward.at.begin(), backward.at.end());
  std::reverse(backward.time.begin(), backward.time.end());
  backward.at.insert(backward.at.end(), forward.at.begin() + 1, forward.at.end());
  backward.time.insert(backward.time.end(), forward.time.begin() + 1, forward.time.end());
  backward.end = forward.end;
  return backward;
}

double longest_way(const mesh::Header& header, const WayOptions& options) {
  if (options.length < 0 || options.duration < 0 || std::isnan(options.length) || std::isnan(options.duration))
    throw Error(Kind::usage, "length and duration of streamlines: expected 0 or more");
  if (options.length > 0) return options.length;
  if (options.duration > 0) return std::numeric_limits<double>::infinity();
  return 2 * std::max(header.hi[0] - header.lo[0], header.hi[1] - header.lo[1]);
}

}  // namespace

Ways streamlines(const std::filesystem::path& path, std::optional<std::int64_t> step, const WayOptions& options) {
  Ways out;
  const formats::Series series = series_with_velocity(path, options, out.notes);
  const mesh::Dataset dataset = step ? step::open(path, {options.flow, step}) : series.first;
  out.time = dataset.header.time;
  const Velocities velocity = velocities_of(dataset, series.mesh, options);
  analysis::WayRules rules;
  rules.most_length = longest_way(dataset.header, options);
  const double duration = options.duration > 0 ? options.duration : std::numeric_limits<double>::infinity();
  const std::vector<std::int64_t> beyond = analysis::triangles_beyond(series.mesh);
  const analysis::FlowBetween flow = between(0, 0, velocity, velocity);
  for (const analysis::Way& seed : seeded(series.mesh, options, 0)) {
    analysis::Way forward = seed, backward = seed;
    if (options.direction != WayDirection::backward)
      analysis::follow(series.mesh, beyond, flow, duration, rules, forward);
    if (options.direction != WayDirection::forward)
      analysis::follow(series.mesh, beyond, flow, -duration, rules, backward);
    if (options.direction == WayDirection::backward) forward.end = backward.end;
    out.ways.push_back(options.direction == WayDirection::forward ? std::move(forward)
                                                                  : joined(std::move(backward), std::move(forward)));
  }
  return out;
}

Ways pathlines(const std::filesystem::path& path, const WayOptions& options) {
  if (options.direction != WayDirection::forward)
    throw Error(Kind::unsupported, "particles are carried forward: backward are streamlines").at(path.string());
  Ways out;
  const formats::Series series = series_with_velocity(path, options, out.notes);
  const std::vector<double>& times = series.times;
  if (times.size() < 2)
    throw Error(Kind::usage, "particles move between steps: expected two or more").at(path.string());
  for (std::size_t s = 1; s < times.size(); ++s)
    if (!(times[s] > times[s - 1]))
      throw Error(Kind::unsupported, "times do not increase at step " + std::to_string(s)).at(path.string());
  const double from = options.from.value_or(times.front()), until = options.until.value_or(times.back());
  if (!(from >= times.front()) || !(until <= times.back()) || !(from < until))
    throw Error(Kind::usage, "particles from " + std::to_string(from) + " until " + std::to_string(until) +
                                 ": expected times from " + std::to_string(times.front()) + " to " +
                                 std::to_string(times.back()))
        .at(path.string());
  out.time = from;
  out.ways = seeded(series.mesh, options, from);
  const std::vector<std::int64_t> beyond = analysis::triangles_beyond(series.mesh);
  std::vector<char> moving(out.ways.size(), 1);
  const auto first = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), from) - times.begin()) - 1;
  Velocities before = velocities_of(series.open(first), series.mesh, options);
  for (std::size_t s = first; s + 1 < times.size() && times[s] < until; ++s) {
    Velocities after = velocities_of(series.open(s + 1), series.mesh, options);
    const analysis::FlowBetween flow = between(times[s], times[s + 1], before, after);
    for (std::size_t w = 0; w < moving.size(); ++w)
      if (moving[w] != 0)
        moving[w] = analysis::follow(series.mesh, beyond, flow, std::min(times[s + 1], until), {}, out.ways[w]) ? 1 : 0;
    before = std::move(after);
    if (options.progress && !options.progress(static_cast<std::int64_t>(s) + 1, std::ssize(times)))
      throw Error(Kind::interrupted, "interrupted");
  }
  return out;
}

}  // namespace octavo::verbs
