#include "octavo/step/to_vtkhdf.hpp"

#include <algorithm>

#include "octavo/formats/vtkhdf/write.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {
namespace {

formats::vtkhdf::Writer::Layout layout_of(const TriangleSeries& series, bool single_precision) {
  formats::vtkhdf::Writer::Layout layout{series.variables, {}, series.first.header.attributes};
  if (series.steps.empty()) layout.fields.clear();  // their names are an attribute
  for (const store::StepInfo& step : series.steps) layout.times.push_back(step.time);
  if (single_precision)
    for (mesh::FieldInfo& info : layout.fields) info.type = mesh::ScalarType::float32;
  return layout;
}

}  // namespace

ToVtkhdfReport to_vtkhdf(const std::filesystem::path& path, const std::filesystem::path& out,
                         const ToVtkhdfOptions& options) {
  const TriangleSeries series = open_triangles(path, options.fields, "VTKHDF of this kind", options.flow);
  const bool planes = series.mesh.planes > 1;
  const std::int64_t layers = std::max(1, series.mesh.planes - 1);
  ToVtkhdfReport report{static_cast<std::int64_t>(series.steps.size()),
                        num_points(series),
                        static_cast<std::int64_t>(series.mesh.connectivity.size() / 3) * layers,
                        0,
                        {}};
  NewFile file(out, options.overwrite);
  // HDF5 makes its files itself.
  std::filesystem::remove(file.partial());
  formats::vtkhdf::Writer writer(file.partial(), series.mesh, boundary_ranks(series, report.notes),
                                 layout_of(series, options.single_precision));
  if (planes && series.steps.empty()) writer.put_heights(0, plane_heights(series));
  for_each_step(series, options.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    for (std::size_t v = 0; v < series.variables.size(); ++v) {
      const std::vector<double> values = values_of(series, dataset, series.variables[v].name);
      writer.put_values(step, v, values);
      if (planes && v == 0) writer.put_heights(step, values);
    }
  });
  writer.close();
  file.finish();
  report.bytes = static_cast<std::int64_t>(std::filesystem::file_size(out));
  return report;
}

}  // namespace octavo::step
