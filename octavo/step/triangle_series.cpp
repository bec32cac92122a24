#include "octavo/step/triangle_series.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/odd_bytes.hpp"
#include "octavo/mesh/announced.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/step/one_mesh.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;

std::vector<mesh::FieldInfo> variables_of(const mesh::Header& header,
                                          const std::optional<std::vector<std::string>>& fields) {
  std::vector<mesh::FieldInfo> out;
  for (const std::size_t f : mesh::select_fields(header, fields))
    if (header.fields[f].type == mesh::ScalarType::float64 || header.fields[f].type == mesh::ScalarType::float32)
      out.push_back(header.fields[f]);
  return out;
}

}  // namespace

std::vector<std::int32_t> stored_ranks(const mesh::Dataset& dataset) {
  for (const mesh::FieldInfo& field : dataset.header.fields) {
    if ((field.name != "IPOBO" && field.name != "GLB") || field.type != mesh::ScalarType::int32) continue;
    mesh::Request request;
    request.fields = {{field.name}};
    const mesh::Part part = dataset.read(0, request);
    const auto values = part.fields.at(0).as<std::int32_t>();
    return {values.begin(), values.end()};
  }
  return {};
}

std::array<std::int64_t, 2> origin_parameters(const mesh::Header& header) {
  if (const auto iparam = attribute<std::vector<std::int64_t>>(header, "iparam"); iparam && iparam->size() == 10)
    return {(*iparam)[2], (*iparam)[3]};
  return {attribute<std::int64_t>(header, "X_ORIG").value_or(0), attribute<std::int64_t>(header, "Y_ORIG").value_or(0)};
}

TriangleSeries series_of(mesh::Dataset first, const std::optional<std::vector<std::string>>& fields,
                         std::vector<store::StepInfo> steps) {
  TriangleSeries series{std::move(first), {}, {}, {}, {}};
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  series.mesh = std::get<mesh::Unstructured>(series.first.read(0, only).mesh);
  series.variables = variables_of(series.first.header, fields);
  if (!series.variables.empty())
    series.steps = std::move(steps);
  else if (!fields)
    series.variables = mesh::announced(series.first.header);
  return series;
}

TriangleSeries open_triangles(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                              const std::string& what, std::optional<store::Flow> flow) {
  std::vector<store::StepInfo> all = steps_of_flow(path, flow);
  mesh::Dataset first = open(path, {flow, {}});
  if (!first.unstructured) throw Error(Kind::unsupported, what + " holds meshes of triangles").at(path.string());
  if (first.num_parts != 1)
    throw Error(Kind::unsupported, "a mesh in " + std::to_string(first.num_parts) + " parts")
        .at(path.string())
        .hint("octavo merge puts it together");
  TriangleSeries series = series_of(std::move(first), fields, std::move(all));
  const bool flows = store::recognise(path);
  series.open = [path, flows](const store::StepInfo& info) {
    return open(path, {flows ? std::optional(info.flow) : std::nullopt, info.step});
  };
  return series;
}

std::int64_t num_points(const TriangleSeries& series) {
  return static_cast<std::int64_t>(series.mesh.x.size()) * series.mesh.planes;
}

void for_each_step(const TriangleSeries& series, const base::Progress& progress,
                   const std::function<void(std::int64_t, const mesh::Dataset&)>& each) {
  std::int64_t done = 0;
  OneMesh mesh(series.mesh);
  for (const store::StepInfo& info : series.steps) {
    const mesh::Dataset step = series.open(info);
    mesh.require(step, info);
    each(done++, step);
    if (progress && !progress(done, static_cast<std::int64_t>(series.steps.size())))
      throw Error(Kind::interrupted, "interrupted");
  }
}

std::vector<double> values_of(const TriangleSeries& series, const mesh::Dataset& step, const std::string& variable) {
  mesh::Request request;
  request.fields = {{variable}};
  request.mesh = false;
  const mesh::Part part = step.read(0, request);
  const mesh::Field& field = part.fields.at(0);
  if (field.size() != static_cast<std::size_t>(num_points(series)))
    throw Error(Kind::unsupported, "the mesh changes from step to step").at(step.path);
  return mesh::visit_values(field, [](auto all) { return std::vector<double>(all.begin(), all.end()); });
}

std::vector<std::int32_t> boundary_ranks(const TriangleSeries& series, std::vector<std::string>& notes) {
  std::vector<std::int32_t> ranks = stored_ranks(series.first);
  if (!ranks.empty()) return ranks;
  notes.emplace_back("the boundary has no numbers (IPOBO): they were found from the mesh");
  return ranks_of_mesh(series.mesh);
}

std::vector<std::int32_t> ranks_of_mesh(const mesh::Unstructured& mesh) {
  const std::vector<std::int32_t> connectivity(mesh.connectivity.begin(), mesh.connectivity.end());
  const auto boundary = partition::find_boundary(connectivity, mesh.x, mesh.y);
  const auto count = static_cast<std::int32_t>(boundary.size());
  std::vector<std::int32_t> ranks(mesh.x.size() * static_cast<std::size_t>(mesh.planes), 0);
  for (std::int32_t plane = 0; plane < mesh.planes; ++plane)
    for (std::int32_t k = 0; k < count; ++k)
      ranks[static_cast<std::size_t>(plane) * mesh.x.size() +
            static_cast<std::size_t>(boundary[static_cast<std::size_t>(k)])] = plane * count + k + 1;
  return ranks;
}

std::vector<double> plane_heights(const TriangleSeries& series) {
  std::vector<double> z;
  for (int plane = 0; plane < series.mesh.planes; ++plane) z.insert(z.end(), series.mesh.x.size(), plane);
  return z;
}

std::string unique_name(const mesh::Header& header, std::size_t f) {
  return f < header.fields.size() ? header.fields[f].name : "VARIABLE " + std::to_string(f + 1);
}

std::string title_record(const mesh::Header& header, const std::string& tag) {
  const auto record = formats::serafin::title_of(attribute<std::string>(header, "title").value_or(""),
                                                 attribute<std::string>(header, "tag").value_or(tag));
  return {record.begin(), record.end()};
}

}  // namespace octavo::step
