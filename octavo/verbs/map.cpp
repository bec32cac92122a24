#include "octavo/verbs/map.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/verbs/camera.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/solids/solid_pictures.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/sum_image.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using analysis::Frame;
using analysis::Projection;
using base::Error;
using base::Kind;

constexpr std::size_t most_pixels = 65536;
constexpr double most_blur = 16;  // a row of shares, of all cells along an axis, takes 160 * blur bytes a pixel

void check_blur(const step::SharedStep& step, const MapOptions& options) {
  if (options.blur == 0) return;
  if (!(options.blur > 0 && options.blur <= most_blur))
    throw Error(Kind::usage, "blur of a map: expected 0 to 16 edges of a cell, found " + std::to_string(options.blur));
  if (analysis::is_extreme(options.kind))
    throw Error(Kind::usage, "a maximum or minimum of smoothed cells is none of the cells'")
        .hint("a blur is of the kinds integral and mean");
  if (step.unstructured)
    throw Error(Kind::unsupported, "triangles and solids are not smoothed: values are linear between points")
        .at(step.path);
}

Frame frame_of(const mesh::Header& header, const MapOptions& options) {
  Frame frame = analysis::make_frame(header, options.axis, options.kind, options.region, options.pixels, options.edge);
  frame.blur = options.blur;
  if (!options.shape) return frame;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t pixels = (*options.shape)[i];
    if (pixels < 1 || pixels > most_pixels)
      throw Error(Kind::usage, "pixels of a map: expected 1 to 65536, found " + std::to_string(pixels));
    if (frame.image_axis[i] < header.dim) frame.pixels[i] = pixels;
  }
  return frame;
}

}  // namespace

mesh::Request detail::fields_of_map(const mesh::Header& header, const MapOptions& options) {
  mesh::Request request;
  request.fields = {options.field};
  const bool weighted = options.kind == Projection::mean && !options.weight.empty();
  if (weighted && options.weight != options.field) request.fields->push_back(options.weight);
  mesh::select_fields(header, request.fields);  // unknown names are refused before anything is read
  if (options.max_level) request.max_level = *options.max_level;
  return request;
}

namespace {

std::string unit_of(const mesh::Header& header, const MapOptions& options) {
  std::string unit = detail::describe_field(header, options.field).unit;
  if (options.kind != Projection::integral || options.axis >= header.dim) return unit;
  return unit.empty() ? unit : unit + "*code_length";  // not known
}

Map describe(const mesh::Header& header, const MapOptions& options, const Frame& frame) {
  Map map = detail::describe_field(header, options.field);
  detail::describe_frame(map, frame);
  detail::describe_kind(map, options);
  map.flat = frame.axis >= header.dim;
  map.blur = frame.blur;
  map.unit = unit_of(header, options);
  return map;
}

Drawing drawing_of(const mesh::Header& header, const Frame& frame, const MapOptions& options, mesh::Part read) {
  const int max_level = options.max_level.value_or(std::numeric_limits<int>::max());
  const auto part = std::make_shared<const mesh::Part>(std::move(read));
  return drawing_within(
      frame.pixels, frame.kind, [&] { return analysis::footprint(*part, header, frame, max_level); },
      [=, &header, &frame, &options](analysis::RowRange rows) {
        return analysis::project(*part, header, frame, options.field, options.weight, max_level, rows);
      });
}

/// The same map of formulas that leave cells out where the condition does not hold.
Map map_where(const step::SharedStep& step, const MapOptions& options) {
  const mesh::Header header = step::with_fields(step, {options.field, options.where}, options.definitions).header;
  MapOptions only = options;
  only.where.clear();
  const bool triangles = step.unstructured && !mesh::holds_solids(step.header);
  const bool extreme = analysis::is_extreme(options.kind) || triangles;
  only.field = step::define_where(step, options.field, options.where, extreme ? "nan" : "0", only.definitions);
  if (options.kind == Projection::mean && !triangles)
    only.weight =
        step::define_where(step, options.weight.empty() ? "1" : options.weight, options.where, "0", only.definitions);
  Map result = map(step, only);
  result.field = options.field;
  if (options.kind == Projection::mean) result.weight = options.weight.empty() ? "volume" : options.weight;
  result.unit = unit_of(header, options);
  result.selection = with_condition(std::move(result.selection), options.where);
  detail::require_cells(step, options, result);
  return result;
}

/// `from`: a Frame or an AnyView.
template <class From>
void describe_window(Map& map, const From& from) {
  map.nx = from.pixels[0];
  map.ny = from.pixels[1];
  map.lo = from.lo;
  map.hi = from.hi;
  map.depth_lo = from.depth_lo;
  map.depth_hi = from.depth_hi;
}

}  // namespace

void detail::require_cells(const step::SharedStep& step, const MapOptions& options, const Map& map) {
  if (options.blank_too) return;
  // Under a condition an integral counts other cells as 0.
  const bool zero_shows = options.where.empty();
  const bool shows = std::any_of(map.values.begin(), map.values.end(),
                                 [&](double value) { return !std::isnan(value) && (zero_shows || value != 0); });
  if (base::sum(options.ranks, std::vector<std::int64_t>{shows ? 1 : 0})[0] > 0) return;
  StatsOptions selection{
      .fields = std::vector<std::string>{}, .region = options.region, .max_level = options.max_level};
  const bool box = options.region && std::holds_alternative<mesh::Box>(*options.region) && !step.unstructured;
  if (box && options.edge != analysis::RegionEdge::centre) selection.edge = analysis::RegionEdge::clip;
  selection.where = options.where;
  selection.definitions = options.definitions;
  selection.particles = false;
  selection.threads = options.threads;
  selection.ranks = options.ranks;
  if (stats(step, selection).statistics.leaves > 0) return;
  throw Error(Kind::usage, "the selection holds no cell: " + map.selection).at(step.path);
}

Map detail::describe_field(const mesh::Header& header, const std::string& name) {
  Map map;
  map.field = name;
  for (const mesh::FieldInfo& field : header.fields)
    if (field.name == name) map.unit = field.unit;
  map.time = header.time;
  if (const auto found = header.attributes.find("over_time"); found != header.attributes.end())
    map.over_time = std::get<std::string>(found->second);
  map.unit_length = header.unit_length;
  map.unit_density = header.unit_density;
  map.unit_time = header.unit_time;
  return map;
}

void detail::describe_frame(Map& map, const analysis::Frame& frame) {
  describe_window(map, frame);
  for (std::size_t i = 0; i < 2; ++i) map.axes[i] = std::string(1, "xyz"[frame.image_axis[i]]);
  map.axis = std::string(1, "xyz"[frame.axis]);
}

void detail::describe_kind(Map& map, const MapOptions& options) {
  switch (options.kind) {
    case Projection::integral: map.kind = "integral"; break;
    case Projection::mean: map.kind = "mean"; break;
    case Projection::maximum: map.kind = "max"; break;
    case Projection::minimum: map.kind = "min"; break;
  }
  if (options.kind == Projection::mean) map.weight = options.weight.empty() ? "volume" : options.weight;
}

void detail::describe_view(Map& map, const analysis::AnyView& view) {
  describe_window(map, view);
  map.axes = {analysis::name_of(view.axes.right), analysis::name_of(view.axes.up)};
  map.axis = analysis::name_of(view.axes.towards);
  map.orientation = view.axes;
}

detail::MapShare detail::share_map(const step::SharedStep& step, const MapOptions& options,
                                   const std::vector<std::string>& names, Map& map) {
  ScopeShare scope = share_scope(step, options.region, options.max_level, options.ranks, Sharing::in_turn);
  if (scope.parts == 0 && !options.blank_too)
    throw Error(Kind::usage, "the region holds no cell: " + scope.text).at(step.path);
  map.parts = std::move(scope.listed);
  map.bytes_read = scope.bytes;
  map.selection = with_edge(scope.text, options.edge);
  return {scope.parts, step::with_fields(std::move(scope.mine), names, options.definitions, step)};
}

Map map(const step::SharedStep& step, const MapOptions& options) {
  check_blur(step, options);
  if (!options.where.empty()) return map_where(step, options);
  if (options.camera) return detail::map_from_camera(step, options);
  if (options.up) throw Error(Kind::usage, "a direction up belongs to a camera");
  const std::vector<std::string> names{options.field, options.weight, options.mask};
  const mesh::Header header = step::with_fields(step, names, options.definitions).header;
  Frame frame = frame_of(header, options);
  const mesh::Request request = detail::fields_of_map(header, options);
  Map result = describe(header, options, frame);
  const bool solids = mesh::holds_solids(step.header);
  if ((solids || !step.unstructured) && !options.mask.empty())
    throw Error(Kind::unsupported, "a mask is for meshes of triangles only").at(step.path);
  const detail::MapShare share = detail::share_map(step, options, names, result);
  std::function<Drawing(std::size_t)> read = [&](std::size_t i) {
    return drawing_of(header, frame, options, share.mine.read(static_cast<int>(i), request));
  };
  if (solids)
    read = detail::solid_drawing(share.mine, options, detail::view_of_frame(frame));
  else if (step.unstructured)
    read = detail::triangle_drawing(share.mine, options, frame, result);
  const Workers workers{threads_within_memory(share.mine, options.threads), options.ranks, options.progress};
  analysis::ImageRows image = sum_image(share.parts, workers, frame, read);
  result.rows = image.rows;
  result.values = analysis::finish(frame.kind, std::move(image));
  detail::require_cells(step, options, result);
  return result;
}

std::vector<double> rows_of(const Map& map, const base::Ranks& ranks, analysis::RowRange rows) {
  std::vector<std::string> to(static_cast<std::size_t>(ranks.size));
  std::vector<double> out;
  if (ranks.rank == 0) out.resize((rows.last - rows.first) * map.nx);
  const auto values_of = [&](analysis::RowRange some) {
    return std::span(map.values).subspan(map.rows.place(some.first) * map.nx, (some.last - some.first) * map.nx);
  };
  map.rows.for_each_block(rows, [&](analysis::RowRange some) {
    const auto values = values_of(some);
    if (ranks.rank == 0)
      std::copy(values.begin(), values.end(),
                out.begin() + static_cast<std::ptrdiff_t>((some.first - rows.first) * map.nx));
    else
      to[0].append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  });
  if (ranks.size == 1) return out;
  const std::vector<std::string> from = base::all_to_all(ranks, std::move(to));
  for (std::size_t r = 1; r < from.size() && ranks.rank == 0; ++r) {
    std::size_t at = 0;
    analysis::DealtRows theirs = map.rows;
    theirs.rank = r;
    theirs.for_each_block(rows, [&](analysis::RowRange some) {
      const std::size_t bytes = (some.last - some.first) * map.nx * sizeof(double);
      std::memcpy(out.data() + (some.first - rows.first) * map.nx, from[r].data() + at, bytes);
      at += bytes;
    });
  }
  return out;
}

void write_npy(const Map& map, const base::Ranks& ranks, const std::filesystem::path& path) {
  std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(map.ny) + ", " +
                     std::to_string(map.nx) + "), }";
  constexpr std::size_t before = 10, alignment = 64;  // magic, version and length; the header ends at a multiple of 64
  head.resize((before + head.size() + 1 + alignment - 1) / alignment * alignment - before, ' ');
  head.back() = '\n';
  const std::uint64_t row = map.nx * sizeof(double), start = before + head.size();
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    const auto size = static_cast<std::uint16_t>(head.size());
    const std::string text =
        std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 255) + static_cast<char>(size >> 8) + head;
    const file::File file = file::create(path);
    file::preallocate(file, start + row * map.ny);
    file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  });
  base::agree(ranks, [&] {
    file::File file = file::open_write(path);
    std::size_t at = 0;
    map.rows.for_each_block({0, map.ny}, [&](analysis::RowRange some) {
      const auto values = std::span(map.values).subspan(at, (some.last - some.first) * map.nx);
      file::pwrite_all(file, start + row * some.first, std::as_bytes(values));
      at += values.size();
    });
    file.close();
  });
}

}  // namespace octavo::verbs
