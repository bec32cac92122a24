#include "octavo/step/triangle_series.hpp"

#include <algorithm>
#include <memory>

#include "octavo/base/error.hpp"
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
  for (const std::size_t f : mesh::select_fields(header, fields)) {
    const mesh::ScalarType type = header.fields[f].type;
    const bool real = type == mesh::ScalarType::float64 || type == mesh::ScalarType::float32;
    const bool whole = type == mesh::ScalarType::int32 || type == mesh::ScalarType::int64;
    if (real || (whole && mesh::holds_solids(header))) out.push_back(header.fields[f]);
  }
  return out;
}

mesh::Mesh mesh_of(const formats::Series& series) {
  if (mesh::holds_solids(series.first.header)) return series.solids;
  return series.mesh;
}

}  // namespace

std::vector<std::int32_t> stored_boundary_numbers(const mesh::Dataset& dataset) {
  for (const mesh::FieldInfo& field : dataset.header.fields) {
    if ((field.name != "IPOBO" && field.name != "GLB") || field.type != mesh::ScalarType::int32) continue;
    mesh::Request request;
    request.fields = {{field.name}};
    request.mesh = false;
    const mesh::Part part = dataset.read(0, request);
    const auto values = part.fields.at(0).as<std::int32_t>();
    return {values.begin(), values.end()};
  }
  return {};
}

formats::Series series_of(mesh::Dataset first, const std::optional<std::vector<std::string>>& fields,
                          std::vector<double> times) {
  formats::Series series;
  series.first = std::move(first);
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  mesh::Part part = series.first.read(0, only);
  if (mesh::holds_solids(series.first.header))
    series.solids = std::get<mesh::Solids>(std::move(part.mesh));
  else
    series.mesh = std::get<mesh::Unstructured>(std::move(part.mesh));
  series.variables = variables_of(series.first.header, fields);
  if (!series.variables.empty())
    series.times = std::move(times);
  else if (!fields)
    series.variables = mesh::announced(series.first.header);
  return series;
}

formats::Series open_series(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                            const std::string& what, std::optional<store::Flow> flow) {
  const std::vector<store::StepInfo> all = steps_of_flow(path, flow);
  mesh::Dataset first = open(path, {flow, {}});
  if (!first.unstructured)
    throw Error(Kind::unsupported, what + " holds meshes of triangles, not of cells").at(path.string());
  if (first.num_parts != 1)
    throw Error(Kind::unsupported, "a mesh in " + std::to_string(first.num_parts) + " parts")
        .at(path.string())
        .hint("octavo merge puts it together");
  std::vector<double> times;
  for (const store::StepInfo& info : all) times.push_back(info.time);
  formats::Series series = series_of(std::move(first), fields, std::move(times));
  // Each step of a store may have a mesh of its own.
  const auto mesh = store::recognise(path) ? std::make_shared<OneMesh>(mesh_of(series)) : nullptr;
  series.open = [path, all, mesh](std::size_t number) {
    const store::StepInfo& info = all[number];
    mesh::Dataset step = open(path, {mesh ? std::optional(info.flow) : std::nullopt, info.step});
    if (mesh) mesh->require(step, info);
    return step;
  };
  return series;
}

formats::Series open_triangles(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                               const std::string& what, std::optional<store::Flow> flow) {
  formats::Series series = open_series(path, fields, what, flow);
  mesh::refuse_solids(series.first, what + " holds meshes of triangles");
  return series;
}

std::vector<std::int32_t> boundary_numbers_of(const formats::Series& series, std::vector<std::string>& notes) {
  std::vector<std::int32_t> numbers = stored_boundary_numbers(series.first);
  if (!numbers.empty()) return numbers;
  notes.emplace_back("the boundary has no numbers (IPOBO): they were found from the mesh");
  return number_boundary(series.mesh);
}

std::vector<std::int32_t> number_boundary(const mesh::Unstructured& mesh) {
  const std::vector<std::int32_t> connectivity(mesh.connectivity.begin(), mesh.connectivity.end());
  const auto boundary = partition::find_boundary(connectivity, mesh.x, mesh.y);
  const auto count = static_cast<std::int32_t>(boundary.size());
  std::vector<std::int32_t> numbers(mesh.x.size() * static_cast<std::size_t>(mesh.planes), 0);
  for (std::int32_t plane = 0; plane < mesh.planes; ++plane)
    for (std::int32_t k = 0; k < count; ++k)
      numbers[static_cast<std::size_t>(plane) * mesh.x.size() +
              static_cast<std::size_t>(boundary[static_cast<std::size_t>(k)])] = plane * count + k + 1;
  return numbers;
}

}  // namespace octavo::step
