#include "octavo/verbs/triangles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "octavo/analysis/triangles.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/solids/read_solids.hpp"
#include "octavo/verbs/solids/solid_pictures.hpp"

namespace octavo::verbs::detail {
namespace {

using analysis::Projection;
using base::Error;
using base::Kind;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// ------------------------------------------------------------------ statistics

/// A point of a plane, and what of the mesh it stands for.
struct PointWeights {
  std::vector<double> size;  ///< area, or volume [code length^dim]
  std::vector<double> z;     ///< of planes
  /// The parts of `size` that a box leaves, as SolidPlaces::shares.
  std::vector<double> shares{};
};

PointWeights weights_of(const PointValues& values, const std::vector<double>* elevation) {
  PointWeights out;
  out.size = analysis::point_areas(values.mesh);
  if (elevation == nullptr) return out;
  const std::size_t points = out.size.size();
  out.z = *elevation;
  std::vector<double> heights = analysis::point_heights(values.mesh, *elevation);
  for (std::size_t i = 0; i < heights.size(); ++i) heights[i] *= out.size[i % points];
  out.size = std::move(heights);
  return out;
}

/// The same for values in cells: the cell's area. The mesh gets their centroids as its points.
PointWeights weights_of_cells(PointValues& values) {
  mesh::CellAreas cells = mesh::areas_of_cells(values.mesh);
  values.mesh = {std::move(cells.x), std::move(cells.y), {}, 1, {}};
  return {std::move(cells.area), {}};
}

/// The place in the header of each name, in the names' order.
std::vector<std::size_t> places_of_fields(const mesh::Header& header, const std::vector<std::string>& names) {
  std::vector<std::size_t> out;
  for (const std::string& name : names) out.push_back(mesh::select_fields(header, std::vector{name})[0]);
  return out;
}

std::vector<char> points_in(const mesh::Dataset& dataset, const mesh::Unstructured& mesh, const PointWeights& weights,
                            const std::optional<mesh::Region>& region) {
  std::vector<char> chosen(weights.size.size(), 1);
  if (!region) return chosen;
  const mesh::Header& header = dataset.header;
  const mesh::Domain domain = mesh::domain_of(header);
  const double unit = header.hi[0] - header.lo[0];
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t point = i % mesh.x.size();
    const double z = weights.z.empty() ? header.lo[2] : weights.z[i];
    chosen[i] = mesh::contains(
        *region, domain,
        {(mesh.x[point] - header.lo[0]) / unit, (mesh.y[point] - header.lo[1]) / unit, (z - header.lo[2]) / unit});
  }
  return chosen;
}

/// Values, the places where they stand, and which of these a region takes.
struct PlacedValues {
  PointValues values;
  PointWeights weights;
  std::vector<char> chosen;
};

/// Fields that all stand at points, or all in cells; without fields `in_cells` says which.
PlacedValues placed_values(const mesh::Dataset& dataset, std::vector<std::string> names,
                           const std::optional<mesh::Region>& region, bool clip = false, bool in_cells = false) {
  const bool solids = mesh::holds_solids(dataset.header), planes = !solids && dataset.header.dim == 3;
  if (planes) names.push_back(elevation_field(dataset.header));
  const bool cells = names.empty() ? in_cells : all_in_cells(dataset, names);
  if (solids) {
    SolidPlaces places = read_solid_places(dataset, names, cells, region, clip);
    return {{{std::move(places.x), std::move(places.y), {}, 1, {}}, std::move(places.fields)},
            {std::move(places.size), std::move(places.z), std::move(places.shares)},
            std::move(places.chosen)};
  }
  PlacedValues out{read_values(dataset, names), {}, {}};
  out.weights =
      cells ? weights_of_cells(out.values) : weights_of(out.values, planes ? &out.values.fields.back() : nullptr);
  out.chosen = points_in(dataset, out.values.mesh, out.weights, region);
  return out;
}

/// Takes points out where a condition is 0 or NaN.
void keep_where(const std::vector<double>& condition, std::vector<char>& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (condition[i] == 0 || std::isnan(condition[i])) chosen[i] = 0;
}

analysis::Extreme extreme_at(const mesh::Unstructured& mesh, const PointWeights& weights, std::size_t i, double value) {
  const std::size_t point = i % mesh.x.size();
  return {value, 0, {mesh.x[point], mesh.y[point], weights.z.empty() ? 0 : weights.z[i]}};
}

analysis::Summary summary_of(const std::vector<double>& values, const mesh::Unstructured& mesh,
                             const PointWeights& weights, const std::vector<char>& chosen) {
  analysis::Summary out;
  analysis::Sum sum, integral, size, counted;
  out.min.value = out.max.value = none;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (chosen[i] == 0) continue;
    ++out.cells;
    out.nan += std::isnan(values[i]) ? 1 : 0;
    out.inf += std::isinf(values[i]) ? 1 : 0;
    if (!std::isfinite(values[i])) continue;
    if (!(values[i] >= out.min.value)) out.min = extreme_at(mesh, weights, i, values[i]);
    if (!(values[i] <= out.max.value)) out.max = extreme_at(mesh, weights, i, values[i]);
    const double share = weights.shares.empty() ? 1 : weights.shares[i];
    sum.add(values[i] * share);
    counted.add(share);
    integral.add(values[i] * weights.size[i]);
    size.add(weights.size[i]);
  }
  out.sum = sum.value();
  out.integral = integral.value();
  out.mean = counted.value() > 0 ? out.sum / counted.value() : none;
  out.volume_mean = size.value() > 0 ? out.integral / size.value() : none;
  return out;
}

}  // namespace

PointValues read_values(const mesh::Dataset& dataset, const std::vector<std::string>& fields, bool mesh) {
  mesh::refuse_solids(dataset, "triangles are expected");
  if (dataset.num_parts != 1)
    throw Error(Kind::unsupported, "a mesh of triangles in " + std::to_string(dataset.num_parts) + " parts: expected 1")
        .at(dataset.path);
  mesh::Request request;
  request.fields = fields;
  request.mesh = mesh;
  mesh::Part part = dataset.read(0, request);
  PointValues out{std::move(std::get<mesh::Unstructured>(part.mesh)), {}};
  for (const std::string& name : fields)
    for (const mesh::Field& field : part.fields)
      if (field.info.name == name) {
        out.fields.push_back(mesh::to_doubles(field));
        break;
      }
  return out;
}

PointValues read_points(const mesh::Dataset& dataset, const std::vector<std::string>& fields) {
  PointValues out = read_values(dataset, fields);
  std::vector<char> in_cells;
  for (const std::size_t f : places_of_fields(dataset.header, fields))
    in_cells.push_back(mesh::in_cells(dataset.header, dataset.header.fields[f]));
  if (std::count(in_cells.begin(), in_cells.end(), 1) == 0) return out;
  const std::vector<std::int64_t> cells = mesh::cells_of_triangles(out.mesh.connectivity);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::vector<double> values(out.mesh.connectivity.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          out.fields[f].at(static_cast<std::size_t>(in_cells[f] != 0 ? cells[i / 3] : out.mesh.connectivity[i]));
    out.fields[f] = std::move(values);
  }
  out.mesh = mesh::apart(out.mesh);
  return out;
}

bool all_in_cells(const mesh::Dataset& dataset, const std::vector<std::string>& fields) {
  std::string at_point, in_cell;
  for (const std::size_t f : places_of_fields(dataset.header, fields)) {
    const mesh::FieldInfo& info = dataset.header.fields[f];
    (mesh::in_cells(dataset.header, info) ? in_cell : at_point) = info.name;
  }
  if (!in_cell.empty() && !at_point.empty())
    throw Error(Kind::unsupported,
                "values at points and in cells are not of the same places: " + at_point + " and " + in_cell)
        .at(dataset.path)
        .hint("name fields of one kind alone; octavo info says where each one's values stand");
  return !in_cell.empty();
}

std::string elevation_field(const mesh::Header& header) {
  if (header.fields.empty() || header.fields[0].type == mesh::ScalarType::int32)
    throw Error(Kind::unsupported, "planes without an elevation: expected it as the first variable");
  return header.fields[0].name;
}

std::function<Drawing(std::size_t)> triangle_drawing(const mesh::Dataset& dataset, const MapOptions& options,
                                                     analysis::Frame& frame, Map& result) {
  if (options.axis != 2)
    throw Error(Kind::unsupported,
                "meshes of triangles are seen along z, not along " + std::string(1, "xyz"[frame.axis]));
  if (frame.kind == Projection::mean && !options.weight.empty())
    throw Error(Kind::unsupported, dataset.header.dim == 3
                                       ? "means of planes are weighted by height only"
                                       : "a map of triangles has no mean to weigh: each place has one value")
        .hint("leave the weight away");
  const bool needs_height = dataset.header.dim == 3 && !analysis::is_extreme(frame.kind);
  std::vector<std::string> names{options.field};
  if (!options.mask.empty()) names.push_back(options.mask);
  if (needs_height) names.push_back(elevation_field(dataset.header));
  if (dataset.header.dim == 2) result.kind = "value";
  const Projection kind = std::exchange(frame.kind, Projection::maximum);  // each pixel is drawn once
  return [=, &dataset, &options, &frame](std::size_t) {
    PointValues read = read_points(dataset, names);
    const std::span<const double> elevation =
        needs_height ? std::span<const double>(read.fields.back()) : std::span<const double>();
    std::vector<double> values = analysis::flatten(read.mesh, read.fields[0], elevation, kind), mask;
    if (!options.mask.empty()) mask = analysis::flatten(read.mesh, read.fields[1], {}, Projection::maximum);
    const std::size_t rows = frame.pixels[1], bytes = frame.pixels[0] * rows * sizeof(double);
    const auto mesh = std::make_shared<const mesh::Unstructured>(std::move(read.mesh));
    return Drawing{{0, rows},
                   bytes,
                   [mesh, values = std::move(values), mask = std::move(mask), above = options.above, &frame](
                       analysis::RowRange some) { return analysis::draw(*mesh, values, mask, above, frame, some); }};
  };
}

std::function<Drawing(std::size_t)> solid_drawing(const mesh::Dataset& dataset, const MapOptions& options,
                                                  const analysis::AnyView& view) {
  // Several parts are drawn at once, one a thread.
  const int threads = dataset.num_parts == 1 ? base::thread_count(options.threads) : 1;
  const std::string weight = options.kind == Projection::mean ? options.weight : std::string();
  const SolidColumns columns{options.field, weight, options.kind, view, threads};
  return [&dataset, columns](std::size_t i) {
    return drawing_of_all(columns.view.pixels, columns.kind, solid_columns(dataset, static_cast<int>(i), columns));
  };
}

analysis::Samples triangle_samples(const mesh::Dataset& dataset, const analysis::BinPlan& plan,
                                   const analysis::Selection& selection) {
  std::vector<std::string> names = plan.fields;
  for (const analysis::BinAxis& axis : plan.axes)
    if (const auto* name = std::get_if<std::string>(&axis.quantity)) names.push_back(*name);
  if (!plan.weight.field.empty()) names.push_back(plan.weight.field);
  if (!selection.where.empty()) names.push_back(selection.where);
  PlacedValues placed = placed_values(dataset, names, selection.region);
  const PointValues& read = placed.values;
  const PointWeights& weights = placed.weights;
  std::vector<char>& chosen = placed.chosen;
  if (!selection.where.empty()) keep_where(read.fields[names.size() - 1], chosen);
  const auto taken = [&](const auto& value_at) {
    std::vector<double> values;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] != 0) values.push_back(value_at(i));
    return values;
  };
  analysis::Samples out;
  out.count = static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), 1));
  std::size_t next = plan.fields.size();
  for (const analysis::BinAxis& axis : plan.axes) {
    if (const auto* distance = std::get_if<analysis::Distance>(&axis.quantity)) {
      out.axes.push_back(taken([&](std::size_t i) {
        const mesh::Point3 at = extreme_at(read.mesh, weights, i, 0).centre;
        return analysis::distance_to(dataset.header, *distance, at);
      }));
    } else {
      const std::size_t f = next++;
      out.axes.push_back(taken([&](std::size_t i) { return read.fields[f][i]; }));
    }
  }
  for (std::size_t f = 0; f < plan.fields.size(); ++f)
    out.fields.push_back(taken([&](std::size_t i) { return read.fields[f][i]; }));
  out.weight = taken([&](std::size_t i) {
    return (plan.weight.field.empty() ? 1.0 : read.fields[next][i]) * (plan.weight.volume ? weights.size[i] : 1.0);
  });
  return out;
}

namespace {

/// Statistics of fields that all stand at points, or all in cells.
analysis::Statistics statistics_of_places(const mesh::Dataset& dataset, const std::vector<std::string>& fields,
                                          const analysis::Selection& selection) {
  std::vector<std::string> names = fields;
  if (!selection.where.empty()) names.push_back(selection.where);
  PlacedValues placed = placed_values(dataset, names, selection.region, selection.clip);
  const PointValues& read = placed.values;
  const PointWeights& weights = placed.weights;
  std::vector<char>& chosen = placed.chosen;
  if (!selection.where.empty()) keep_where(read.fields[fields.size()], chosen);
  analysis::Statistics out;
  out.leaves = std::count(chosen.begin(), chosen.end(), 1);
  analysis::Sum size;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0) size.add(weights.size[i]);
  out.volume = size.value();
  out.levels = {{0, out.leaves, out.volume}};
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& info = dataset.header.fields[places_of_fields(dataset.header, {fields[f]})[0]];
    const analysis::Summary all = summary_of(read.fields[f], read.mesh, weights, chosen);
    out.fields.push_back({info.name, info.unit, all, {{0, all}}});
  }
  return out;
}

}  // namespace

analysis::Statistics triangle_statistics(const mesh::Dataset& step, const std::vector<std::string>& fields,
                                         const analysis::Selection& selection, const step::Definitions& definitions) {
  const auto with_where = [&](std::vector<std::string> names) {
    names.push_back(selection.where);
    return step::with_fields(step, names, definitions, step::Places::with_others);
  };
  const mesh::Dataset dataset = step::with_fields(step, fields, definitions);
  std::array<std::vector<std::string>, 2> names;  // at points, in cells
  std::vector<std::size_t> group;
  for (const std::size_t f : places_of_fields(dataset.header, fields)) {
    group.push_back(mesh::in_cells(dataset.header, dataset.header.fields[f]) ? 1 : 0);
    names[group.back()].push_back(dataset.header.fields[f].name);
  }
  // Counts are of points, unless a condition chooses cells.
  const std::size_t counted = !selection.where.empty() && all_in_cells(with_where({}), {selection.where}) ? 1 : 0;
  std::array<analysis::Statistics, 2> found;
  for (const std::size_t g : {std::size_t{0}, std::size_t{1}})
    if (g == counted || !names[g].empty()) found[g] = statistics_of_places(with_where(names[g]), names[g], selection);
  analysis::Statistics out = found[counted];
  out.fields.clear();
  std::array<std::size_t, 2> next{};
  for (const std::size_t g : group) out.fields.push_back(found[g].fields[next[g]++]);
  return out;
}

}  // namespace octavo::verbs::detail

namespace octavo::verbs {
namespace {

bool stands_in_cell(const mesh::Header& header, const std::string& name) {
  return mesh::in_cells(header, header.fields[mesh::select_fields(header, std::vector{name})[0]]);
}

/// The names of the table's fields.
std::vector<std::string> fields_of_table(const mesh::Header& header, const PlaceTableOptions& options, bool in_cells) {
  std::vector<std::string> names;
  if (!options.fields) {
    for (const mesh::FieldInfo& info : header.fields)
      if (info.components == 1 && mesh::in_cells(header, info) == in_cells) names.push_back(info.name);
    return names;
  }
  for (const std::string& name : *options.fields) {
    if (stands_in_cell(header, name) != in_cells)
      throw base::Error(base::Kind::unsupported, std::string("values ") + (in_cells ? "at points" : "in cells") +
                                                     " have no place in a table of " + (in_cells ? "cells" : "points"))
          .at("field " + name)
          .hint(in_cells ? "a table of points has them" : "a table of cells has them");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

template <class T>
void keep_chosen(const std::vector<char>& chosen, std::vector<T>& values) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (chosen[i] != 0) values[kept++] = values[i];
  values.resize(kept);
}

}  // namespace

PlaceTable place_table(const mesh::Dataset& step, const PlaceTableOptions& options) {
  require_level(step, options.max_level);
  if (options.in_cells.value_or(false) && step.header.dim == 3 && !mesh::holds_solids(step.header))
    throw base::Error(base::Kind::unsupported, "prisms between planes have no table of cells")
        .at(step.path)
        .hint("a table of points has all planes");
  std::vector<std::string> asked = options.fields.value_or(std::vector<std::string>{});
  const auto in_cells = [](const mesh::Dataset& dataset, const std::vector<std::string>& names) {
    return !names.empty() && std::all_of(names.begin(), names.end(),
                                         [&](const std::string& name) { return stands_in_cell(dataset.header, name); });
  };
  asked.push_back(options.where);
  const auto together = step::Places::with_others;
  mesh::Dataset dataset = step::with_fields(step, asked, options.definitions, together);
  asked.pop_back();
  if (!options.fields)
    for (const mesh::FieldInfo& info : step.header.fields) asked.push_back(info.name);
  PlaceTable table;
  table.in_cells = options.in_cells.value_or(in_cells(dataset, asked));
  table.names = fields_of_table(options.fields ? dataset.header : step.header, options, table.in_cells);
  std::vector<std::string> names = table.names;
  if (!options.where.empty()) names.push_back(options.where);
  dataset = step::with_fields(step, names, options.definitions, together);
  detail::PlacedValues placed = detail::placed_values(dataset, names, options.region, false, table.in_cells);
  if (!options.where.empty()) detail::keep_where(placed.values.fields[table.names.size()], placed.chosen);
  placed.values.fields.resize(table.names.size());
  mesh::Unstructured& mesh = placed.values.mesh;
  const std::size_t rows = placed.chosen.size(), points = mesh.x.size();
  for (std::vector<double>* axis : {&mesh.x, &mesh.y}) {
    axis->reserve(rows);
    while (axis->size() < rows) axis->push_back((*axis)[axis->size() - points]);  // planes stand above each other
  }
  table.x = std::move(mesh.x);
  table.y = std::move(mesh.y);
  table.z = std::move(placed.weights.z);
  table.size = std::move(placed.weights.size);
  table.fields = std::move(placed.values.fields);
  std::vector<std::vector<double>*> columns{&table.x, &table.y, &table.size};
  if (!table.z.empty()) columns.push_back(&table.z);
  for (std::vector<double>& field : table.fields) columns.push_back(&field);
  for (std::vector<double>* column : columns) keep_chosen(placed.chosen, *column);
  return table;
}

}  // namespace octavo::verbs
