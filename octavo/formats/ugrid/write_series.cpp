#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <functional>
#include <span>

#include "octavo/base/error.hpp"
#include "octavo/formats/ugrid/classic_file.hpp"
#include "octavo/formats/ugrid/ugrid.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::ugrid {
namespace {

using base::Error;
using base::Kind;

// Dimensions by number.
namespace dimension {
enum : std::uint32_t { time, points, cells, corners };
}

/// Variables by number: the topology is 0, axes follow.
struct VariableNumbers {
  std::size_t connectivity = 0, shapes = 0, time = 0;
  std::size_t fields = 0;  ///< the first
};

/// The words of the conventions for a mesh of faces, or of volumes.
struct MeshWords {
  std::string mesh, cell;
  std::size_t axes = 2;
};
MeshWords words_for(const mesh::Header& header) {
  return mesh::holds_solids(header) ? MeshWords{"mesh3d", "volume", 3} : MeshWords{"mesh2d", "face", 2};
}

/// The corners of volumes, in the order of mesh::solids_attribute.
constexpr std::array<std::uint8_t, 4> volume_corners{4, 5, 6, 8};

using Attributes = decltype(NewVariable::attributes);
std::vector<double> one(double value) { return {value}; }

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

void add_points(const mesh::Header& header, const MeshWords& words, std::vector<NewVariable>& to) {
  const bool degrees = attribute<std::int64_t>(header, "degrees").value_or(0) == 1;
  const std::string length = mesh::word_of_length(header.unit_length);
  struct AxisWords {
    const char *name, *plane, *sphere, *degrees;
  };
  constexpr std::array<AxisWords, 3> all{{{"x", "projection_x_coordinate", "longitude", "degrees_east"},
                                          {"y", "projection_y_coordinate", "latitude", "degrees_north"},
                                          {"z", "height", "height", nullptr}}};
  for (const AxisWords& axis : std::span(all).first(words.axes)) {
    Attributes list{{"standard_name", std::string(degrees ? axis.sphere : axis.plane)}};
    if (degrees && axis.degrees != nullptr)
      list.emplace_back("units", std::string(axis.degrees));
    else if (!length.empty())
      list.emplace_back("units", length);
    to.push_back({words.mesh + "_node_" + axis.name, ClassicType::float64, {dimension::points}, std::move(list)});
  }
}

/// The shape of each volume, which the conventions ask for. They name neither pyramids nor the order of corners.
NewVariable shapes_of_volumes(const MeshWords& words) {
  return {words.mesh + "_volume_types",
          ClassicType::int32,
          {dimension::cells},
          {{"cf_role", "volume_shape_type"},
           {"flag_values", std::vector<double>{0, 1, 2, 3}},
           {"flag_meanings", "tetrahedron pyramid wedge hexahedron"}}};
}

VariableNumbers add_mesh(const mesh::Header& header, bool mixed, std::vector<NewVariable>& to) {
  const MeshWords words = words_for(header);
  const std::string nodes = words.mesh + "_" + words.cell + "_nodes";
  std::string axes;
  for (const char* axis : {"x", "y", "z"})
    if (axis[0] != 'z' || words.axes == 3) axes += (axes.empty() ? "" : " ") + words.mesh + "_node_" + axis;
  NewVariable topology{words.mesh,
                       ClassicType::int32,
                       {},
                       {{"cf_role", "mesh_topology"},
                        {"topology_dimension", one(static_cast<double>(words.axes))},
                        {"node_coordinates", axes},
                        {words.cell + "_node_connectivity", nodes},
                        {words.cell + "_dimension", words.mesh + "_" + words.cell + "s"}}};
  if (words.axes == 3) topology.attributes.emplace_back("volume_shape_type", shapes_of_volumes(words).name);
  to.push_back(std::move(topology));
  add_points(header, words, to);
  VariableNumbers numbers;
  numbers.connectivity = to.size();
  Attributes list{{"cf_role", words.cell + "_node_connectivity"}, {"start_index", one(0)}};
  if (mixed) list.emplace_back("_FillValue", one(-1));
  to.push_back({nodes, ClassicType::int32, {dimension::cells, dimension::corners}, list});
  numbers.shapes = to.size();
  if (words.axes == 3) to.push_back(shapes_of_volumes(words));
  numbers.time = to.size();
  const std::string origin = origin_of(header);
  to.push_back({"time",
                ClassicType::float64,
                {dimension::time},
                {{"standard_name", "time"}, {"units", origin.empty() ? "s" : "seconds since " + origin}}});
  numbers.fields = to.size();
  return numbers;
}

void add_fields(const Series& series, bool single_precision, std::vector<NewVariable>& to) {
  const MeshWords words = words_for(series.first.header);
  for (const mesh::FieldInfo& info : series.variables) {
    const bool at_cells = mesh::in_cells(series.first.header, info);
    const bool small = single_precision || info.type == mesh::ScalarType::float32;
    NewVariable added{variable_name(info.name, to),
                      small ? ClassicType::float32 : ClassicType::float64,
                      {dimension::time, at_cells ? dimension::cells : dimension::points},
                      {{"mesh", words.mesh}, {"location", at_cells ? words.cell : "node"}, {"long_name", info.name}}};
    if (!info.unit.empty()) added.attributes.emplace_back("units", info.unit);
    if (added.name != info.name) added.attributes.emplace_back("octavo_name", info.name);
    to.push_back(std::move(added));
  }
}

/// How many cells there are, with up to how many corners, and whether their numbers of corners differ.
struct CellTable {
  std::int64_t cells = 0;
  std::size_t corners = 0;
  bool mixed = false;
};

CellTable table_of(std::span<const std::int64_t> counts, const std::function<std::size_t(std::size_t)>& corners_of) {
  CellTable out;
  out.corners = corners_of(0);
  for (std::size_t shape = 0; shape < counts.size(); ++shape) {
    if (counts[shape] == 0) continue;
    out.mixed = out.cells > 0;
    out.cells += counts[shape];
    out.corners = corners_of(shape);
  }
  return out;
}

ClassicContents contents_of(const Series& series, const CellTable& table, bool single_precision,
                            VariableNumbers& numbers) {
  const mesh::Header& header = series.first.header;
  const MeshWords words = words_for(header);
  ClassicContents out;
  out.records = series.times.size();
  out.dimensions = {{"time", 0},
                    {words.mesh + "_nodes", static_cast<std::uint64_t>(num_points(series))},
                    {words.mesh + "_" + words.cell + "s", static_cast<std::uint64_t>(table.cells)},
                    {words.mesh + "_max_" + words.cell + "_nodes", table.corners}};
  out.attributes = {{"Conventions", "CF-1.8 UGRID-1.0"}};
  if (const auto title = attribute<std::string>(header, "title"); title && !title->empty())
    out.attributes.emplace_back("title", *title);
  numbers = add_mesh(header, table.mixed, out.variables);
  if (!series.times.empty()) add_fields(series, single_precision, out.variables);
  return out;
}

/// The corners of all cells, a block at a time. `corners_of`: of a cell.
void put_cells(const CellTable& table, const std::function<std::vector<std::int64_t>(std::size_t)>& corners_of,
               std::size_t variable, ClassicFile& file) {
  constexpr std::size_t block = 65536;
  const auto cells = static_cast<std::size_t>(table.cells);
  std::vector<double> rows;
  for (std::size_t begin = 0; begin < cells; begin += block) {
    rows.clear();
    for (std::size_t c = begin; c < std::min(cells, begin + block); ++c) {
      for (const std::int64_t point : corners_of(c)) rows.push_back(static_cast<double>(point));
      rows.resize((c - begin + 1) * table.corners, -1);
    }
    file.put(variable, 0, begin * table.corners, rows);
  }
}

void put_steps(const Series& series, const VariableNumbers& numbers, const base::Progress& progress,
               ClassicFile& file) {
  for_each_step(series, progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    const auto record = static_cast<std::uint64_t>(step);
    file.put(numbers.time, record, 0, one(dataset.header.time));
    for (std::size_t v = 0; v < series.variables.size(); ++v)
      file.put(numbers.fields + v, record, 0, values_of(series, dataset, series.variables[v]));
  });
  file.close();
}

void write_solids(const Series& series, const std::filesystem::path& path, const WriteRequest& request) {
  const mesh::Solids& mesh = series.solids;
  const CellTable table =
      table_of(mesh::count_solids(mesh), [](std::size_t shape) { return std::size_t{volume_corners[shape]}; });
  VariableNumbers numbers;
  ClassicFile file(path, contents_of(series, table, request.single_precision, numbers));
  file.put(0, 0, 0, one(0));
  file.put(1, 0, 0, mesh.x);
  file.put(2, 0, 0, mesh.y);
  file.put(3, 0, 0, mesh.z);
  const std::vector<std::int64_t> first = mesh::first_corners(mesh);
  const auto corners_of = [&](std::size_t c) {
    return std::vector(mesh.connectivity.begin() + first[c], mesh.connectivity.begin() + first[c + 1]);
  };
  put_cells(table, corners_of, numbers.connectivity, file);
  std::vector<double> shapes;
  for (const std::uint8_t corners : mesh.corners)
    shapes.push_back(
        static_cast<double>(std::find(volume_corners.begin(), volume_corners.end(), corners) - volume_corners.begin()));
  file.put(numbers.shapes, 0, 0, shapes);
  put_steps(series, numbers, request.progress, file);
}

}  // namespace

void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request) {
  if (mesh::holds_solids(series.first.header)) return write_solids(series, path, request);
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
  const CellTable table = table_of(by_corners, [](std::size_t shape) { return shape + 3; });
  VariableNumbers numbers;
  ClassicFile file(path, contents_of(series, table, request.single_precision, numbers));
  file.put(0, 0, 0, one(0));
  file.put(1, 0, 0, series.mesh.x);
  file.put(2, 0, 0, series.mesh.y);
  put_cells(
      table, [&](std::size_t c) { return mesh::corners_of(series.mesh.connectivity, first[c], first[c + 1]); },
      numbers.connectivity, file);
  put_steps(series, numbers, request.progress, file);
}

}  // namespace octavo::formats::ugrid
