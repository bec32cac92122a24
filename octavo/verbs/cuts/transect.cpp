#include "octavo/verbs/cuts/transect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/verbs/place.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/sum_image.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

void require_triangles(const step::SharedStep& step, const std::string& what) {
  mesh::refuse_solids(step, what + " is for meshes of triangles");
  if (step.unstructured) return;
  throw Error(Kind::unsupported, what + " is for meshes of triangles").at(step.path);
}

/// The dataset with the fields to be shown, and their names in it: values are NaN where the condition does not hold.
struct Shown {
  std::vector<std::string> names;
  mesh::Dataset dataset;
};
Shown shown_fields(const mesh::Dataset& step, const std::vector<std::string>& fields, const std::string& where,
                   step::Definitions definitions) {
  Shown out;
  for (const std::string& field : fields)
    out.names.push_back(step::define_where(step, field, where, "nan", definitions));
  std::vector<std::string> all = out.names;
  all.insert(all.end(), fields.begin(), fields.end());
  out.dataset = step::with_fields(step, all, definitions);
  mesh::select_fields(out.dataset.header, out.names);  // unknown names are refused before anything is read
  return out;
}

/// The column at a place, as a transect of one row.
analysis::Transect column_at(const mesh::Unstructured& mesh, const std::array<double, 2>& place) {
  if (!std::isfinite(place[0]) || !std::isfinite(place[1])) throw Error(Kind::usage, "the place is not finite");
  analysis::Transect out;
  if (const auto found = analysis::locate(mesh, {&place, 1})[0]) out.rows.push_back({0, place, *found, true, 0});
  return out;
}

analysis::Transect transect_through(const detail::PointValues& read, const analysis::Polyline& line,
                                    bool jumps = false) {
  analysis::Transect out =
      line.size() == 1 ? column_at(read.mesh, line[0]) : analysis::transect_of(read.mesh, line, jumps);
  if (out.rows.empty())
    throw Error(Kind::usage, line.size() == 1 ? "the place lies outside of the mesh" : "the line meets no triangle")
        .hint("points are X,Y in the mesh's own coordinates; octavo info shows their extent");
  return out;
}

/// One value a row and plane of all planes' values.
std::vector<double> on_rows(const detail::PointValues& read, const analysis::Transect& transect,
                            const std::vector<double>& values) {
  const std::size_t points = read.mesh.x.size(), planes = static_cast<std::size_t>(read.mesh.planes);
  std::vector<double> out;
  out.reserve(transect.rows.size() * planes);
  for (const analysis::TransectRow& row : transect.rows)
    for (std::size_t k = 0; k < planes; ++k)
      out.push_back(analysis::linear_at(std::span(values).subspan(k * points, points), row.place));
  return out;
}

/// The same with a row before each one at which the line enters the mesh again: `broken` there, or the row before.
std::vector<double> with_breaks(const analysis::Transect& transect, const std::vector<double>& values,
                                std::size_t planes, bool broken) {
  std::vector<double> out;
  for (std::size_t r = 0; r < transect.rows.size(); ++r) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(r * planes);
    if (r > 0 && transect.rows[r].begins)
      for (std::size_t k = 0; k < planes; ++k)
        out.push_back(broken ? std::numeric_limits<double>::quiet_NaN()
                             : *(row - static_cast<std::ptrdiff_t>(planes - k)));
    out.insert(out.end(), row, row + static_cast<std::ptrdiff_t>(planes));
  }
  return out;
}

void fill(TransectTable& table, const mesh::Dataset& dataset, const std::vector<std::string>& names,
          const analysis::Polyline& line) {
  std::vector<std::string> fields = names;
  const bool planes = dataset.header.dim == 3;
  if (planes) fields.push_back(detail::elevation_field(dataset.header));
  const detail::PointValues read = detail::read_points(dataset, fields);
  const bool jumps = std::any_of(fields.begin(), fields.end(),
                                 [&](const std::string& name) { return detail::all_in_cells(dataset, {name}); });
  const analysis::Transect transect = transect_through(read, line, jumps);
  table.planes = static_cast<std::size_t>(read.mesh.planes);
  table.length = transect.length;
  std::vector<double> distance, x, y;
  for (const analysis::TransectRow& row : transect.rows) {
    distance.push_back(row.distance);
    x.push_back(row.at[0]);
    y.push_back(row.at[1]);
  }
  table.distance = with_breaks(transect, distance, 1, false);
  table.x = with_breaks(transect, x, 1, false);
  table.y = with_breaks(transect, y, 1, false);
  if (planes) table.z = with_breaks(transect, on_rows(read, transect, read.fields.back()), table.planes, false);
  for (std::size_t f = 0; f < names.size(); ++f) {
    const auto some = with_breaks(transect, on_rows(read, transect, read.fields[f]), table.planes, true);
    table.values.insert(table.values.end(), some.begin(), some.end());
  }
}

/// Fills the image. `read` is called on rank 0, and gives the function that draws some rows.
void draw_on_one(const step::SharedStep& step, const SurfaceOptions& options, const analysis::Frame& frame,
                 const std::function<std::function<analysis::Tile(analysis::RowRange)>()>& read, Map& result) {
  result.nx = frame.pixels[0];
  result.ny = frame.pixels[1];
  result.lo = frame.lo;
  result.hi = frame.hi;
  const std::size_t bytes = result.nx * result.ny * sizeof(double);
  const Workers workers{threads_within_memory(step, options.threads), options.ranks, options.progress};
  analysis::ImageRows image = sum_image(1, workers, frame, [&](std::size_t) {
    return Drawing{{0, frame.pixels[1]}, bytes, read()};
  });
  result.rows = image.rows;
  result.values = analysis::finish(frame.kind, std::move(image));
}

/// From distance 0 to the line's end, and from the lowest to the highest point of the cut: lower corner, upper corner.
std::vector<double> window_of(const analysis::Curtain& curtain) {
  const auto [lowest, highest] = std::minmax_element(curtain.heights.begin(), curtain.heights.end());
  return {0, *lowest, curtain.transect.length, *highest > *lowest ? *highest : *lowest + 1};
}

/// The line that the options name. Collective.
analysis::Polyline line_of(const step::SharedStep& step, const TransectOptions& options) {
  if (!options.through.empty()) return options.through;
  StatsOptions selection;
  selection.ranks = options.ranks;
  selection.where = options.where;
  selection.definitions = options.definitions;
  analysis::Polyline line;
  for (const std::string* words : {&options.from, &options.to}) {
    const mesh::Point3 at = find_place(step, *words, selection);
    line.push_back({at[0], at[1]});
  }
  return line;
}

void check_surface(const step::SharedStep& step, const SurfaceOptions& options) {
  require_triangles(step, "a cut of planes");
  if (step.header.dim != 3)
    throw Error(Kind::unsupported, "a mesh of triangles without planes has no slice")
        .at(step.path)
        .hint("octavo line --through gives values along a line, octavo map shows the mesh from above");
  if (options.through.empty() == !options.level.has_value())
    throw Error(Kind::usage, "a slice of planes: expected a line, or one height, depth or plane")
        .hint("--through X,Y X,Y, --height Z, --depth D or --plane N");
  if (options.through.size() == 1)
    throw Error(Kind::usage, "a vertical cut through one point").hint("octavo line --through X,Y lists its column");
  if (!options.through.empty() && options.region)
    throw Error(Kind::unsupported, "a vertical cut takes no region").hint("let the line end where the region does");
  if (options.pixels < 1 || options.pixels > 65536)
    throw Error(Kind::usage, "pixels: expected 1 to 65536, found " + std::to_string(options.pixels));
}

/// The level with the number of its plane checked.
analysis::Level level_of(const analysis::Level& level, int planes) {
  if (!std::isfinite(level.at)) throw Error(Kind::usage, "height or depth of a slice: expected a finite number");
  if (level.kind != analysis::Level::Kind::plane) return level;
  if (level.at < -1 || level.at >= planes)
    throw Error(Kind::usage, "plane: expected 0 to " + std::to_string(planes - 1) + ", found " +
                                 std::to_string(static_cast<int>(level.at)));
  return {level.kind, level.at < 0 ? planes - 1.0 : level.at};
}

std::string name_of_surface(const SurfaceOptions& options) {
  if (!options.level) return "along a line";
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.6g", options.level->at);
  using enum analysis::Level::Kind;
  if (options.level->kind == height) return std::string("at height ") + number.data();
  if (options.level->kind == depth) return std::string("at depth ") + number.data();
  return options.level->at < 0 ? "of the uppermost plane" : std::string("of plane ") + number.data();
}

void draw_curtain(const step::SharedStep& step, const SurfaceOptions& options, const Shown& shown, Map& result) {
  const auto curtain = std::make_shared<analysis::Curtain>();
  analysis::Frame frame;
  std::vector<double> window;
  base::agree(options.ranks, [&] {
    if (options.ranks.rank != 0) return;
    const detail::PointValues read =
        detail::read_points(shown.dataset, {shown.names[0], detail::elevation_field(step.header)});
    curtain->transect = transect_through(read, options.through);
    curtain->planes = static_cast<std::size_t>(read.mesh.planes);
    curtain->values = on_rows(read, curtain->transect, read.fields[0]);
    curtain->heights = on_rows(read, curtain->transect, read.fields[1]);
    window = window_of(*curtain);
  });
  window = base::from_first(options.ranks, window);
  frame.lo = {window[0], window[1]};
  frame.hi = {window[2], window[3]};
  frame.pixels = {options.pixels, std::max<std::size_t>(1, options.pixels / 2)};
  frame.kind = analysis::Projection::maximum;  // each pixel is drawn once
  result.axes = {"distance", "z"};
  draw_on_one(
      step, options, frame,
      [&] { return [curtain, &frame](analysis::RowRange rows) { return analysis::draw(*curtain, frame, rows); }; },
      result);
}

void draw_level(const step::SharedStep& step, const SurfaceOptions& options, const Shown& shown, Map& result) {
  const analysis::Frame frame =
      analysis::make_frame(step.header, 2, analysis::Projection::maximum, options.region, options.pixels);
  result.axes = {"x", "y"};
  draw_on_one(
      step, options, frame,
      [&] {
        const auto read = std::make_shared<const detail::PointValues>(
            detail::read_points(shown.dataset, {shown.names[0], detail::elevation_field(step.header)}));
        const analysis::Level level = level_of(*options.level, read->mesh.planes);
        return [read, level, &frame](analysis::RowRange rows) {
          return analysis::draw(read->mesh, read->fields[0], read->fields[1], level, frame, rows);
        };
      },
      result);
}

}  // namespace

TransectTable transect(const step::SharedStep& step, const TransectOptions& options) {
  require_triangles(step, "a line through points");
  const Shown shown = shown_fields(step, options.fields, options.where, options.definitions);
  TransectTable table;
  table.fields = options.fields;
  table.time = step.header.time;
  table.selection = with_condition({}, options.where);
  for (const std::string& name : options.fields)
    table.units.push_back(detail::describe_field(shown.dataset.header, name).unit);
  const analysis::Polyline line = line_of(step, options);
  base::agree(options.ranks, [&] {
    if (options.ranks.rank == 0) fill(table, shown.dataset, shown.names, line);
  });
  if (options.ranks.size == 1) return table;
  table.planes = base::from_first(options.ranks, std::vector<std::size_t>{table.planes})[0];
  table.length = base::from_first(options.ranks, std::vector<double>{table.length})[0];
  for (auto* numbers : {&table.distance, &table.x, &table.y, &table.z, &table.values})
    *numbers = base::from_first(options.ranks, *numbers);
  return table;
}

Map surface(const step::SharedStep& step, const SurfaceOptions& options) {
  check_surface(step, options);
  const Shown shown = shown_fields(step, {options.field}, options.where, options.definitions);
  Map result = detail::describe_field(shown.dataset.header, options.field);
  result.kind = "slice";
  result.axis = name_of_surface(options);
  std::string region = options.region ? mesh::to_string(*options.region, step.header.dim) : std::string();
  result.selection = with_condition(std::move(region), options.where);
  result.parts = {0};
  result.bytes_read = step.part_bytes ? step.part_bytes(0) : 0;
  if (options.through.empty())
    draw_level(step, options, shown, result);
  else
    draw_curtain(step, options, shown, result);
  const bool shows = std::any_of(result.values.begin(), result.values.end(), [](double v) { return !std::isnan(v); });
  if (base::sum(options.ranks, std::vector<std::int64_t>{shows ? 1 : 0})[0] == 0)
    throw Error(Kind::usage, "the mesh has no value there: " + result.axis).at(step.path);
  return result;
}

}  // namespace octavo::verbs
