#include "octavo/verbs/cuts/discharge.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "octavo/analysis/statistics.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/mesh/solids/refuse.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

/// A field of a step at all points. A formula is evaluated on the mesh, which is read for it.
std::vector<double> values_of_step(const formats::Series& series, const mesh::Dataset& dataset,
                                   const std::string& field) {
  const std::string stored = step::stored_names(dataset.header, {field})[0];
  for (const mesh::FieldInfo& info : dataset.header.fields)
    if (info.name == stored) return formats::values_of(series, dataset, stored);
  detail::PointValues read = detail::read_points(step::with_fields(dataset, {field}), {field});
  if (read.fields[0].size() != static_cast<std::size_t>(formats::num_points(series)))
    throw Error(Kind::unsupported, "the mesh changes from step to step").at(dataset.path);
  return std::move(read.fields[0]);
}

/// `numbers` of the values of the fields named, for each line or polygon, at every step: [line or polygon][step].
/// Collective.
std::vector<double> over_steps(
    const formats::Series& series, const std::vector<std::string>& fields, const OverStepsOptions& options,
    const std::function<void(const std::vector<std::vector<double>>&, std::vector<double>&)>& numbers) {
  const base::Ranks& ranks = options.ranks;
  std::vector<double> mine;  // [step][line or polygon]
  base::agree(ranks, [&] {
    const auto own = base::share(std::ssize(series.times), ranks.rank, ranks.size);
    formats::for_each_step(series, own, options.progress, [&](std::int64_t, const mesh::Dataset& dataset) {
      std::vector<std::vector<double>> values;
      for (const std::string& field : fields) values.push_back(values_of_step(series, dataset, field));
      numbers(values, mine);
    });
  });
  const std::vector<double> all = base::gather(ranks, mine);
  const std::size_t steps = series.times.size(), rows = steps == 0 ? 0 : all.size() / steps;
  std::vector<double> out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) out[i % rows * steps + i / rows] = all[i];
  return out;
}

formats::Series series_at(const std::filesystem::path& path, const std::vector<std::string>& fields,
                          const OverStepsOptions& options) {
  formats::Series series = step::open_triangles(path, {}, "a series of lines and polygons", options.flow);
  const mesh::Header header = step::with_fields(series.first, fields).header;
  mesh::select_fields(header, fields);  // unknown names are refused before anything is read
  return series;
}

/// The water at a row, of one plane: depth (or, of prisms, height) and the two velocities at a row.
struct Water {
  double depth = 0, u = 0, v = 0;
};

/// A leg's unit vector across it, to the right.
std::array<double, 2> across(const analysis::Polyline& line, std::size_t leg) {
  const double dx = line[leg + 1][0] - line[leg][0], dy = line[leg + 1][1] - line[leg][1];
  const double length = std::hypot(dx, dy);
  return {dy / length, -dx / length};
}

/// The integral over a stretch of two linear functions' product: Simpson's rule is exact.
double product(double length, double a0, double a1, double b0, double b1) {
  return length * (a0 * b0 + (a0 + a1) * (b0 + b1) + a1 * b1) / 6;
}

/// The water in a column: a layer each, with its thickness and mean velocity; in 2-D one layer.
std::vector<Water> layers_at(const analysis::TransectRow& row, const std::vector<std::vector<double>>& values,
                             std::size_t points, std::size_t planes) {
  const auto at = [&](std::size_t field, std::size_t plane) {
    return analysis::linear_at(std::span(values[field]).subspan(plane * points, points), row.place);
  };
  if (planes == 1) return {{at(0, 0), at(1, 0), at(2, 0)}};
  std::vector<Water> out;
  for (std::size_t k = 0; k + 1 < planes; ++k)
    out.push_back({at(0, k + 1) - at(0, k), (at(1, k) + at(1, k + 1)) / 2, (at(2, k) + at(2, k + 1)) / 2});
  return out;
}

double flow_through(const analysis::Polyline& line, const analysis::Transect& transect,
                    const std::vector<std::vector<double>>& values, std::size_t points, std::size_t planes) {
  analysis::Sum sum;
  std::vector<Water> before;
  for (std::size_t r = 0; r < transect.rows.size(); ++r) {
    const analysis::TransectRow& row = transect.rows[r];
    std::vector<Water> now = layers_at(row, values, points, planes);
    if (r > 0 && !row.begins) {
      const auto [nx, ny] = across(line, row.leg);
      const double length = row.distance - transect.rows[r - 1].distance;
      for (std::size_t k = 0; k < now.size(); ++k)
        sum.add(product(length, before[k].depth, now[k].depth, before[k].u * nx + before[k].v * ny,
                        now[k].u * nx + now[k].v * ny));
    }
    before = std::move(now);
  }
  return sum.value();
}

double length_on_mesh(const analysis::Transect& transect) {
  double length = 0;
  for (std::size_t r = 1; r < transect.rows.size(); ++r)
    if (!transect.rows[r].begins) length += transect.rows[r].distance - transect.rows[r - 1].distance;
  return length;
}

}  // namespace

StepSeries discharge(const std::filesystem::path& path, const std::vector<analysis::Polyline>& lines,
                     const std::string& depth, const OverStepsOptions& options) {
  std::vector<std::string> fields{depth, "velocity_x", "velocity_y"};
  formats::Series series;
  std::vector<analysis::Transect> transects;
  StepSeries out;
  base::agree(options.ranks, [&] {
    const mesh::Dataset first = step::open(path, {options.flow, {}});
    mesh::refuse_solids(
        first, "a discharge is of triangles and their planes",
        "octavo slice --normal N --at P -o F.npy of the velocity along N: the pixels' sum times their area");
    if (first.unstructured && first.header.dim == 3) fields[0] = detail::elevation_field(first.header);
    series = series_at(path, fields, options);
    for (std::size_t l = 0; l < lines.size(); ++l) {
      transects.push_back(analysis::transect_of(series.mesh, lines[l]));
      if (transects[l].rows.empty())
        throw Error(Kind::usage, "line " + std::to_string(l + 1) + " meets no triangle").at(path.string());
      out.sizes.push_back(length_on_mesh(transects[l]));
    }
  });
  out.times = series.times;
  const std::size_t points = series.mesh.x.size(), planes = static_cast<std::size_t>(series.mesh.planes);
  out.values = over_steps(series, fields, options, [&](const auto& values, std::vector<double>& to) {
    for (std::size_t l = 0; l < lines.size(); ++l)
      to.push_back(flow_through(lines[l], transects[l], values, points, planes));
  });
  return out;
}

StepSeries volume(const std::filesystem::path& path, const std::vector<mesh::Polygon>& polygons,
                  const std::string& field, const OverStepsOptions& options) {
  std::vector<std::string> fields{field};
  formats::Series series;
  std::vector<std::vector<double>> weights;
  StepSeries out;
  bool prisms = false;
  base::agree(options.ranks, [&] {
    for (const mesh::Polygon& polygon : polygons) mesh::validate(polygon);
    const mesh::Dataset first = step::open(path, {options.flow, {}});
    mesh::refuse_solids(first, "a volume of water is of triangles and their planes",
                        "octavo stats --roi REGION integrates over a region, with --where over a condition");
    prisms = first.unstructured && first.header.dim == 3;
    if (prisms) fields.push_back(detail::elevation_field(first.header));
    series = series_at(path, fields, options);
    for (const mesh::Polygon& polygon : polygons) weights.push_back(mesh::point_weights(series.mesh, polygon));
    if (polygons.empty()) weights.push_back(analysis::point_areas(series.mesh));
    for (std::size_t p = 0; p < weights.size(); ++p) {
      analysis::Sum area;
      for (const double weight : weights[p]) area.add(weight);
      out.sizes.push_back(area.value());
      if (!(area.value() > 0))
        throw Error(Kind::usage, "polygon " + std::to_string(p + 1) + " holds nothing of the mesh").at(path.string());
    }
  });
  out.times = series.times;
  out.values = over_steps(series, fields, options, [&](const auto& values, std::vector<double>& to) {
    const std::vector<double> flat =
        analysis::flatten(series.mesh, values[0], prisms ? values[1] : values[0], analysis::Projection::integral);
    for (std::size_t p = 0; p < weights.size(); ++p) {
      analysis::Sum sum;
      for (std::size_t i = 0; i < flat.size(); ++i)
        if (weights[p][i] != 0) sum.add(flat[i] * weights[p][i]);
      to.push_back(sum.value());
    }
  });
  return out;
}

}  // namespace octavo::verbs
