#include "octavo/verbs/map.hpp"

#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/sum_parts.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using analysis::Frame;
using analysis::Projection;
using analysis::Tile;
using base::Error;
using base::Kind;

constexpr std::size_t most_pixels = 65536;

std::string name_of(Projection kind) {
  switch (kind) {
    case Projection::integral: return "integral";
    case Projection::mean: return "mean";
    case Projection::maximum: return "max";
    case Projection::minimum: return "min";
  }
  return {};
}

Frame frame_of(const mesh::Header& header, const MapOptions& options) {
  Frame frame = analysis::make_frame(header, options.axis, options.kind, options.region, options.pixels);
  if (!options.shape) return frame;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t pixels = (*options.shape)[i];
    if (pixels < 1 || pixels > most_pixels)
      throw Error(Kind::usage, "pixels of a map: expected 1 to 65536, found " + std::to_string(pixels));
    if (frame.image_axis[i] < header.dim) frame.pixels[i] = pixels;
  }
  return frame;
}

/// The fields to read: that to be shown, and that to weigh with.
mesh::Request request_of(const mesh::Header& header, const MapOptions& options) {
  mesh::Request request;
  request.fields = {options.field};
  const bool weighted = options.kind == Projection::mean && !options.weight.empty();
  if (weighted && options.weight != options.field) request.fields->push_back(options.weight);
  mesh::select_fields(header, request.fields);  // unknown names are refused before anything is read
  if (options.max_level) request.max_level = *options.max_level;
  return request;
}

std::string unit_of(const mesh::Header& header, const MapOptions& options) {
  std::string unit;
  for (const mesh::FieldInfo& field : header.fields)
    if (field.name == options.field) unit = field.unit;
  if (options.kind != Projection::integral || options.axis >= header.dim) return unit;
  return unit.empty() ? "code_length" : unit + "*code_length";
}

Map describe(const mesh::Header& header, const MapOptions& options, const Frame& frame) {
  Map map;
  map.nx = frame.pixels[0];
  map.ny = frame.pixels[1];
  map.lo = frame.lo;
  map.hi = frame.hi;
  map.depth_lo = frame.depth_lo;
  map.depth_hi = frame.depth_hi;
  for (std::size_t i = 0; i < 2; ++i) map.axes[i] = std::string(1, "xyz"[frame.image_axis[i]]);
  map.axis = std::string(1, "xyz"[frame.axis]);
  map.field = options.field;
  map.kind = name_of(options.kind);
  if (options.kind == Projection::mean) map.weight = options.weight.empty() ? "volume" : options.weight;
  map.flat = frame.axis >= header.dim;
  map.unit = unit_of(header, options);
  map.time = header.time;
  if (const auto found = header.attributes.find("over_time"); found != header.attributes.end())
    map.over_time = std::get<std::string>(found->second);
  map.unit_length = header.unit_length;
  map.unit_density = header.unit_density;
  map.unit_time = header.unit_time;
  return map;
}

}  // namespace

Map map(const mesh::Dataset& given, const MapOptions& options) {
  const mesh::Dataset dataset = mesh::with_geometry(given, {options.field, options.weight});
  const mesh::Header& header = dataset.header;
  const Frame frame = frame_of(header, options);
  const mesh::Request request = request_of(header, options);
  const int max_level = options.max_level.value_or(std::numeric_limits<int>::max());
  Map result = describe(header, options, frame);
  const Scope scope = scope_of(dataset, options.region, options.max_level);
  if (scope.parts.empty()) throw Error(Kind::usage, "the region holds no cell: " + scope.text).at(dataset.path);
  result.parts = scope.parts;
  result.bytes_read = scope.bytes;
  result.selection = scope.text;
  if (dataset.unstructured) {
    detail::map_triangles(dataset, options, frame, result);
    return result;
  }
  if (!options.mask.empty()) throw Error(Kind::unsupported, "a mask is for meshes of triangles only").at(dataset.path);
  Tile tile =
      sum_parts(result.parts, Workers{threads_within_memory(dataset, options.threads), options.ranks, options.progress},
                Summation{[&](int part) {
                            return analysis::project(dataset.read(part, request), header, frame, options.field,
                                                     options.weight, max_level);
                          },
                          [&](Tile& to, Tile&& other) { analysis::add(frame, to, std::move(other)); }});
  result.values = analysis::finish(frame, std::move(tile));
  return result;
}

}  // namespace octavo::verbs
