// "XDMF Model and Format", versions 2 and 3.
#include "octavo/formats/xdmf/contents.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>
#include <sstream>
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

template <class T>
std::vector<T> numbers_of_text(const XdmfItem& item) {
  std::vector<T> out;
  const char *at = item.text.data(), *end = at + item.text.size();
  while (true) {
    while (at != end && (std::isspace(static_cast<unsigned char>(*at)) != 0 || *at == ',')) ++at;
    if (at == end) break;
    T value{};
    const auto [next, error] = std::from_chars(at, end, value);
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
  const std::size_t colon = place.rfind(":/");
  if (format != "hdf" || colon == std::string::npos)
    throw Error(Kind::unsupported, "an array of Format " + format + ": expected XML, or HDF with FILE:/SET")
        .at("element " + holder.name);
  const fs::path file = place.substr(0, colon);
  const bool leaves = std::any_of(file.begin(), file.end(), [](const fs::path& step) { return step == ".."; });
  if (file.is_absolute() || leaves)
    throw Error(Kind::unsupported, "data in another folder: " + file.string())
        .hint("keep both files in one folder, and name the HDF5 file without a path");
  item.file = folder / file;
  item.set = place.substr(colon + 2);
  return item;
}

// ------------------------------------------------------------------ the mesh

struct XdmfCell {
  bool solid = false;
  std::vector<std::int64_t> corners;
};

/// The kind of a cell of a "Mixed" list, with so many zeros as it has corners. `at`: the number of its type, which is
/// passed over.
XdmfCell cell_of_type(const std::vector<std::int64_t>& numbers, std::size_t& at) {
  const std::int64_t number = numbers[at++];
  for (const XdmfShape& shape : solid_shapes)
    if (shape.number == number) return {true, std::vector<std::int64_t>(shape.corners)};
  for (const XdmfShape& shape : flat_shapes)
    if (shape.number == number) return {false, std::vector<std::int64_t>(shape.corners)};
  constexpr std::int64_t most = 1000;  // finding a fan takes the square of them
  if (number == polygon_number && at < numbers.size() && numbers[at] >= 3 && numbers[at] <= most)
    return {false, std::vector<std::int64_t>(static_cast<std::size_t>(numbers[at++]))};
  throw Error(Kind::unsupported, "a cell of XDMF's type " + std::to_string(number) +
                                     ": expected polygons (3), triangles (4), quadrilaterals (5) or solids (6 to 9)");
}

/// Calls `each` with all cells.
template <class F>
void for_each_cell(const XdmfContents& contents, F&& each) {
  const std::vector<std::int64_t> numbers = read_numbers<std::int64_t>(contents.cells);
  for (std::size_t at = 0; at < numbers.size();) {
    XdmfCell cell = contents.corners > 0 ? XdmfCell{contents.solid, std::vector<std::int64_t>(contents.corners)}
                                         : cell_of_type(numbers, at);
    if (cell.corners.size() > numbers.size() - at) throw Error(Kind::corrupt, "the list of cells ends in a cell");
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(at), cell.corners.size(), cell.corners.begin());
    at += cell.corners.size();
    each(cell);
  }
}

void set_topology(const XmlElement& topology, const fs::path& folder, XdmfContents& to) {
  to.cells = item_of(topology, folder);
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

/// Counts, which tell the kind of cells. Cells of surfaces beside solids are left out.
void count_cells(XdmfContents& to) {
  std::vector<std::int64_t> flat, solid(solid_shapes.size(), 0);
  for_each_cell(to, [&](const XdmfCell& cell) {
    if (cell.solid) to.kept.push_back(to.num_cells);
    ++to.num_cells;
    if (!cell.solid) return mesh::count_cell(cell.corners.size(), flat);
    for (std::size_t shape = 0; shape < solid.size(); ++shape)
      solid[shape] += solid_shapes[shape].corners == cell.corners.size() ? 1 : 0;
  });
  if (to.num_cells == 0) throw Error(Kind::corrupt, "no cells");
  to.solid = !to.kept.empty();
  to.counts = to.solid ? solid : flat;
  if (to.solid && to.axes != 3) throw Error(Kind::corrupt, "solids with two coordinates a point");
  const std::uint64_t left = to.num_cells - to.kept.size();
  if (to.solid && left > 0)
    to.notes.push_back(std::to_string(left) + " cells that are no solids (points, lines, sides) are left out");
  else
    to.kept.clear();
}

// ------------------------------------------------------------------ fields and steps

void add_field(const XmlElement& attribute, const fs::path& folder, XdmfContents& to, XdmfStep& step) {
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
    step.fields.push_back(field);
  }
}

/// Grids that are steps: those of the first collection in time, else the first uniform one.
std::vector<const XmlElement*> grids_of(const XmlElement& domain) {
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
    if (!steps.empty()) return steps;
  }
  if (uniform.empty()) throw Error(Kind::unsupported, "no grid");
  return {uniform.front()};
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

void require_same_mesh(const XmlElement& grid, const fs::path& folder, const XdmfContents& contents) {
  const XmlElement *topology = grid.child("Topology"), *geometry = grid.child("Geometry");
  if ((topology != nullptr && item_of(*topology, folder) != contents.cells) ||
      (geometry != nullptr && item_of(*geometry, folder) != contents.points))
    throw Error(Kind::unsupported, "a mesh that changes from step to step").at("grid " + grid.attribute("Name"));
}

void add_steps(const std::vector<const XmlElement*>& grids, const fs::path& folder, XdmfContents& to) {
  for (const XmlElement* grid : grids) {
    if (const std::string type = lower(grid->attribute("GridType")); !type.empty() && type != "uniform")
      throw Error(Kind::unsupported, "a grid of type " + type + " in a step: expected Uniform");
    require_same_mesh(*grid, folder, to);
    XdmfStep step;
    step.time = static_cast<double>(to.steps.size());
    if (const XmlElement* time = grid->child("Time")) {
      const std::string value = trimmed(time->attribute("Value"));
      std::from_chars(value.data(), value.data() + value.size(), step.time);
    }
    for (const XmlElement& one : grid->children)
      if (one.name == "Attribute") add_field(one, folder, to, step);
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
  const std::vector<const XmlElement*> grids = grids_of(*domain);
  set_topology(*first_of(*domain, grids, "Topology"), folder, to);
  set_geometry(*first_of(*domain, grids, "Geometry"), folder, to);
  count_cells(to);
  add_steps(grids, folder, to);
  return to;
}

mesh::Unstructured read_surface(const XdmfContents& contents) {
  mesh::Unstructured mesh;
  mesh.x = read_axis(contents, 0);
  mesh.y = read_axis(contents, 1);
  std::int64_t number = 0;
  for_each_cell(contents, [&](const XdmfCell& cell) { mesh::add_cell(cell.corners, number++, mesh); });
  return mesh;
}

mesh::Solids read_solids(const XdmfContents& contents) {
  mesh::Solids mesh;
  mesh.x = read_axis(contents, 0);
  mesh.y = read_axis(contents, 1);
  mesh.z = read_axis(contents, 2);
  for_each_cell(contents, [&](const XdmfCell& cell) {
    if (!cell.solid) return;
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
