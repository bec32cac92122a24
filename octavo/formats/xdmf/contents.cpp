// "XDMF Model and Format", versions 2 and 3.
#include "octavo/formats/xdmf/contents.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/xdmf/cells.hpp"
#include "octavo/formats/xdmf/xml.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::xdmf {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::ScalarType;

constexpr std::uint64_t most_places = 0x7FFFFFFF;

// ------------------------------------------------------------------ the mesh

enum class XdmfKind : std::uint8_t { solid, flat, less };  ///< `less`: points and lines

struct XdmfCell {
  XdmfKind kind = XdmfKind::less;
  std::vector<std::int64_t> corners;  ///< none of points and lines
};

/// The kind of a cell of a "Mixed" list, with so many zeros as it has corners. `at`: the number of its type, which is
/// passed over, and so are points and lines.
XdmfCell cell_of_type(const std::vector<std::int64_t>& numbers, std::size_t& at) {
  const std::int64_t number = numbers[at++];
  for (const XdmfShape& shape : solid_shapes)
    if (shape.number == number) return {XdmfKind::solid, std::vector<std::int64_t>(shape.corners)};
  for (const XdmfShape& shape : flat_shapes)
    if (shape.number == number) return {XdmfKind::flat, std::vector<std::int64_t>(shape.corners)};
  const std::int64_t corners = at < numbers.size() ? numbers[at] : 0;
  constexpr std::int64_t most = 1000;  // finding a fan takes the square of them
  if (number == polygon_number && corners >= 3 && corners <= most) {
    ++at;
    return {XdmfKind::flat, std::vector<std::int64_t>(static_cast<std::size_t>(corners))};
  }
  if ((number == points_number || number == line_number) && corners >= 1) {
    if (static_cast<std::uint64_t>(corners) >= numbers.size() - at)
      throw Error(Kind::corrupt, "the list of cells ends in a cell");
    at += static_cast<std::size_t>(corners) + 1;
    return {};
  }
  throw Error(Kind::unsupported, "a cell of XDMF's type " + std::to_string(number) +
                                     ": expected points (1), lines (2), polygons (3), triangles (4), quadrilaterals "
                                     "(5) or solids (6 to 9)");
}

/// Calls `each` with all cells; their points are numbered from 0.
template <class F>
void for_each_cell(const XdmfContents& contents, F&& each) {
  const std::vector<std::int64_t> numbers = read_numbers<std::int64_t>(contents.cells);
  const XdmfKind kind = contents.solid ? XdmfKind::solid : XdmfKind::flat;
  for (std::size_t at = 0; at < numbers.size();) {
    XdmfCell cell =
        contents.corners > 0 ? XdmfCell{kind, std::vector<std::int64_t>(contents.corners)} : cell_of_type(numbers, at);
    if (cell.corners.size() > numbers.size() - at) throw Error(Kind::corrupt, "the list of cells ends in a cell");
    for (std::int64_t& point : cell.corners) {
      point = numbers[at++];
      // A negative number is refused later, and so must not become a small one here.
      if (point >= 0) point = point < contents.first_point ? -1 : point - contents.first_point;
    }
    each(cell);
  }
}

/// The number of the first point; 0 where it is not told.
std::int64_t first_point_of(const XmlElement& topology) {
  const std::string text = trimmed(topology.attribute("BaseOffset"));
  std::int64_t first = 0;
  if (!text.empty() && (!parse_number(text, first) || first < 0))
    throw Error(Kind::unsupported, "a topology with BaseOffset " + text + ": expected a number from 0");
  return first;
}

void set_topology(const XmlElement& topology, XdmfText& text, XdmfContents& to) {
  to.cells = item_of(topology, text);
  to.first_point = first_point_of(topology);
  if (const std::string order = topology.attribute("Order"); !order.empty())
    throw Error(Kind::unsupported, "a topology with Order " + order + ": expected corners in XDMF's own order");
  const std::string given = either(topology, "TopologyType", "Type"), type = lower(given);
  if (type == "mixed") return;
  for (const XdmfShape& shape : flat_shapes)
    if (type == lower(shape.name)) to.corners = shape.corners;
  for (const XdmfShape& shape : solid_shapes)
    if (type == lower(shape.name)) {
      to.corners = shape.corners;
      to.solid = true;
    }
  if (to.corners == 0)
    throw Error(Kind::unsupported, "a topology of type " + given +
                                       ": expected Triangle, Quadrilateral, Tetrahedron, Pyramid, Wedge, Hexahedron "
                                       "or Mixed");
}

void set_geometry(const XmlElement& geometry, XdmfText& text, XdmfContents& to) {
  const std::string type = lower(either(geometry, "GeometryType", "Type"));
  if (!type.empty() && type != "xyz" && type != "xy" && type != "x_y_z" && type != "x_y")
    throw Error(Kind::unsupported, "a geometry of type " + type + ": expected XYZ, XY, X_Y_Z or X_Y");
  to.axes = type == "xy" || type == "x_y" ? 2 : 3;
  to.points = item_of(geometry, text);
  const std::size_t arrays = to.points.kind == XdmfItemKind::joined ? to.points.of.size() : 1;
  if (type.starts_with("x_y") && arrays != to.axes)
    throw Error(Kind::corrupt, "a geometry of type " + type + ": expected " + std::to_string(to.axes) + " arrays");
  const std::uint64_t all = num_values(to.points);
  to.num_points = all / to.axes;
  if (all == 0 || all % to.axes != 0 || to.num_points > most_places)
    throw Error(Kind::corrupt,
                std::to_string(all) + " coordinates: expected " + std::to_string(to.axes) + " for each point");
}

/// Counts, which tell the kind of cells. Cells of surfaces beside solids are left out, and points and lines always.
void count_cells(XdmfContents& to) {
  std::vector<std::int64_t> flat, solid(solid_shapes.size(), 0);
  std::vector<std::uint64_t> flat_cells;
  for_each_cell(to, [&](const XdmfCell& cell) {
    const std::uint64_t number = to.num_cells++;
    if (cell.kind == XdmfKind::less) return;
    if (cell.kind == XdmfKind::solid) to.kept.push_back(number);
    if (cell.kind == XdmfKind::flat) {
      flat_cells.push_back(number);
      return mesh::count_cell(cell.corners.size(), flat);
    }
    for (std::size_t shape = 0; shape < solid.size(); ++shape)
      solid[shape] += solid_shapes[shape].corners == cell.corners.size() ? 1 : 0;
  });
  if (to.num_cells == 0) throw Error(Kind::corrupt, "no cells");
  to.solid = !to.kept.empty();
  to.counts = to.solid ? solid : flat;
  if (!to.solid) to.kept = std::move(flat_cells);
  if (to.kept.empty()) throw Error(Kind::unsupported, "a mesh of points and lines: expected solids or a surface");
  if (to.solid && to.axes != 3) throw Error(Kind::corrupt, "solids with two coordinates a point");
  const std::uint64_t left = to.num_cells - to.kept.size();
  if (left > 0)
    to.notes.push_back(
        std::to_string(left) +
        (to.solid ? " cells that are no solids (points, lines, sides)" : " cells that are points or lines") +
        " are left out");
  else
    to.kept.clear();
}

// ------------------------------------------------------------------ fields and steps

/// `names`: those of the step's fields.
void add_field(const XmlElement& attribute, XdmfText& text, XdmfContents& to, XdmfStep& step,
               std::set<std::string>& names) {
  XdmfField field;
  field.info.name = attribute.attribute("Name");
  const auto leave_out = [&](const std::string& why) {
    const std::string note = "attribute " + field.info.name + " is left out: " + why;
    if (std::find(to.notes.begin(), to.notes.end(), note) == to.notes.end()) to.notes.push_back(note);
  };
  const std::string centre = lower(attribute.attribute("Center"));
  if (!centre.empty() && centre != "node" && centre != "cell") return leave_out("its values stand at " + centre + "s");
  if (const std::string kind = attribute.attribute("ItemType"); !kind.empty()) return leave_out("its kind is " + kind);
  field.info.centring = centre == "cell" ? mesh::Centring::cell : mesh::Centring::node;
  field.item = item_of(attribute, text);
  field.info.type = field.item.type;
  const std::uint64_t places = centre == "cell" ? to.num_cells : to.num_points, values = num_values(field.item);
  field.components = values / places;
  constexpr std::size_t most = 9;  // a tensor
  if (values % places != 0 || field.components == 0 || field.components > most)
    return leave_out("expected 1 to 9 values for each of " + std::to_string(places) + " places, found " +
                     std::to_string(values));
  for (const XmlElement& one : attribute.children)
    if (one.name == "Information" && one.attribute("Name") == "Unit") field.info.unit = one.attribute("Value");
  const std::string name = field.info.name;
  for (; field.component < field.components; ++field.component) {
    const std::size_t k = field.component;
    if (field.components > 1)
      field.info.name = name + "_" + (field.components == 3 ? std::string(1, "xyz"[k]) : std::to_string(k + 1));
    else
      field.info.name = name;
    if (names.contains(field.info.name)) field.info.name += centre == "cell" ? " (CellData)" : " (PointData)";
    if (!names.insert(field.info.name).second) return leave_out("another one has its name");
    step.fields.push_back(field);
  }
}

/// Grids that are steps.
struct XdmfGrids {
  std::vector<const XmlElement*> steps;
  const XmlElement* outer = nullptr;  ///< the collection, or the only step
};

/// Those of the first collection in time, else the first uniform one.
XdmfGrids grids_of(const XmlElement& domain, XdmfText& text) {
  std::vector<const XmlElement*> uniform;
  for (const XmlElement* grid : text.references.in(domain, "Grid")) {
    if (lower(grid->attribute("GridType")) != "collection") {
      uniform.push_back(grid);
      continue;
    }
    if (lower(grid->attribute("CollectionType")) != "temporal")
      throw Error(Kind::unsupported, "a collection of grids in space: expected one mesh, or a collection in time");
    if (std::vector<const XmlElement*> steps = text.references.in(*grid, "Grid"); !steps.empty())
      return {std::move(steps), grid};
  }
  if (uniform.empty()) throw Error(Kind::unsupported, "no grid");
  return {{uniform.front()}, uniform.front()};
}

/// Names the other grids that have something: a grid may hold the mesh of the steps alone.
void note_other_grids(const XmlElement& domain, const XmlElement& read, std::vector<std::string>& notes) {
  constexpr std::size_t most = 8;
  std::size_t others = 0;
  std::string names;
  for (const XmlElement& grid : domain.children) {
    if (grid.name != "Grid" || &grid == &read) continue;
    const bool alone = lower(read.attribute("GridType")) != "collection";
    if (!alone && grid.child("Grid") == nullptr && grid.child("Attribute") == nullptr) continue;
    if (++others <= most) names += (others > 1 ? ", " : "") + grid.attribute("Name");
  }
  if (others > most) names += " and " + std::to_string(others - most) + " more";
  if (others > 0) notes.push_back("grid " + read.attribute("Name") + " is read; others are left out: " + names);
}

/// The element of that name in a grid, itself or by reference; nullptr: it has none.
const XmlElement* part_of(const XmlElement& grid, const char* name, XdmfText& text) {
  const auto found = text.references.in(grid, name);
  return found.empty() ? nullptr : found.front();
}

/// The first element of that name in the grids of a domain.
const XmlElement& first_of(const XmlElement& domain, const XdmfGrids& grids, const char* name, XdmfText& text) {
  for (const XmlElement* grid : grids.steps)
    if (const XmlElement* found = part_of(*grid, name, text)) return *found;
  // Some programs keep the mesh in a grid of its own.
  for (const XmlElement* grid : text.references.in(domain, "Grid"))
    if (const XmlElement* found = part_of(*grid, name, text)) return *found;
  throw Error(Kind::corrupt, std::string("no element ") + name);
}

std::string type_of_time(const XmlElement& time) { return lower(either(time, "TimeType", "Type")); }

/// The value of a step's element Time; nothing: it has none.
std::optional<double> time_of(const XmlElement& time, XdmfText& text) try {
  double value = 0;
  if (parse_number(trimmed(time.attribute("Value")), value))
    return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
  const std::vector<double> times = read_numbers<double>(item_of(time, text));
  const bool alone = times.size() == 1 || (type_of_time(time) == "range" && times.size() == 2);
  return alone && std::isfinite(times[0]) ? std::optional<double>(times[0]) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

/// The times that a collection lists for its steps; none: it lists none, or others than `count`.
std::vector<double> times_of(const XmlElement& collection, XdmfText& text, XdmfContents& to, std::size_t count) try {
  const XmlElement* time = part_of(collection, "Time", text);
  if (time == nullptr) return {};
  const std::string type = type_of_time(*time);
  std::vector<double> times = read_numbers<double>(item_of(*time, text));
  if (type == "hyperslab" && times.size() == 3 && times[2] == static_cast<double>(count)) {
    const double start = times[0], stride = times[1];
    times.resize(count);
    for (std::size_t i = 0; i < count; ++i) times[i] = start + static_cast<double>(i) * stride;
  } else if (type == "range" && times.size() == 2 && count > 1) {
    const double first = times[0], last = times[1];
    times.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      times[i] = std::lerp(first, last, static_cast<double>(i) / static_cast<double>(count - 1));
    if (count > 2) to.notes.emplace_back("the file has the first time and the last one: those between are even");
  } else if (type != "list") {
    return {};
  }
  const bool good = std::all_of(times.begin(), times.end(), [](double t) { return std::isfinite(t); });
  return good && times.size() == count ? times : std::vector<double>();
} catch (const Error&) {
  return {};
}

/// Times of the steps: their own, else those that the collection lists, else numbers from 0, with a note.
void set_times(const XdmfGrids& grids, XdmfText& text, XdmfContents& to) {
  std::vector<double> listed;
  if (grids.outer != grids.steps.front()) listed = times_of(*grids.outer, text, to, grids.steps.size());
  bool known = true;
  for (std::size_t i = 0; i < grids.steps.size(); ++i) {
    const XmlElement* time = part_of(*grids.steps[i], "Time", text);
    std::optional<double> value;
    if (time != nullptr) value = time_of(*time, text);
    if (!value && !listed.empty()) value = listed[i];
    // A mesh without a time is at 0.
    if (!value && time == nullptr && grids.steps.size() == 1) value = 0;
    known = known && value.has_value();
    to.steps[i].time = value.value_or(0);
  }
  if (known) return;
  to.notes.emplace_back("the file has no times: steps are numbered");
  for (std::size_t i = 0; i < to.steps.size(); ++i) to.steps[i].time = static_cast<double>(i);
}

/// Names the fields that some steps lack.
void note_missing_fields(XdmfContents& to) {
  std::map<std::string, std::vector<std::size_t>> steps_of;
  for (std::size_t i = 0; i < to.steps.size(); ++i)
    for (const XdmfField& field : to.steps[i].fields) steps_of[field.info.name].push_back(i);
  for (const auto& [name, steps] : steps_of) {
    if (steps.size() == to.steps.size()) continue;
    std::size_t missing = 0;
    while (missing < steps.size() && steps[missing] == missing) ++missing;
    const std::size_t more = to.steps.size() - steps.size() - 1;
    to.notes.push_back("field " + name + " has no values at step " + std::to_string(missing) +
                       (more == 0 ? "" : " and " + std::to_string(more) + " more"));
  }
}

void require_same_mesh(const XmlElement& grid, XdmfText& text, const XdmfContents& contents) {
  const XmlElement* const topology = part_of(grid, "Topology", text);
  const XmlElement* const geometry = part_of(grid, "Geometry", text);
  if ((topology != nullptr &&
       (item_of(*topology, text) != contents.cells || first_point_of(*topology) != contents.first_point)) ||
      (geometry != nullptr && item_of(*geometry, text) != contents.points))
    throw Error(Kind::unsupported, "a mesh that changes from step to step").at("grid " + grid.attribute("Name"));
}

void add_steps(const std::vector<const XmlElement*>& grids, XdmfText& text, XdmfContents& to) {
  for (const XmlElement* grid : grids) {
    if (const std::string type = lower(grid->attribute("GridType")); !type.empty() && type != "uniform")
      throw Error(Kind::unsupported, "a grid of type " + type + " in a step: expected Uniform");
    require_same_mesh(*grid, text, to);
    XdmfStep step;
    std::set<std::string> names;
    for (const XmlElement* one : text.references.in(*grid, "Attribute")) add_field(*one, text, to, step, names);
    to.steps.push_back(std::move(step));
  }
}

std::string read_text(const fs::path& path) {
  const file::File file = file::open_read(path);
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (file::size(file) > most)
    throw Error(Kind::unsupported, "a text of " + std::to_string(file::size(file)) + " bytes: expected 2^30 or fewer")
        .hint("keep arrays in HDF5");
  std::string text(static_cast<std::size_t>(file::size(file)), '\0');
  file::pread_all(file, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

void add_named_files(const XmlElement& element, const fs::path& folder, std::set<fs::path>& to) {
  if (element.name == "DataItem" && lower(element.attribute("Format")) == "hdf") {
    const std::string place = trimmed(element.text);
    const std::size_t colon = place.find(":/") != std::string::npos ? place.rfind(":/") : place.rfind(':');
    to.insert(folder / place.substr(0, colon));
  }
  for (const XmlElement& one : element.children) add_named_files(one, folder, to);
}

XdmfContents contents_of(const fs::path& path) {
  XdmfContents to;
  to.path = path;
  XmlElement document;
  document.children.push_back(parse_xml(read_text(path)));
  const XmlElement& root = document.children.front();
  XdmfText text{path.parent_path(), References(document)};
  const XmlElement* domain = root.name == "Xdmf" ? root.child("Domain") : nullptr;
  if (domain == nullptr) throw Error(Kind::corrupt, "expected the elements Xdmf and Domain");
  for (const XmlElement& one : domain->children)
    if (one.name == "Information" && one.attribute("Name") == "LengthUnit")
      to.unit_length = mesh::length_in_cm(one.attribute("Value"));
  add_named_files(root, text.folder, to.named);
  const XdmfGrids grids = grids_of(*domain, text);
  set_topology(first_of(*domain, grids, "Topology", text), text, to);
  set_geometry(first_of(*domain, grids, "Geometry", text), text, to);
  count_cells(to);
  add_steps(grids.steps, text, to);
  set_times(grids, text, to);
  note_other_grids(*domain, *grids.outer, to.notes);
  note_missing_fields(to);
  return to;
}

mesh::Unstructured read_surface(const XdmfContents& contents) {
  mesh::Unstructured mesh;
  mesh.x = read_axis(contents, 0);
  mesh.y = read_axis(contents, 1);
  std::int64_t number = 0;
  for_each_cell(contents, [&](const XdmfCell& cell) {
    if (cell.kind == XdmfKind::flat) mesh::add_cell(cell.corners, number++, mesh);
  });
  return mesh;
}

mesh::Solids read_solids(const XdmfContents& contents) {
  mesh::Solids mesh;
  mesh.x = read_axis(contents, 0);
  mesh.y = read_axis(contents, 1);
  mesh.z = read_axis(contents, 2);
  for_each_cell(contents, [&](const XdmfCell& cell) {
    if (cell.kind != XdmfKind::solid) return;
    mesh.corners.push_back(static_cast<std::uint8_t>(cell.corners.size()));
    mesh.connectivity.insert(mesh.connectivity.end(), cell.corners.begin(), cell.corners.end());
  });
  mesh::validate(mesh);
  return mesh;
}

}  // namespace

bool XdmfContents::has_fields() const {
  return std::any_of(steps.begin(), steps.end(), [](const XdmfStep& step) { return !step.fields.empty(); });
}

std::set<fs::path> XdmfContents::files() const {
  std::set<fs::path> out{path};
  add_files(cells, out);
  add_files(points, out);
  for (const XdmfStep& step : steps)
    for (const XdmfField& field : step.fields) add_files(field.item, out);
  return out;
}

XdmfContents read_contents(const fs::path& path) {
  try {
    return contents_of(path);
  } catch (Error& error) {
    throw std::move(error.at(path.string()));
  }
}

mesh::Mesh read_mesh(const XdmfContents& contents, bool wanted) {
  if (!wanted) return contents.solid ? mesh::Mesh(mesh::Solids{}) : mesh::Unstructured{};
  try {
    if (contents.solid) return read_solids(contents);
    return read_surface(contents);
  } catch (Error& error) {
    throw std::move(error.at(contents.path.string()));
  }
}

std::vector<double> read_axis(const XdmfContents& contents, std::size_t axis) {
  const std::vector<double> all = read_numbers<double>(contents.points);
  std::vector<double> out;
  for (std::size_t i = axis; i < all.size(); i += contents.axes) {
    if (!std::isfinite(all[i]))
      throw Error(Kind::corrupt, "a point without a place").at("point " + std::to_string(out.size()));
    out.push_back(all[i]);
  }
  return out;
}

bool has_heights(const XdmfContents& contents) {
  if (contents.axes != 3) return false;
  try {
    const std::vector<double> all = read_numbers<double>(contents.points);
    for (std::size_t i = 2; i < all.size(); i += 3)
      if (all[i] != 0) return true;
    return false;
  } catch (Error& error) {
    throw std::move(error.at(contents.path.string()));
  }
}

mesh::Field read_field(const XdmfContents& contents, const XdmfField& entry) {
  try {
    const std::vector<double> all = read_numbers<double>(entry.item);
    const bool some = entry.info.centring == mesh::Centring::cell && !contents.kept.empty();
    mesh::Field field = mesh::make_field(entry.info, some ? contents.kept.size() : all.size() / entry.components);
    const auto put = [&](auto out) {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<typename decltype(out)::value_type>(
            all[(some ? contents.kept[i] : i) * entry.components + entry.component]);
    };
    if (entry.info.type == ScalarType::float32)
      put(field.as<float>());
    else
      put(field.as<double>());
    return field;
  } catch (Error& error) {
    throw std::move(error.at("attribute " + entry.info.name).at(contents.path.string()));
  }
}

}  // namespace octavo::formats::xdmf
