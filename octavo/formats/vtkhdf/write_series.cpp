#include "octavo/formats/vtkhdf/write_series.hpp"

#include "octavo/formats/vtkhdf/write.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::vtkhdf {
namespace {

VtkhdfWriter::SeriesInfo info_of(const Series& series, bool single_precision) {
  VtkhdfWriter::SeriesInfo info{series.variables, series.times, series.first.header.attributes};
  info.cells = mesh::cells_by_corners(series.first.header);
  info.length_unit = mesh::word_of_length(series.first.header.unit_length);
  if (series.times.empty()) info.fields.clear();  // their names are an attribute
  if (single_precision)
    for (mesh::FieldInfo& field : info.fields)
      if (!mesh::is_integer(field.type)) field.type = mesh::ScalarType::float32;
  return info;
}

}  // namespace

void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request) {
  const bool planes = series.mesh.planes > 1;
  VtkhdfWriter writer =
      mesh::holds_solids(series.first.header)
          ? VtkhdfWriter(path, series.solids, info_of(series, request.single_precision))
          : VtkhdfWriter(path, series.mesh, series.boundary, info_of(series, request.single_precision));
  if (planes && series.times.empty()) writer.put_heights(0, plane_heights(series));
  for_each_step(series, request.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    for (std::size_t v = 0; v < series.variables.size(); ++v) {
      if (mesh::is_integer(series.variables[v].type)) {
        writer.put_values(step, v, integers_of(series, dataset, series.variables[v]));
        continue;
      }
      const std::vector<double> values = values_of(series, dataset, series.variables[v]);
      writer.put_values(step, v, values);
      if (planes && v == 0) writer.put_heights(step, values);
    }
  });
  writer.close();
}

}  // namespace octavo::formats::vtkhdf
