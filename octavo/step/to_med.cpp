#include "octavo/step/to_med.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/step/med_header.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
namespace med = formats::med;

constexpr const char* mesh_name = "MESH";  // TELEMAC's

/// Points' heights at the first step, for those who look at the mesh; plane numbers where there is no step.
std::vector<double> heights_of(const TriangleSeries& series) {
  if (series.mesh.planes == 1) return {};
  std::vector<double> z = plane_heights(series);
  TriangleSeries one = series;
  one.steps.resize(std::min<std::size_t>(one.steps.size(), 1));
  for_each_step(one, {}, [&](std::int64_t, const mesh::Dataset& step) {
    z = values_of(series, step, series.variables.at(0).name);
  });
  return z;
}

}  // namespace

ToMedReport to_med(const std::filesystem::path& path, const std::filesystem::path& out, const ToMedOptions& options) {
  const TriangleSeries series = open_triangles(path, options.fields, "MED", options.flow);
  const bool has_groups = series.first.format == "med" && !options.boundary;
  return to_med(series, has_groups ? med::read_groups(path) : med::Groups{}, out, options);
}

ToMedReport to_med(const TriangleSeries& series, const med::Groups& given, const std::filesystem::path& out,
                   const ToMedOptions& options) {
  const mesh::Header& header = series.first.header;
  const std::int64_t points = num_points(series);
  const auto elements =
      static_cast<std::int64_t>(series.mesh.connectivity.size() / 3) * std::max(1, series.mesh.planes - 1);
  if (std::max(points, elements) > std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::unsupported, "MED's integers are of 32 bits here: too many points").at(out.string());
  ToMedReport report{static_cast<std::int64_t>(series.steps.size()), points, elements, 0, 0, {}};
  NewFile file(out, options.overwrite);
  med::Writer writer(file.partial(), {title_record(header, ""), options.single_precision});
  writer.add_mesh(mesh_name, series.mesh, heights_of(series), boundary_ranks(series, report.notes));
  write_med_parameters(writer, header, series.mesh.planes);
  const med::Groups groups =
      options.boundary ? groups_of_boundary(*options.boundary, series.mesh, report.notes) : given;
  writer.add_groups(mesh_name, groups);
  report.groups = static_cast<std::int64_t>(groups.families.size());
  std::vector<std::string> fields, names;
  for (const mesh::FieldInfo& info : series.variables) names.push_back(info.name);
  writer.add_order(names);
  for (const mesh::FieldInfo& info : series.variables)
    fields.push_back(writer.add_field(mesh_name, info.name, info.unit));
  for_each_step(series, options.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    for (std::size_t v = 0; v < fields.size(); ++v)
      writer.put_values(fields[v], static_cast<std::int32_t>(step), dataset.header.time,
                        values_of(series, dataset, series.variables[v].name));
  });
  writer.close();
  file.finish();
  report.bytes = static_cast<std::int64_t>(std::filesystem::file_size(out));
  return report;
}

}  // namespace octavo::step
