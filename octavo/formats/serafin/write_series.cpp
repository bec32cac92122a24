#include "octavo/formats/serafin/write_series.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/odd_bytes.hpp"
#include "octavo/formats/serafin/write.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using base::Kind;

template <std::size_t N>
void copy_integers(const std::optional<std::vector<std::int64_t>>& from, std::array<std::int32_t, N>& to) {
  if (from && from->size() == N)
    std::transform(from->begin(), from->end(), to.begin(), [](std::int64_t i) { return static_cast<std::int32_t>(i); });
}

std::size_t real_bytes_of(const mesh::Header& header, const WriteRequest& request) {
  if (request.single_precision) return 4;
  if (const auto bytes = attribute<std::int64_t>(header, "real_bytes")) return *bytes == 8 ? 8 : 4;
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [](const mesh::FieldInfo& field) { return field.type == mesh::ScalarType::float64; })
             ? 8
             : 4;
}

SerafinHeader header_of(const formats::Series& series, const WriteRequest& request) {
  const mesh::Header& from = series.first.header;
  const mesh::Unstructured& mesh = series.mesh;
  SerafinHeader to;
  to.real_bytes = real_bytes_of(from, request);
  if (attribute<std::string>(from, "byte_order").value_or("big") == "little") to.order = std::endian::little;
  std::vector<std::string> names;
  for (const mesh::FieldInfo& info : series.variables) {
    names.push_back(info.name);
    to.variables.push_back(variable_of(info.name, info.unit));
  }
  to.quadratic = static_cast<int>(request.fields ? 0 : attribute<std::int64_t>(from, "quadratic").value_or(0));
  copy_integers(attribute<std::vector<std::int64_t>>(from, "iparam"), to.iparam);
  const auto [x_origin, y_origin] = origin_parameters(from);
  to.iparam[2] = static_cast<std::int32_t>(x_origin);
  to.iparam[3] = static_cast<std::int32_t>(y_origin);
  const auto date = attribute<std::vector<std::int64_t>>(from, "date");
  if (date) copy_integers(date, to.date.emplace());
  to.iparam[6] = mesh.planes > 1 ? mesh.planes : 0;
  to.iparam[9] = to.date ? std::max(to.iparam[9], 1) : 0;
  const std::int64_t points = num_points(series), elements = num_elements(series);
  if (std::max(points, elements) > std::int64_t{0x7FFFFFFF})
    throw Error(Kind::unsupported, "SERAFIN cannot hold a mesh of " + std::to_string(points) + " points");
  to.points = static_cast<std::int32_t>(points);
  to.elements = static_cast<std::int32_t>(elements);
  to.nodes = mesh.planes > 1 ? 6 : 3;
  const std::string title = title_record(from, to.real_bytes == 8 ? "SERAFIND" : "SERAFIN");
  std::copy(title.begin(), title.end(), to.title.begin());
  put_odd_bytes(from.attributes, names, to);
  return to;
}

void write_connectivity_of(const Put& put, const SerafinHeader& header, const mesh::Unstructured& mesh) {
  const auto points = static_cast<std::int64_t>(mesh.x.size());
  const std::int64_t planes_of_cell = mesh.planes > 1 ? 2 : 1;
  std::vector<std::int32_t> nodes;
  for (std::int64_t layer = 0; layer < std::max(1, mesh.planes - 1); ++layer) {
    nodes.clear();
    for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3)
      for (std::int64_t plane = layer; plane < layer + planes_of_cell; ++plane)
        for (std::size_t k = 0; k < 3; ++k)
          nodes.push_back(static_cast<std::int32_t>(mesh.connectivity[t + k] + plane * points + 1));
    write_connectivity(put, header, layer * static_cast<std::int64_t>(nodes.size()), nodes);
  }
}

/// The number of boundary points of one plane.
std::int32_t boundary_points(const std::vector<std::int32_t>& ranks, std::size_t points) {
  return static_cast<std::int32_t>(std::count_if(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(points),
                                                 [](std::int32_t number) { return number != 0; }));
}

void write_mesh(const Put& put, const SerafinHeader& header, const formats::Series& series,
                const std::vector<std::int32_t>& ranks) {
  const mesh::Unstructured& mesh = series.mesh;
  write_header(put, header);
  write_connectivity_of(put, header, mesh);
  write_numbers(put, header, 0, ranks);
  for (int axis = 0; axis < 2; ++axis)
    for (std::int64_t plane = 0; plane < mesh.planes; ++plane)
      write_coordinates(put, header, axis, plane * static_cast<std::int64_t>(mesh.x.size()),
                        axis == 0 ? mesh.x : mesh.y);
}

}  // namespace

void write(const formats::Series& series, const std::filesystem::path& path, const WriteRequest& request) {
  SerafinHeader header = header_of(series, request);
  if (!attribute<std::vector<std::int64_t>>(series.first.header, "iparam"))
    header.iparam[7] = boundary_points(series.boundary, series.mesh.x.size());
  file::File file = file::open_write(path);
  file::resize(file, 0);
  const Put put = [&](std::uint64_t at, std::span<const std::byte> bytes) { file::pwrite_all(file, at, bytes); };
  write_mesh(put, header, series, series.boundary);
  for_each_step(series, request.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    write_time(put, header, step, dataset.header.time);
    for (std::size_t v = 0; v < series.variables.size(); ++v)
      write_values(put, header, step, v, 0, values_of(series, dataset, series.variables[v].name));
  });
}

}  // namespace octavo::formats::serafin
