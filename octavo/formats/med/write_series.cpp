#include "octavo/formats/med/write_series.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/med/parameters.hpp"
#include "octavo/formats/med/row.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/serafin/odd_bytes.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::med {
namespace {

using base::Error;
using base::Kind;

constexpr const char* mesh_name = "MESH";  // TELEMAC's

/// The heights of points at the first step, for programs that show the mesh; without steps, the plane numbers.
std::vector<double> heights_of(const Series& series) {
  if (series.mesh.planes == 1) return {};
  std::vector<double> z = plane_heights(series);
  Series one = series;
  one.times.resize(std::min<std::size_t>(one.times.size(), 1));
  for_each_step(one, {}, [&](std::int64_t, const mesh::Dataset& step) {
    z = values_of(series, step, series.variables.at(0).name);
  });
  return z;
}

/// Numbers of cells in the order that MED keeps cells in; empty if there are none.
std::vector<std::int32_t> shape_by_shape(const mesh::Solids& mesh, const std::vector<std::int32_t>& of_cell) {
  std::vector<std::int32_t> out;
  for (const int corners : {4, 5, 6, 8})
    for (std::size_t c = 0; c < of_cell.size(); ++c)
      if (mesh.corners[c] == corners) out.push_back(of_cell[c]);
  return out;
}

}  // namespace

void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request, WriteReport& report) {
  const mesh::Header& header = series.first.header;
  if (std::max(report.points, report.elements) > std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::unsupported, "MED's integers are of 32 bits here: too many points").at(request.out.string());
  const std::string length = header.unit_length == 100 ? "M" : mesh::word_of_length(header.unit_length);
  MedWriter writer(path, {serafin::title_record(header, ""), request.single_precision, length});
  const bool solid = mesh::holds_solids(header);
  if (solid)
    writer.add_mesh(mesh_name, series.solids);
  else
    writer.add_mesh(mesh_name, series.mesh, heights_of(series), series.boundary);
  write_parameters(writer, header, series.mesh.planes);
  MeshGroups groups = series.groups.value_or(MeshGroups{});
  if (solid) groups.of_triangle = shape_by_shape(series.solids, groups.of_triangle);
  writer.add_groups(mesh_name, groups);
  report.groups = std::ssize(groups.families);
  std::vector<std::string> fields, names;
  for (const mesh::FieldInfo& info : series.variables) names.push_back(info.name);
  writer.add_order(names);
  for (const mesh::FieldInfo& info : series.variables)
    fields.push_back(writer.add_field(mesh_name, info.name, info.unit));
  for_each_step(series, request.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    for (std::size_t v = 0; v < fields.size(); ++v) {
      const std::vector<double> values = values_of(series, dataset, series.variables[v]);
      const auto number = static_cast<std::int32_t>(step);
      if (mesh::in_cells(header, series.variables[v]))
        writer.put_values(fields[v], number, dataset.header.time, values, series.solids);
      else
        writer.put_values(fields[v], number, dataset.header.time, values);
    }
  });
  writer.close();
}

}  // namespace octavo::formats::med
