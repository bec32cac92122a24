#include "octavo/jobs/to_serafin.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/layout.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/jobs/new_file.hpp"
#include "octavo/jobs/open.hpp"

namespace octavo::jobs {
namespace {

using base::Error;
using base::Kind;
namespace serafin = formats::serafin;

template <class T>
std::optional<T> attribute(const mesh::Header& header, const char* name) {
  const auto found = header.attributes.find(name);
  const T* value = found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

bool is_variable(const mesh::FieldInfo& field) {
  return field.type == mesh::ScalarType::float64 || field.type == mesh::ScalarType::float32;
}

/// Names of the variables to write, in order.
std::vector<std::string> variables_of(const mesh::Header& header, const ToSerafinOptions& options) {
  std::vector<std::string> names;
  for (const std::size_t f : mesh::select_fields(header, options.fields))
    if (is_variable(header.fields[f])) names.push_back(header.fields[f].name);
  return names;
}

void set_title(const mesh::Header& from, serafin::Header& to) {
  to.title.fill(' ');
  const auto put = [&](const std::string& text, std::size_t begin, std::size_t most) {
    const std::string latin = serafin::latin1_of(text).substr(0, most);
    std::copy(latin.begin(), latin.end(), to.title.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  put(attribute<std::string>(from, "title").value_or(""), 0, 72);
  put(attribute<std::string>(from, "tag").value_or(to.real_bytes == 8 ? "SERAFIND" : "SERAFIN"), 72, 8);
}

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

serafin::Header header_of(const mesh::Header& from, const mesh::Unstructured& mesh, const ToSerafinOptions& options) {
  serafin::Header to;
  to.real_bytes = real_bytes_of(from, options);
  if (attribute<std::string>(from, "byte_order").value_or("big") == "little") to.order = std::endian::little;
  for (const std::string& name : variables_of(from, options)) {
    const auto& info = from.fields[mesh::select_fields(from, std::vector{name})[0]];
    to.variables.push_back(serafin::variable(name.substr(0, name.find('#')), info.unit));
  }
  to.quadratic = static_cast<int>(options.fields ? 0 : attribute<std::int64_t>(from, "quadratic").value_or(0));
  copy_integers(attribute<std::vector<std::int64_t>>(from, "iparam"), to.iparam);
  const auto date = attribute<std::vector<std::int64_t>>(from, "date");
  if (date) copy_integers(date, to.date.emplace());
  to.iparam[6] = mesh.planes > 1 ? mesh.planes : 0;
  to.iparam[9] = to.date ? std::max(to.iparam[9], 1) : 0;
  const std::int64_t layers = std::max(1, mesh.planes - 1);
  const auto points = static_cast<std::int64_t>(mesh.x.size()) * mesh.planes;
  const auto elements = static_cast<std::int64_t>(mesh.connectivity.size() / 3) * layers;
  if (std::max(points, elements) > std::int64_t{0x7FFFFFFF})
    throw Error(Kind::unsupported, "SERAFIN cannot hold a mesh of " + std::to_string(points) + " points");
  to.points = static_cast<std::int32_t>(points);
  to.elements = static_cast<std::int32_t>(elements);
  to.nodes = mesh.planes > 1 ? 6 : 3;
  set_title(from, to);
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

std::vector<std::int32_t> numbers_of(const mesh::Dataset& dataset, std::int32_t points) {
  mesh::Request request;
  for (const char* name : {"IPOBO", "GLB"})
    for (const mesh::FieldInfo& field : dataset.header.fields)
      if (field.name == name && field.type == mesh::ScalarType::int32) request.fields = {{std::string(name)}};
  if (!request.fields) return std::vector<std::int32_t>(static_cast<std::size_t>(points), 0);
  const mesh::Part part = dataset.read(0, request);
  const auto found = part.fields.at(0).as<std::int32_t>();
  return {found.begin(), found.end()};
}

void write_mesh(const serafin::Put& put, const serafin::Header& header, const mesh::Unstructured& mesh,
                const mesh::Dataset& dataset) {
  serafin::write_header(put, header);
  write_connectivity_of(put, header, mesh);
  serafin::write_numbers(put, header, 0, numbers_of(dataset, header.points));
  for (int axis = 0; axis < 2; ++axis)
    for (std::int64_t plane = 0; plane < mesh.planes; ++plane)
      serafin::write_coordinates(put, header, axis, plane * static_cast<std::int64_t>(mesh.x.size()),
                                 axis == 0 ? mesh.x : mesh.y);
}

void write_step(const serafin::Put& put, const serafin::Header& header, std::int64_t step, const mesh::Dataset& dataset,
                const std::vector<std::string>& names) {
  serafin::write_time(put, header, step, dataset.header.time);
  for (std::size_t v = 0; v < names.size(); ++v) {
    mesh::Request request;
    request.fields = {{names[v]}};
    request.mesh = false;
    const mesh::Part part = dataset.read(0, request);
    const mesh::Field& field = part.fields.at(0);
    if (field.size() != static_cast<std::size_t>(header.points))
      throw Error(Kind::unsupported, "the mesh changes from step to step").at(dataset.path);
    const std::vector<double> values =
        mesh::visit_values(field, [](auto all) { return std::vector<double>(all.begin(), all.end()); });
    serafin::write_values(put, header, step, v, 0, values);
  }
}

}  // namespace

ToSerafinReport to_serafin(const std::filesystem::path& path, const std::filesystem::path& out,
                           const ToSerafinOptions& options) {
  const mesh::Dataset first = open(path);
  if (!first.unstructured) throw Error(Kind::unsupported, "SERAFIN holds meshes of triangles").at(path.string());
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  const mesh::Part part = first.read(0, only);
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const serafin::Header header = header_of(first.header, mesh, options);
  const std::vector<std::string> names = variables_of(first.header, options);
  const auto all = names.empty() ? std::vector<store::StepInfo>{} : steps(path);
  NewFile file(out, options.overwrite);
  const serafin::Put put = [&](std::uint64_t at, std::span<const std::byte> bytes) { file.put(at, bytes); };
  write_mesh(put, header, mesh, first);
  ToSerafinReport report{0, header.points, header.elements, 0};
  const bool flows = store::recognise(path);
  for (const store::StepInfo& info : all) {
    const StepChoice choice{flows ? std::optional(info.flow) : std::nullopt, info.step};
    write_step(put, header, report.steps++, open(path, choice), names);
    if (options.progress && !options.progress(report.steps, static_cast<std::int64_t>(all.size())))
      throw Error(Kind::interrupted, "interrupted");
  }
  file.finish();
  report.bytes = static_cast<std::int64_t>(std::filesystem::file_size(out));
  return report;
}

}  // namespace octavo::jobs
