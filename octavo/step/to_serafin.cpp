#include "octavo/step/to_serafin.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/odd_bytes.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
namespace serafin = formats::serafin;

template <std::size_t N>
void copy_integers(const std::optional<std::vector<std::int64_t>>& from, std::array<std::int32_t, N>& to) {
  if (from && from->size() == N)
    std::transform(from->begin(), from->end(), to.begin(), [](std::int64_t i) { return static_cast<std::int32_t>(i); });
}

std::size_t real_bytes_of(const mesh::Header& header, const ToSerafinOptions& options) {
  if (options.double_precision) return *options.double_precision ? 8 : 4;
  if (const auto bytes = attribute<std::int64_t>(header, "real_bytes")) return *bytes == 8 ? 8 : 4;
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [](const mesh::FieldInfo& field) { return field.type == mesh::ScalarType::float64; })
             ? 8
             : 4;
}

serafin::Header header_of(const TriangleSeries& series, const ToSerafinOptions& options) {
  const mesh::Header& from = series.first.header;
  const mesh::Unstructured& mesh = series.mesh;
  serafin::Header to;
  to.real_bytes = real_bytes_of(from, options);
  if (attribute<std::string>(from, "byte_order").value_or("big") == "little") to.order = std::endian::little;
  std::vector<std::string> names;
  for (const mesh::FieldInfo& info : series.variables) {
    names.push_back(info.name);
    to.variables.push_back(serafin::variable_of(info.name, info.unit));
  }
  to.quadratic = static_cast<int>(options.fields ? 0 : attribute<std::int64_t>(from, "quadratic").value_or(0));
  copy_integers(attribute<std::vector<std::int64_t>>(from, "iparam"), to.iparam);
  const auto [x_origin, y_origin] = origin_parameters(from);
  to.iparam[2] = static_cast<std::int32_t>(x_origin);
  to.iparam[3] = static_cast<std::int32_t>(y_origin);
  const auto date = attribute<std::vector<std::int64_t>>(from, "date");
  if (date) copy_integers(date, to.date.emplace());
  to.iparam[6] = mesh.planes > 1 ? mesh.planes : 0;
  to.iparam[9] = to.date ? std::max(to.iparam[9], 1) : 0;
  const std::int64_t layers = std::max(1, mesh.planes - 1), points = num_points(series);
  const auto elements = static_cast<std::int64_t>(mesh.connectivity.size() / 3) * layers;
  if (std::max(points, elements) > std::int64_t{0x7FFFFFFF})
    throw Error(Kind::unsupported, "SERAFIN cannot hold a mesh of " + std::to_string(points) + " points");
  to.points = static_cast<std::int32_t>(points);
  to.elements = static_cast<std::int32_t>(elements);
  to.nodes = mesh.planes > 1 ? 6 : 3;
  const std::string title = title_record(from, to.real_bytes == 8 ? "SERAFIND" : "SERAFIN");
  std::copy(title.begin(), title.end(), to.title.begin());
  serafin::put_odd_bytes(from.attributes, names, to);
  return to;
}

void write_connectivity_of(const serafin::Put& put, const serafin::Header& header, const mesh::Unstructured& mesh) {
  const auto points = static_cast<std::int64_t>(mesh.x.size());
  const std::int64_t planes_of_cell = mesh.planes > 1 ? 2 : 1;
  std::vector<std::int32_t> nodes;
  for (std::int64_t layer = 0; layer < std::max(1, mesh.planes - 1); ++layer) {
    nodes.clear();
    for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3)
      for (std::int64_t plane = layer; plane < layer + planes_of_cell; ++plane)
        for (std::size_t k = 0; k < 3; ++k)
          nodes.push_back(static_cast<std::int32_t>(mesh.connectivity[t + k] + plane * points + 1));
    serafin::write_connectivity(put, header, layer * static_cast<std::int64_t>(nodes.size()), nodes);
  }
}

/// The number of boundary points of one plane.
std::int32_t boundary_points(const std::vector<std::int32_t>& ranks, std::size_t points) {
  return static_cast<std::int32_t>(std::count_if(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(points),
                                                 [](std::int32_t rank) { return rank != 0; }));
}

void write_mesh(const serafin::Put& put, const serafin::Header& header, const TriangleSeries& series,
                const std::vector<std::int32_t>& ranks) {
  const mesh::Unstructured& mesh = series.mesh;
  serafin::write_header(put, header);
  write_connectivity_of(put, header, mesh);
  serafin::write_numbers(put, header, 0, ranks);
  for (int axis = 0; axis < 2; ++axis)
    for (std::int64_t plane = 0; plane < mesh.planes; ++plane)
      serafin::write_coordinates(put, header, axis, plane * static_cast<std::int64_t>(mesh.x.size()),
                                 axis == 0 ? mesh.x : mesh.y);
}

}  // namespace

ToSerafinReport to_serafin(const std::filesystem::path& path, const std::filesystem::path& out,
                           const ToSerafinOptions& options) {
  return to_serafin(open_triangles(path, options.fields, "SERAFIN", options.flow), out, options);
}

ToSerafinReport to_serafin(const TriangleSeries& series, const std::filesystem::path& out,
                           const ToSerafinOptions& options) {
  serafin::Header header = header_of(series, options);
  ToSerafinReport report{static_cast<std::int64_t>(series.steps.size()), header.points, header.elements, 0, {}};
  const std::vector<std::int32_t> ranks = boundary_ranks(series, report.notes);
  if (!attribute<std::vector<std::int64_t>>(series.first.header, "iparam"))
    header.iparam[7] = boundary_points(ranks, series.mesh.x.size());
  NewFile file(out, options.overwrite);
  const serafin::Put put = [&](std::uint64_t at, std::span<const std::byte> bytes) { file.put(at, bytes); };
  write_mesh(put, header, series, ranks);
  for_each_step(series, options.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    serafin::write_time(put, header, step, dataset.header.time);
    for (std::size_t v = 0; v < series.variables.size(); ++v)
      serafin::write_values(put, header, step, v, 0, values_of(series, dataset, series.variables[v].name));
  });
  file.finish();
  report.bytes = static_cast<std::int64_t>(std::filesystem::file_size(out));
  return report;
}

}  // namespace octavo::step
