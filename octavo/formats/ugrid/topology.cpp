#include "octavo/formats/ugrid/topology.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <sstream>
#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/solids/orientation.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::ugrid {
namespace {

using base::Error;
using base::Kind;
using mesh::ScalarType;

constexpr std::uint64_t most_places = 0x7FFFFFFF;
constexpr std::uint64_t most_corners = 1000;  // finding a fan takes the square of them

const NetcdfVariable& required(const Netcdf& file, const std::string& name, const std::string& what) {
  if (const NetcdfVariable* found = file.find(name)) return *found;
  throw Error(Kind::corrupt, what + ": expected the variable \"" + name + "\", which is not there");
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

bool has_volumes(const NetcdfVariable& topology) { return !topology.text("volume_node_connectivity").empty(); }

/// The first mesh of volumes, else the first of faces.
const NetcdfVariable& topology_of(const Netcdf& file, std::vector<std::string>& notes) {
  const NetcdfVariable* found = nullptr;
  for (const NetcdfVariable& variable : file.variables) {
    if (!is_topology(variable)) continue;
    const bool faces = !variable.text("face_node_connectivity").empty();
    if ((found == nullptr && faces) || (has_volumes(variable) && (found == nullptr || !has_volumes(*found))))
      found = &variable;
  }
  std::string others;
  for (const NetcdfVariable& variable : file.variables)
    if (is_topology(variable) && &variable != found) others += (others.empty() ? "" : ", ") + variable.name;
  if (found == nullptr)
    throw Error(Kind::unsupported, others.empty() ? "no mesh: expected a variable with cf_role = mesh_topology"
                                                  : "meshes without faces or volumes: " + others);
  if (!others.empty()) notes.push_back("the file has further meshes (" + others + "): this is " + found->name);
  return *found;
}

// ------------------------------------------------------------------ the mesh

void set_points(const NetcdfVariable& topology, UgridContents& to) {
  const std::vector<std::string> names = words_of(topology.text("node_coordinates"));
  const std::size_t axes = to.solid ? 3 : 2;
  if (names.size() < axes)
    throw Error(Kind::corrupt, "node_coordinates of " + topology.name + ": expected " + (to.solid ? "three" : "two") +
                                   " names, found \"" + topology.text("node_coordinates") + "\"");
  const std::array<NetcdfVariable*, 3> all{&to.x, &to.y, &to.z};
  for (std::size_t k = 0; k < axes; ++k) *all[k] = required(to.file, names[k], "node_coordinates");
  for (const NetcdfVariable* axis : std::span(all).first(axes))
    if (axis->shape.size() != 1 || !axis->type || axis->shape[0] != to.x.shape[0] || axis->shape[0] == 0 ||
        axis->shape[0] > most_places)
      throw Error(Kind::corrupt, "expected a coordinate of each point, 1 to 2^31 - 1").at("variable " + axis->name);
  to.points = to.x.shape[0];
  to.degrees = to.x.text("units").starts_with("degree");
  // Some files list latitude first.
  const auto is_y = [](const NetcdfVariable& axis) {
    return axis.text("standard_name") == "latitude" || axis.text("standard_name") == "projection_y_coordinate";
  };
  if (is_y(to.x) && !is_y(to.y)) std::swap(to.x, to.y);
}

void set_connectivity(const NetcdfVariable& topology, UgridContents& to) {
  Connectivity& out = to.connectivity;
  const std::string cell = to.solid ? "volume" : "face", list = cell + "_node_connectivity";
  out.variable = required(to.file, topology.text(list), list);
  const NetcdfVariable& variable = out.variable;
  if (variable.shape.size() != 2 || !variable.type)
    throw Error(Kind::corrupt, "expected the points of each " + cell + ", two dimensions, found " +
                                   std::to_string(variable.shape.size()))
        .at("variable " + variable.name);
  // The attribute names the dimension of the cells. HDF5 keeps names of dimensions elsewhere: then the shape decides.
  const std::string cells = topology.text(cell + "_dimension");
  const auto few = [](std::uint64_t corners) { return corners >= 3 && corners <= 16; };
  if (!cells.empty() && variable.dimensions.size() == 2)
    out.by_corner = variable.dimensions[1] == cells && variable.dimensions[0] != cells;
  else
    out.by_corner = few(variable.shape[0]) && !few(variable.shape[1]);
  out.cells = variable.shape[out.by_corner ? 1 : 0];
  out.corners = variable.shape[out.by_corner ? 0 : 1];
  if (out.cells > most_places || out.corners < 3 || out.corners > most_corners)
    throw Error(Kind::unsupported, std::to_string(out.cells) + " " + cell + "s of up to " +
                                       std::to_string(out.corners) + " points: expected fewer than 2^31 of 3 to " +
                                       std::to_string(most_corners))
        .at("variable " + variable.name);
  out.start = variable.number("start_index").value_or(0) == 1 ? 1 : 0;
  out.fill = variable.number("_FillValue");
}

bool is_corner(const Connectivity& connectivity, double value) {
  return !(connectivity.fill && value == *connectivity.fill) && !(value < 0) && !std::isnan(value);
}

/// Calls `each` with the number of each cell and its points. Memory: a block of cells, or all if the file lists them by
/// corner.
void for_each_cell(const UgridContents& contents,
                   const std::function<void(std::int64_t, const std::vector<std::int64_t>&)>& each) {
  const Connectivity& from = contents.connectivity;
  const std::uint64_t block = from.by_corner ? from.cells : 65536;
  std::vector<double> values;
  std::vector<std::int64_t> corners;
  for (std::uint64_t first = 0; first < from.cells; first += block) {
    const std::uint64_t cells = std::min(block, from.cells - first);
    values.resize(static_cast<std::size_t>(cells * from.corners));
    contents.file.read(from.variable, from.by_corner ? 0 : first, values);
    for (std::uint64_t c = 0; c < cells; ++c) {
      corners.clear();
      for (std::uint64_t k = 0; k < from.corners; ++k) {
        const double value = values[from.by_corner ? k * cells + c : c * from.corners + k];
        if (!is_corner(from, value)) break;
        // Larger numbers, which no point has, must not overflow.
        corners.push_back(static_cast<std::int64_t>(std::min(value, 1e15)) - from.start);
      }
      each(static_cast<std::int64_t>(first + c), corners);
    }
  }
}

/// Counts of the shapes of volumes, in the order of mesh::solids_attribute.
void count_volumes(UgridContents& to) {
  to.cells = {0, 0, 0, 0};
  for_each_cell(to, [&](std::int64_t cell, const std::vector<std::int64_t>& corners) {
    constexpr std::array<std::size_t, 4> known{4, 5, 6, 8};
    const auto found = std::find(known.begin(), known.end(), corners.size());
    if (found == known.end())
      throw Error(Kind::unsupported, "a volume of " + std::to_string(corners.size()) + " points: expected 4, 5, 6 or 8")
          .at("volume " + std::to_string(cell))
          .at("variable " + to.connectivity.variable.name);
    ++to.cells[static_cast<std::size_t>(found - known.begin())];
  });
}

void count_cells(UgridContents& to) {
  if (to.solid) return count_volumes(to);
  for_each_cell(to, [&](std::int64_t cell, const std::vector<std::int64_t>& corners) {
    if (corners.size() < 3)
      throw Error(Kind::corrupt, "a face of " + std::to_string(corners.size()) + " points: expected 3 or more")
          .at("face " + std::to_string(cell))
          .at("variable " + to.connectivity.variable.name);
    mesh::count_cell(corners.size(), to.cells);
  });
  if (to.cells.empty()) to.cells = {0};
}

// ------------------------------------------------------------------ fields

struct FieldShape {
  mesh::Centring centring{};
  bool in_steps = false;
};
/// Nothing: a variable of edges, layers, or other things that have no place here.
std::optional<FieldShape> shape_of(const UgridContents& contents, const NetcdfVariable& variable) {
  FieldShape out;
  const std::string location = variable.text("location");
  if (location != "node" && location != (contents.solid ? "volume" : "face")) return {};
  out.centring = location == "node" ? mesh::Centring::node : mesh::Centring::cell;
  const std::uint64_t places = location == "node" ? contents.points : contents.connectivity.cells;
  if (!variable.type || !variable.has_values || variable.shape.empty() || variable.shape.back() != places) return {};
  out.in_steps = variable.shape.size() == 2;
  if (variable.shape.size() > 2 || (out.in_steps && variable.shape[0] == 0)) return {};
  return out;
}

/// Values that change are reals, because formats and stores keep whole numbers with the mesh.
ScalarType type_of(const NetcdfVariable& variable, bool in_steps, bool packed) {
  const ScalarType type = *variable.type;
  if (packed) return ScalarType::float64;
  if (type == ScalarType::float32 || type == ScalarType::float64) return type;
  const bool narrow =
      type == ScalarType::int8 || type == ScalarType::uint8 || type == ScalarType::int16 || type == ScalarType::int32;
  return narrow && !in_steps ? ScalarType::int32 : ScalarType::float64;
}

UgridField entry_of(const NetcdfVariable& variable, const FieldShape& shape) {
  UgridField entry;
  entry.variable = variable;
  entry.in_steps = shape.in_steps;
  entry.scale = variable.number("scale_factor").value_or(1);
  entry.offset = variable.number("add_offset").value_or(0);
  const bool packed = entry.scale != 1 || entry.offset != 0;
  for (const char* name : {"_FillValue", "missing_value"})
    if (const auto value = variable.number(name)) entry.missing.push_back(*value);
  const std::string own = variable.text("octavo_name");
  entry.info.name = own.empty() ? variable.name : own;
  entry.info.unit = variable.text("units");
  entry.info.type = type_of(variable, shape.in_steps, packed);
  entry.info.centring = shape.centring;
  return entry;
}

void note_left_out(const std::vector<std::string>& names, UgridContents& to) {
  if (names.empty()) return;
  std::string some;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) some += (i > 0 ? ", " : "") + names[i];
  to.notes.push_back(std::to_string(names.size()) + " variables on edges, on layers or of other shapes are left out: " +
                     some + (names.size() > 3 ? " ..." : ""));
}

void set_fields(const std::string& topology, UgridContents& to) {
  std::vector<std::string> left_out;
  for (const NetcdfVariable& variable : to.file.variables) {
    if (variable.text("mesh") != topology) continue;
    // A variable of version 4 that nothing was written to has no shape either.
    if (!variable.has_values && !variable.shape.empty())
      throw Error(Kind::corrupt, "its values are not all in the file").at("variable " + variable.name);
    const auto shape = shape_of(to, variable);
    const bool other_steps = shape && shape->in_steps && to.steps != 0 && variable.shape[0] != to.steps;
    if (!shape || other_steps) {
      left_out.push_back(variable.name);
      continue;
    }
    if (shape->in_steps) to.steps = variable.shape[0];
    UgridField entry = entry_of(variable, *shape);
    const auto same = [&](const UgridField& other) { return other.info.name == entry.info.name; };
    if (std::any_of(to.fields.begin(), to.fields.end(), same)) entry.info.name = variable.name;
    to.fields.push_back(std::move(entry));
  }
  note_left_out(left_out, to);
}

// ------------------------------------------------------------------ steps

/// Seconds of one unit of "hours since 1970-01-01".
double seconds_of(const std::string& unit) {
  if (unit.starts_with("day") || unit == "d") return 86400;
  if (unit.starts_with("h")) return 3600;
  if (unit.starts_with("min")) return 60;
  if (unit.starts_with("ms") || unit.starts_with("milli")) return 1e-3;
  return 1;
}

const NetcdfVariable* time_of(const UgridContents& contents) {
  const NetcdfVariable* found = nullptr;
  for (const NetcdfVariable& variable : contents.file.variables) {
    const bool fits =
        variable.shape.size() == 1 && variable.shape[0] == contents.steps && variable.type && variable.has_values;
    const bool time = variable.text("standard_name") == "time" || variable.name == "time" ||
                      variable.text("units").find(" since ") != std::string::npos;
    if (fits && time && (found == nullptr || variable.name == "time")) found = &variable;
  }
  return found;
}

void set_times(UgridContents& to) {
  if (to.steps == 0) return;
  const NetcdfVariable* time = time_of(to);
  if (time == nullptr) {
    to.notes.emplace_back("the file has no times: steps are numbered");
    for (std::uint64_t step = 0; step < to.steps; ++step) to.times.push_back(static_cast<double>(step));
    return;
  }
  const std::string units = time->text("units");
  const std::size_t since = units.find(" since ");
  if (since != std::string::npos) to.time_origin = units.substr(since + 7);
  const double unit = seconds_of(units);
  to.times = read_all(to.file, *time);
  for (double& value : to.times) value *= unit;
}

// ------------------------------------------------------------------ cells

mesh::Unstructured read_faces(const UgridContents& contents) {
  mesh::Unstructured mesh;
  mesh.x = read_axis(contents, contents.x);
  mesh.y = read_axis(contents, contents.y);
  mesh.connectivity.reserve(3 * static_cast<std::size_t>(mesh::num_triangles(contents.cells)));
  for_each_cell(contents, [&](std::int64_t cell, const std::vector<std::int64_t>& corners) {
    mesh::add_cell(corners, cell, mesh);
  });
  return mesh;
}

mesh::Solids read_volumes(const UgridContents& contents) {
  mesh::Solids mesh;
  mesh.x = read_axis(contents, contents.x);
  mesh.y = read_axis(contents, contents.y);
  mesh.z = read_axis(contents, contents.z);
  for_each_cell(contents, [&](std::int64_t, const std::vector<std::int64_t>& corners) {
    mesh.corners.push_back(static_cast<std::uint8_t>(corners.size()));
    mesh.connectivity.insert(mesh.connectivity.end(), corners.begin(), corners.end());
  });
  mesh::validate(mesh);
  mesh::turn_negative_cells(mesh);
  return mesh;
}

}  // namespace

bool is_topology(const NetcdfVariable& variable) {
  return variable.text("cf_role") == "mesh_topology" || variable.text("standard_name") == "mesh_topology";
}

Netcdf open_netcdf(const std::filesystem::path& path) {
  return is_classic(path) ? open_classic(path) : open_netcdf4(path);
}

UgridContents read_contents(const std::filesystem::path& path) {
  UgridContents to;
  to.file = open_netcdf(path);
  try {
    const NetcdfVariable& topology = topology_of(to.file, to.notes);
    to.topology = topology.name;
    to.solid = has_volumes(topology);
    set_points(topology, to);
    set_connectivity(topology, to);
    set_fields(topology.name, to);
    set_times(to);
    count_cells(to);
  } catch (Error& error) {
    throw std::move(error.at(path.string()));
  }
  if (to.degrees) to.notes.emplace_back("coordinates are degrees: so are lengths, and areas are their squares");
  return to;
}

std::vector<double> read_axis(const UgridContents& contents, const NetcdfVariable& axis) {
  std::vector<double> out = read_all(contents.file, axis);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!std::isfinite(out[i]))
      throw Error(Kind::corrupt, "a point without a place")
          .at("point " + std::to_string(i))
          .at(contents.file.path.string());
  return out;
}

mesh::Mesh read_mesh(const UgridContents& contents, bool wanted) {
  if (!wanted) return contents.solid ? mesh::Mesh(mesh::Solids{}) : mesh::Unstructured{};
  try {
    if (contents.solid) return read_volumes(contents);
    return read_faces(contents);
  } catch (Error& error) {
    throw std::move(error.at(contents.file.path.string()));
  }
}

mesh::Field read_field(const UgridContents& contents, const UgridField& entry, std::uint64_t step) {
  const std::uint64_t places = entry.variable.shape.back();
  std::vector<double> values(static_cast<std::size_t>(places));
  contents.file.read(entry.variable, entry.in_steps ? step : 0, values);
  for (double& value : values) {
    const bool none = std::find(entry.missing.begin(), entry.missing.end(), value) != entry.missing.end();
    if (none && entry.info.type != ScalarType::int32)
      value = std::numeric_limits<double>::quiet_NaN();
    else if (entry.scale != 1 || entry.offset != 0)
      value = value * entry.scale + entry.offset;
  }
  mesh::Field field = mesh::make_field(entry.info, values.size());
  mesh::visit_values(field, [&](auto typed) {
    using T = std::remove_const_t<typename decltype(typed)::element_type>;
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>) {
      const auto out = field.as<T>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(values[i]);
    }
  });
  return field;
}

}  // namespace octavo::formats::ugrid
