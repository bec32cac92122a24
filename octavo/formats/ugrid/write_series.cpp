#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "octavo/base/error.hpp"
#include "octavo/formats/ugrid/classic_file.hpp"
#include "octavo/formats/ugrid/ugrid.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::ugrid {
namespace {

using base::Error;
using base::Kind;

// Dimensions and variables, by number. Fields follow.
namespace dimension {
enum : std::uint32_t { time, points, faces, corners };
}
namespace variable {
enum : std::size_t { topology, x, y, connectivity, time, fields };
}

/// A name that NetCDF's tools and CF take: letters, digits and underscores, a letter first; of its own.
std::string variable_name(const std::string& name, const std::vector<NewVariable>& taken) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (out.empty() || std::isalpha(static_cast<unsigned char>(out[0])) == 0) out.insert(0, "v_");
  const auto is_taken = [&] {
    return std::any_of(taken.begin(), taken.end(), [&](const NewVariable& other) { return other.name == out; });
  };
  while (is_taken()) out += '_';
  return out;
}

/// The time from which seconds count, if the step tells one.
std::string origin_of(const mesh::Header& header) {
  if (const auto origin = attribute<std::string>(header, "time_origin")) return *origin;
  const auto date = attribute<std::vector<std::int64_t>>(header, "date");
  if (!date || date->size() != 6) return {};
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d:%02d", static_cast<int>((*date)[0]),
                static_cast<int>((*date)[1]), static_cast<int>((*date)[2]), static_cast<int>((*date)[3]),
                static_cast<int>((*date)[4]), static_cast<int>((*date)[5]));
  return text.data();
}

void add_mesh(const mesh::Header& header, bool mixed, std::vector<NewVariable>& to) {
  using Attributes = decltype(NewVariable::attributes);
  const bool degrees = attribute<std::int64_t>(header, "degrees").value_or(0) == 1;
  const std::string length = mesh::word_of_length(header.unit_length);
  const auto axis = [&](const std::string& names, const std::string& direction) {
    Attributes out{{"standard_name", names}};
    if (degrees) out.emplace_back("units", "degrees_" + direction);
    if (!degrees && !length.empty()) out.emplace_back("units", length);
    return out;
  };
  to.push_back({"mesh2d",
                ClassicType::int32,
                {},
                {{"cf_role", "mesh_topology"},
                 {"topology_dimension", 2.0},
                 {"node_coordinates", "mesh2d_node_x mesh2d_node_y"},
                 {"face_node_connectivity", "mesh2d_face_nodes"},
                 {"face_dimension", "mesh2d_faces"}}});
  to.push_back({"mesh2d_node_x",
                ClassicType::float64,
                {dimension::points},
                axis(degrees ? "longitude" : "projection_x_coordinate", "east")});
  to.push_back({"mesh2d_node_y",
                ClassicType::float64,
                {dimension::points},
                axis(degrees ? "latitude" : "projection_y_coordinate", "north")});
  Attributes list{{"cf_role", "face_node_connectivity"}, {"start_index", 0.0}};
  if (mixed) list.emplace_back("_FillValue", -1.0);
  to.push_back({"mesh2d_face_nodes", ClassicType::int32, {dimension::faces, dimension::corners}, list});
  const std::string origin = origin_of(header);
  to.push_back({"time",
                ClassicType::float64,
                {dimension::time},
                {{"standard_name", "time"}, {"units", origin.empty() ? "s" : "seconds since " + origin}}});
}

void add_fields(const Series& series, bool single_precision, std::vector<NewVariable>& to) {
  for (const mesh::FieldInfo& info : series.variables) {
    const bool at_cells = mesh::in_cells(series.first.header, info);
    const bool small = single_precision || info.type == mesh::ScalarType::float32;
    NewVariable added{variable_name(info.name, to),
                      small ? ClassicType::float32 : ClassicType::float64,
                      {dimension::time, at_cells ? dimension::faces : dimension::points},
                      {{"mesh", "mesh2d"}, {"location", at_cells ? "face" : "node"}, {"long_name", info.name}}};
    if (!info.unit.empty()) added.attributes.emplace_back("units", info.unit);
    if (added.name != info.name) added.attributes.emplace_back("octavo_name", info.name);
    to.push_back(std::move(added));
  }
}

ClassicContents contents_of(const Series& series, std::span<const std::int64_t> by_corners, bool single_precision) {
  const mesh::Header& header = series.first.header;
  const auto kinds = std::count_if(by_corners.begin(), by_corners.end(), [](std::int64_t n) { return n > 0; });
  ClassicContents out;
  out.records = series.times.size();
  out.dimensions = {{"time", 0},
                    {"mesh2d_nodes", series.mesh.x.size()},
                    {"mesh2d_faces", static_cast<std::uint64_t>(mesh::num_cells(by_corners))},
                    {"mesh2d_max_face_nodes", by_corners.size() + 2}};
  out.attributes = {{"Conventions", "CF-1.8 UGRID-1.0"}};
  if (const auto title = attribute<std::string>(header, "title"); title && !title->empty())
    out.attributes.emplace_back("title", *title);
  add_mesh(header, kinds > 1, out.variables);
  if (!series.times.empty()) add_fields(series, single_precision, out.variables);
  return out;
}

/// The corners of all cells, a block at a time.
void put_cells(const mesh::Unstructured& mesh, const std::vector<std::int64_t>& first, std::size_t most,
               ClassicFile& file) {
  constexpr std::size_t block = 65536;
  std::vector<double> rows;
  for (std::size_t begin = 0; begin + 1 < first.size(); begin += block) {
    rows.clear();
    for (std::size_t c = begin; c < std::min(first.size() - 1, begin + block); ++c) {
      for (const std::int64_t point : mesh::corners_of(mesh.connectivity, first[c], first[c + 1]))
        rows.push_back(static_cast<double>(point));
      rows.resize((c - begin + 1) * most, -1);
    }
    file.put(variable::connectivity, 0, begin * most, rows);
  }
}

}  // namespace

void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request) {
  if (series.mesh.planes > 1)
    throw Error(Kind::unsupported, "UGRID files of one plane are written, not of " + std::to_string(series.mesh.planes))
        .hint("--to vtkhdf, med or serafin holds planes");
  const std::vector<std::int64_t> kept = mesh::cells_by_corners(series.first.header);
  const auto triangles = static_cast<std::int64_t>(series.mesh.connectivity.size() / 3);
  const std::vector<std::int64_t> by_corners = kept.empty() ? std::vector<std::int64_t>{triangles} : kept;
  std::vector<std::int64_t> first;
  if (kept.empty())
    for (std::int64_t t = 0; t <= triangles; ++t) first.push_back(t);
  else
    first = mesh::first_triangles(series.mesh.connectivity);
  if (std::ssize(first) - 1 != mesh::num_cells(by_corners))
    throw Error(Kind::corrupt, "expected " + std::to_string(mesh::num_cells(by_corners)) + " cells, found " +
                                   std::to_string(first.size() - 1))
        .at(series.first.path);
  ClassicFile file(path, contents_of(series, by_corners, request.single_precision));
  file.put(variable::topology, 0, 0, std::array<double, 1>{0});
  file.put(variable::x, 0, 0, series.mesh.x);
  file.put(variable::y, 0, 0, series.mesh.y);
  put_cells(series.mesh, first, by_corners.size() + 2, file);
  for_each_step(series, request.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    const auto record = static_cast<std::uint64_t>(step);
    file.put(variable::time, record, 0, std::array<double, 1>{dataset.header.time});
    for (std::size_t v = 0; v < series.variables.size(); ++v)
      file.put(variable::fields + v, record, 0, values_of(series, dataset, series.variables[v]));
  });
  file.close();
}

}  // namespace octavo::formats::ugrid
