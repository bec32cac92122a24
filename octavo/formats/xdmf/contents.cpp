// "XDMF Model and Format", versions 2 and 3.
#include "octavo/formats/xdmf/contents.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <type_traits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/xdmf/cells.hpp"
#include "octavo/formats/xdmf/xml.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::xdmf {
namespace {

namespace fs = std::filesystem;
namespace hdf5 = file::hdf5;
using base::Error;
using base::Kind;
using mesh::ScalarType;

constexpr std::uint64_t most_places = 0x7FFFFFFF;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The first attribute of two names that is there: version 2 has other words.
std::string either(const XmlElement& element, const char* name, const char* other) {
  const std::string found = element.attribute(name);
  return found.empty() ? element.attribute(other) : found;
}

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (extent > 0 && count > (std::uint64_t{1} << 60) / extent)
      throw Error(Kind::corrupt, "more values than any file has");
    count *= extent;
  }
  return count;
}

// ------------------------------------------------------------------ arrays

/// As std::from_chars, but knows "+1", and reads 0 where a real is too small.
template <class T>
std::from_chars_result read_number(const char* at, const char* end, T& value) {
  if (end - at > 1 && *at == '+' && at[1] != '-') ++at;
  std::from_chars_result result = std::from_chars(at, end, value);
  if constexpr (std::is_floating_point_v<T>)
    if (long double wide = 1; result.ec == std::errc::result_out_of_range)
      if (std::from_chars(at, end, wide).ec == std::errc() && std::abs(wide) < 1) {
        value = 0;
        result.ec = std::errc();
      }
  return result;
}

template <class T>
std::vector<T> numbers_of_text(const XdmfItem& item) {
  std::vector<T> out;
  const char *at = item.text.data(), *end = at + item.text.size();
  while (true) {
    while (at != end && (std::isspace(static_cast<unsigned char>(*at)) != 0 || *at == ',')) ++at;
    if (at == end) break;
    T value{};
    const auto [next, error] = read_number(at, end, value);
    if (error != std::errc())
      throw Error(Kind::corrupt, "expected a number, found \"" + std::string(at, std::min(at + 20, end)) + "\"");
    out.push_back(value);
    at = next;
  }
  return out;
}

hdf5::Info find_set(const hdf5::File& file, const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const auto sets = slash == std::string::npos ? hdf5::list(file) : hdf5::list(file, name.substr(0, slash));
  for (const hdf5::Info& set : sets)
    if (set.name == name) return set;
  throw Error(Kind::corrupt, "no data set " + name).at(file.path().string());
}

/// All values; throws Error(corrupt) unless they are as many as the text says.
template <class T>
std::vector<T> read_numbers(const XdmfItem& item) {
  std::vector<T> values;
  if (item.file.empty()) {
    values = numbers_of_text<T>(item);
  } else {
    const hdf5::File file = hdf5::open(item.file);
    const hdf5::Info set = find_set(file, item.set);
    if (hdf5::num_items(set) != product(item.shape))
      throw Error(Kind::corrupt, "data set " + item.set + ": expected " + std::to_string(product(item.shape)) +
                                     " values, found " + hdf5::describe(set))
          .at(item.file.string());
    values = hdf5::read_all<T>(file, set);
  }
  if (values.size() != product(item.shape))
    throw Error(Kind::corrupt,
                "expected " + std::to_string(product(item.shape)) + " numbers, found " + std::to_string(values.size()));
  return values;
}

XdmfItem item_of(const XmlElement& holder, const fs::path& folder) {
  const XmlElement* found = holder.child("DataItem");
  if (found == nullptr || !found->attribute("Reference").empty())
    throw Error(Kind::unsupported, "element " + holder.name + " without an array of its own");
  if (const std::string kind = lower(found->attribute("ItemType")); !kind.empty() && kind != "uniform")
    throw Error(Kind::unsupported, "an array of ItemType " + kind + ": expected Uniform").at("element " + holder.name);
  XdmfItem item;
  std::istringstream extents(found->attribute("Dimensions"));
  for (std::uint64_t extent = 0; extents >> extent;) item.shape.push_back(extent);
  if (item.shape.empty()) throw Error(Kind::corrupt, "an array without Dimensions").at("element " + holder.name);
  const std::string type = lower(either(*found, "DataType", "NumberType")), bytes = found->attribute("Precision");
  const bool is_float = type.empty() || type == "float";
  item.type = is_float && bytes != "8" ? ScalarType::float32 : ScalarType::float64;
  const std::string format = lower(found->attribute("Format"));
  if (format.empty() || format == "xml") {
    item.text = found->text;
    return item;
  }
  const std::string place = trimmed(found->text);
  const bool rooted = place.find(":/") != std::string::npos;
  const std::size_t colon = rooted ? place.rfind(":/") : place.rfind(':');
  if (format != "hdf" || colon == std::string::npos)
    throw Error(Kind::unsupported, "an array of Format " + format + ": expected XML, or HDF with FILE:/SET")
        .at("element " + holder.name);
  const fs::path file = place.substr(0, colon);
  const bool leaves = std::any_of(file.begin(), file.end(), [](const fs::path& step) { return step == ".."; });
  if (file.is_absolute() || leaves)
    throw Error(Kind::unsupported, "data in another folder: " + file.string())
        .hint("keep both files in one folder, and name the HDF5 file without a path");
  item.file = folder / file;
  item.set = place.substr(colon + (rooted ? 2 : 1));
  return item;
}

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
  const auto [end, error] = read_number(text.data(), text.data() + text.size(), first);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size() || first < 0))
    throw Error(Kind::unsupported, "a topology with BaseOffset " + text + ": expected a number from 0");
  return first;
}

void set_topology(const XmlElement& topology, const fs::path& folder, XdmfContents& to) {
  to.cells = item_of(topology, folder);
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

void set_geometry(const XmlElement& geometry, const fs::path& folder, XdmfContents& to) {
  to.points = item_of(geometry, folder);
  const std::string type = lower(either(geometry, "GeometryType", "Type"));
  if (!type.empty() && type != "xyz" && type != "xy")
    throw Error(Kind::unsupported, "a geometry of type " + type + ": expected XYZ or XY");
  to.axes = type == "xy" ? 2 : 3;
  const std::uint64_t all = product(to.points.shape);
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
void add_field(const XmlElement& attribute, const fs::path& folder, XdmfContents& to, XdmfStep& step,
               std::set<std::string>& names) {
  XdmfField field;
  field.info.name = attribute.attribute("Name");
  const auto leave_out = [&](const std::string& why) {
    const std::string note = "attribute " + field.info.name + " is left out: " + why;
    if (std::find(to.notes.begin(), to.notes.end(), note) == to.notes.end()) to.notes.push_back(note);
  };
  const std::string centre = lower(attribute.attribute("Center"));
  if (!centre.empty() && centre != "node" && centre != "cell") return leave_out("its values stand at " + centre + "s");
  field.info.centring = centre == "cell" ? mesh::Centring::cell : mesh::Centring::node;
  field.item = item_of(attribute, folder);
  field.info.type = field.item.type;
  const std::uint64_t places = centre == "cell" ? to.num_cells : to.num_points, values = product(field.item.shape);
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
XdmfGrids grids_of(const XmlElement& domain) {
  std::vector<const XmlElement*> uniform;
  for (const XmlElement& grid : domain.children) {
    if (grid.name != "Grid") continue;
    if (lower(grid.attribute("GridType")) != "collection") {
      uniform.push_back(&grid);
      continue;
    }
    if (lower(grid.attribute("CollectionType")) != "temporal")
      throw Error(Kind::unsupported, "a collection of grids in space: expected one mesh, or a collection in time");
    std::vector<const XmlElement*> steps;
    for (const XmlElement& step : grid.children)
      if (step.name == "Grid") steps.push_back(&step);
    if (!steps.empty()) return {steps, &grid};
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

/// The first element of that name in the grids of a domain.
const XmlElement* first_of(const XmlElement& domain, const std::vector<const XmlElement*>& grids, const char* name) {
  for (const XmlElement* grid : grids)
    if (const XmlElement* found = grid->child(name)) return found;
  // Some programs keep the mesh in a grid of its own, which the steps include.
  for (const XmlElement& grid : domain.children)
    if (const XmlElement* found = grid.child(name)) return found;
  throw Error(Kind::corrupt, std::string("no element ") + name);
}

/// The value of an element Time; nothing: it is no number.
std::optional<double> time_of(const XmlElement& time) {
  const std::string text = trimmed(time.attribute("Value"));
  double value = 0;
  const auto [end, error] = read_number(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The times that a collection lists for its steps; none: it lists none, or others than `count`.
std::vector<double> times_of(const XmlElement& collection, const fs::path& folder, std::size_t count) try {
  const XmlElement* time = collection.child("Time");
  if (time == nullptr || time->child("DataItem") == nullptr) return {};
  const std::string type = lower(either(*time, "TimeType", "Type"));
  std::vector<double> times = read_numbers<double>(item_of(*time, folder));
  if (type == "hyperslab" && times.size() == 3 && times[2] == static_cast<double>(count)) {
    const double start = times[0], stride = times[1];
    times.resize(count);
    for (std::size_t i = 0; i < count; ++i) times[i] = start + static_cast<double>(i) * stride;
  } else if (type != "list") {
    return {};
  }
  const bool good = std::all_of(times.begin(), times.end(), [](double t) { return std::isfinite(t); });
  return good && times.size() == count ? times : std::vector<double>();
} catch (const Error&) {
  return {};
}

/// Times of the steps: their own, else those that the collection lists, else numbers from 0, with a note.
void set_times(const XdmfGrids& grids, const fs::path& folder, XdmfContents& to) {
  std::vector<double> listed;
  if (grids.outer != grids.steps.front()) listed = times_of(*grids.outer, folder, grids.steps.size());
  bool known = true;
  for (std::size_t i = 0; i < grids.steps.size(); ++i) {
    const XmlElement* time = grids.steps[i]->child("Time");
    std::optional<double> value;
    if (time != nullptr) value = time_of(*time);
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

void require_same_mesh(const XmlElement& grid, const fs::path& folder, const XdmfContents& contents) {
  const XmlElement *topology = grid.child("Topology"), *geometry = grid.child("Geometry");
  if ((topology != nullptr &&
       (item_of(*topology, folder) != contents.cells || first_point_of(*topology) != contents.first_point)) ||
      (geometry != nullptr && item_of(*geometry, folder) != contents.points))
    throw Error(Kind::unsupported, "a mesh that changes from step to step").at("grid " + grid.attribute("Name"));
}

void add_steps(const std::vector<const XmlElement*>& grids, const fs::path& folder, XdmfContents& to) {
  for (const XmlElement* grid : grids) {
    if (const std::string type = lower(grid->attribute("GridType")); !type.empty() && type != "uniform")
      throw Error(Kind::unsupported, "a grid of type " + type + " in a step: expected Uniform");
    require_same_mesh(*grid, folder, to);
    XdmfStep step;
    std::set<std::string> names;
    for (const XmlElement& one : grid->children)
      if (one.name == "Attribute") add_field(one, folder, to, step, names);
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
  const XmlElement root = parse_xml(read_text(path));
  const XmlElement* domain = root.name == "Xdmf" ? root.child("Domain") : nullptr;
  if (domain == nullptr) throw Error(Kind::corrupt, "expected the elements Xdmf and Domain");
  for (const XmlElement& one : domain->children)
    if (one.name == "Information" && one.attribute("Name") == "LengthUnit")
      to.unit_length = mesh::length_in_cm(one.attribute("Value"));
  const fs::path folder = path.parent_path();
  add_named_files(root, folder, to.named);
  const XdmfGrids grids = grids_of(*domain);
  set_topology(*first_of(*domain, grids.steps, "Topology"), folder, to);
  set_geometry(*first_of(*domain, grids.steps, "Geometry"), folder, to);
  count_cells(to);
  add_steps(grids.steps, folder, to);
  set_times(grids, folder, to);
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
  std::set<fs::path> out{path, cells.file, points.file};
  for (const XdmfStep& step : steps)
    for (const XdmfField& field : step.fields) out.insert(field.item.file);
  out.erase("");
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
