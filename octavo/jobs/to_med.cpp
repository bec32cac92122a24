#include "octavo/jobs/to_med.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/jobs/new_file.hpp"
#include "octavo/jobs/triangle_series.hpp"
#include "octavo/partition/contour.hpp"

namespace octavo::jobs {
namespace {

using base::Error;
using base::Kind;
namespace med = formats::med;

constexpr const char* mesh_name = "MESH";  // TELEMAC's

void write_date(med::Writer& writer, const mesh::Header& header) {
  const auto date = attribute<std::vector<std::int64_t>>(header, "date").value_or(std::vector<std::int64_t>(6, 0));
  const bool fits = med::packs(date);
  writer.add_parameter("DATE", "Date of the file", fits ? med::pack(date[0], date[1], date[2]) : 0);
  writer.add_parameter("TIME", "Time of the file", fits ? med::pack(date[3], date[4], date[5]) : 0);
  if (!fits) writer.add_parameters("date", date);
}

/// What makes the same SERAFIN file again.
void write_serafin_header(med::Writer& writer, const mesh::Header& header) {
  const auto iparam = attribute<std::vector<std::int64_t>>(header, "iparam");
  if (!iparam) return;
  writer.add_parameters("iparam", *iparam);
  writer.add_parameter("X_ORIG", "Origin of x", static_cast<std::int32_t>(iparam->at(2)));
  writer.add_parameter("Y_ORIG", "Origin of y", static_cast<std::int32_t>(iparam->at(3)));
  const bool little = attribute<std::string>(header, "byte_order").value_or("big") == "little";
  writer.add_parameter("little_endian", "of the SERAFIN file", little ? 1 : 0);
  for (const char* name : {"real_bytes", "quadratic"})
    if (const auto value = attribute<std::int64_t>(header, name))
      writer.add_parameter(name, "of the SERAFIN file", static_cast<std::int32_t>(*value));
}

/// Other numbers of a MED file.
void write_parameters(med::Writer& writer, const mesh::Header& header) {
  static const std::set<std::string> known{"meshes",     "triangles", "planes", "step",  "NPLAN",
                                           "real_bytes", "quadratic", "X_ORIG", "Y_ORIG"};
  if (header.code != "MED") return;
  for (const auto& [name, value] : header.attributes)
    if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && !known.contains(name))
      writer.add_parameter(name, "", static_cast<std::int32_t>(*number));
}

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

std::string codes_of(const formats::serafin::BoundaryPoint& point) {
  std::string text;
  for (const int code : {point.depth, point.u, point.v, point.tracer}) text += std::to_string(code);
  return text;
}

/// The boundary's edges, each in a group of the codes at its first point, as TELEMAC calls them ("CONLIM_2222").
med::Groups groups_of(const std::filesystem::path& boundary, const mesh::Unstructured& mesh) {
  if (mesh.planes > 1) throw Error(Kind::unsupported, "a boundary file of a mesh with planes").at(boundary.string());
  const auto lines = formats::serafin::read_boundary(boundary, static_cast<std::int32_t>(mesh.x.size()));
  std::vector<std::int32_t> points;
  for (const auto& line : lines) points.push_back(line.point - 1);
  const std::vector<std::int32_t> connectivity(mesh.connectivity.begin(), mesh.connectivity.end());
  const auto contour = partition::trace_contour(connectivity, static_cast<std::int32_t>(mesh.x.size()), points);
  med::Groups groups;
  std::map<std::string, std::int32_t> number_of;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::string codes = codes_of(lines[k]);
    const auto number = -static_cast<std::int32_t>(number_of.size()) - 1;
    if (number_of.emplace(codes, number).second)
      groups.families.push_back({number, "FAM_" + std::to_string(number) + "_CONLIM_" + codes, {"CONLIM_" + codes}});
    groups.edges.push_back(points[k]);
    groups.edges.push_back(points[static_cast<std::size_t>(contour.next[k])]);
    groups.of_edge.push_back(number_of[codes]);
  }
  return groups;
}

}  // namespace

ToMedReport to_med(const std::filesystem::path& path, const std::filesystem::path& out, const ToMedOptions& options) {
  const TriangleSeries series = open_triangles(path, options.fields, "MED");
  const mesh::Header& header = series.first.header;
  const std::int64_t points = num_points(series);
  const auto elements =
      static_cast<std::int64_t>(series.mesh.connectivity.size() / 3) * std::max(1, series.mesh.planes - 1);
  if (std::max(points, elements) > std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::unsupported, "MED's integers are of 32 bits here: too many points").at(path.string());
  ToMedReport report{static_cast<std::int64_t>(series.steps.size()), points, elements, 0, 0, {}};
  NewFile file(out, options.overwrite);
  med::Writer writer(file.partial(), {title_record(header, ""), options.single_precision});
  writer.add_mesh(mesh_name, series.mesh, heights_of(series), boundary_ranks(series, report.notes));
  writer.add_parameter("NPLAN", "Number of planes", series.mesh.planes > 1 ? series.mesh.planes : 0);
  write_date(writer, header);
  write_serafin_header(writer, header);
  write_parameters(writer, header);
  med::Groups groups;
  if (options.boundary)
    groups = groups_of(*options.boundary, series.mesh);
  else if (series.first.format == "med")
    groups = med::read_groups(path);
  writer.add_groups(mesh_name, groups);
  report.groups = static_cast<std::int64_t>(groups.families.size());
  std::vector<std::string> fields;
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

}  // namespace octavo::jobs
