#include "octavo/formats/vtkhdf/vtkhdf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/row/join_points.hpp"
#include "octavo/formats/vtkhdf/names.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::vtkhdf {
namespace {

namespace hdf5 = file::hdf5;
using base::Error;
using base::Kind;

/// A data set at points or in cells, or one of its columns, and where each step's values begin.
struct VtkhdfField {
  mesh::FieldInfo info;
  hdf5::Info set;
  std::size_t column = 0;
  std::vector<std::int64_t> first;  ///< row, by step
};

/// The parts of a file, as ranks write them: each numbers its own points from 0, and its corners.
struct VtkhdfParts {
  std::vector<std::int64_t> points, cells, ids;  ///< how many, by part
  std::size_t size() const { return cells.size(); }
};

/// The description of a file, without its values.
struct VtkhdfContents {
  std::string path;
  hdf5::Info points, connectivity, offsets;
  VtkhdfParts parts;
  std::vector<std::int64_t> first_point;       ///< row of Points, by step
  std::int64_t num_points = 0, num_cells = 0;  ///< of all parts, as the file has them
  JoinedPoints points_of_parts;                ///< empty: one part
  int planes = 1;
  std::vector<std::int64_t> cells;   ///< by corners (mesh/triangles/cells.hpp); empty: triangles or wedges
  std::vector<std::int64_t> solids;  ///< by shape (mesh::count_solids); empty: no solids
  std::vector<std::size_t> kept;     ///< the cells that are solids, if others are left out
  std::int64_t left_out = 0, ghosts = 0;
  std::vector<std::string> fields_left_out;  ///< beside solids: names of values of other types or shapes
  std::vector<double> times;
  bool has_steps = false;
  std::vector<VtkhdfField> fields;
  double unit_length = 1;  ///< [cm]
  std::map<std::string, mesh::Attribute> attributes;
  std::int64_t places(const mesh::FieldInfo& info) const {
    return info.centring == mesh::Centring::cell ? num_cells : num_points;
  }
  std::size_t new_points() const {
    return points_of_parts.kept.empty() ? static_cast<std::size_t>(num_points) : points_of_parts.kept.size();
  }
  std::size_t steps() const { return has_steps ? times.size() : 0; }
};

[[noreturn]] void refuse(const std::string& what) { throw Error(Kind::unsupported, what); }

/// Data sets of one group, by name.
class DataGroup {
 public:
  DataGroup(const hdf5::File& file, std::string name)
      : file_(file), name_(std::move(name)), sets_(hdf5::list(file, name_)) {}
  const std::vector<hdf5::Info>& sets() const { return sets_; }
  std::string short_name(const hdf5::Info& set) const { return set.name.substr(name_.size() + 1); }
  const hdf5::Info* find(const std::string& name) const {
    for (const hdf5::Info& set : sets_)
      if (short_name(set) == name) return &set;
    return nullptr;
  }
  const hdf5::Info& get(const std::string& name) const {
    if (const hdf5::Info* found = find(name)) return *found;
    for (const hdf5::Other& other : hdf5::contents(file_, name_).others)
      if (other.name == name && other.what == hdf5::Other::What::elsewhere)
        throw Error(Kind::unsupported, "values of " + name_ + "/" + name + " in other files")
            .hint("ParaView opens this file and saves one with all values in it");
    throw Error(Kind::corrupt, "no data set " + name_ + "/" + name);
  }
  std::vector<std::int64_t> integers(const std::string& name) const {
    return hdf5::read_all<std::int64_t>(file_, get(name));
  }
  /// One for each step; zeros where there is no such data set.
  std::vector<std::int64_t> by_step(const std::string& name, std::size_t steps) const {
    if (find(name) == nullptr) return std::vector<std::int64_t>(steps, 0);
    std::vector<std::int64_t> all = integers(name);
    if (all.size() != steps)
      throw Error(Kind::corrupt, name_ + "/" + name + ": expected one of each of " + std::to_string(steps) +
                                     " steps, found " + std::to_string(all.size()));
    return all;
  }

 private:
  const hdf5::File& file_;
  std::string name_;
  std::vector<hdf5::Info> sets_;
};

void check_kind(const hdf5::File& file) {
  const std::string type = hdf5::read_words(file, root, "Type").value_or("nothing");
  if (type != "UnstructuredGrid") refuse("VTKHDF data of type " + type + ": expected UnstructuredGrid");
  const auto version = hdf5::read_numbers(file, root, "Version").value_or(std::vector<std::int64_t>{});
  if (version.empty() || version[0] < 1 || version[0] > 2)
    refuse("version " + (version.empty() ? "none" : std::to_string(version[0])) + " of VTKHDF: expected 1 or 2");
}

/// The numbers of each part; a part may be empty.
std::vector<std::int64_t> by_part(const DataGroup& group, const std::string& name, std::size_t parts) {
  std::vector<std::int64_t> all = group.integers(name);
  if (all.size() != parts)
    refuse(name + " of " + std::to_string(all.size()) + " parts or steps: expected one mesh" +
           (parts == 1 ? "" : " of " + std::to_string(parts) + " parts"));
  std::int64_t sum = 0;
  for (const std::int64_t count : all) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (count < 0 || count > most || sum + count > most)
      throw Error(Kind::corrupt, name + ": expected above 0 and below 2^31, found " + std::to_string(count));
    sum += count;
  }
  if (sum == 0) throw Error(Kind::corrupt, name + ": expected above 0 and below 2^31, found 0");
  return all;
}

void require_rows(const hdf5::Info& set, std::int64_t first, std::int64_t rows) {
  if (set.shape.empty() || first < 0 || static_cast<std::uint64_t>(first) > set.shape[0] ||
      set.shape[0] - static_cast<std::uint64_t>(first) < static_cast<std::uint64_t>(rows))
    throw Error(Kind::corrupt, set.name + ": expected rows " + std::to_string(first) + " to " +
                                   std::to_string(first + rows) + ", found " + hdf5::describe(set));
}

void read_attributes(const hdf5::File& file, VtkhdfContents& to) {
  to.unit_length = mesh::length_in_cm(hdf5::read_words(file, own, own_length).value_or(""));
  for (const char* name : kept_texts)
    if (const auto text = hdf5::read_words(file, own, name)) to.attributes[name] = *text;
  for (const char* name : kept_numbers)
    if (const auto all = hdf5::read_numbers(file, own, name); all && all->size() == 1) to.attributes[name] = (*all)[0];
  for (const char* name : kept_lists)
    if (const auto all = hdf5::read_numbers(file, own, name)) to.attributes[name] = *all;
}

/// Returns the number of parts.
std::size_t read_steps(const hdf5::File& file, const DataGroup& group, VtkhdfContents& to) {
  const DataGroup steps(file, in_root("Steps"));
  if (steps.find("Values") == nullptr) {
    to.first_point = {0};
    return group.get("NumberOfCells").shape.empty() ? 1 : group.get("NumberOfCells").shape[0];
  }
  to.times = hdf5::read_all<double>(file, steps.get("Values"));
  to.has_steps = true;
  const std::size_t count = to.times.size();
  if (count == 0) throw Error(Kind::corrupt, "Steps without a step");
  const auto all_zero = [](const std::vector<std::int64_t>& all) {
    return std::all_of(all.begin(), all.end(), [](std::int64_t value) { return value == 0; });
  };
  for (const char* name : {"PartOffsets", "CellOffsets", "ConnectivityIdOffsets"})
    if (!all_zero(steps.by_step(name, count))) refuse("a mesh that changes from step to step");
  to.first_point = steps.by_step("PointOffsets", count);
  if (steps.find("NumberOfParts") == nullptr) return 1;
  const std::vector<std::int64_t> parts = steps.by_step("NumberOfParts", count);
  if (parts.front() < 1) throw Error(Kind::corrupt, "NumberOfParts: found " + std::to_string(parts.front()));
  if (parts != std::vector<std::int64_t>(count, parts.front())) refuse("a mesh that changes from step to step");
  return static_cast<std::size_t>(parts.front());
}

/// Moving points are those of planes.
void check_points(const VtkhdfContents& contents) {
  if (contents.points.shape.size() != 2 || contents.points.shape[1] != 3)
    throw Error(Kind::corrupt, "Points: expected three coordinates each, found " + hdf5::describe(contents.points));
  for (const std::int64_t first : contents.first_point) {
    if (contents.planes == 1 && first != 0) refuse("points that move from step to step");
    require_rows(contents.points, first, contents.num_points);
  }
}

/// `wide`: integers of 8 bytes too.
std::optional<mesh::ScalarType> scalar_of(const hdf5::ItemType& type, bool wide = false) {
  if (type.kind == hdf5::Class::real && type.bytes == 8) return mesh::ScalarType::float64;
  if (type.kind == hdf5::Class::real && type.bytes == 4) return mesh::ScalarType::float32;
  if (type.kind == hdf5::Class::integer && type.bytes == 4) return mesh::ScalarType::int32;
  if (type.kind == hdf5::Class::integer && type.bytes == 8 && wide) return mesh::ScalarType::int64;
  return {};
}

/// Where each cell begins in the list of points of all parts. Each part's own begin at 0.
std::vector<std::int64_t> join_offsets(const std::vector<std::int64_t>& given, const VtkhdfParts& parts) {
  std::vector<std::int64_t> offsets{0};
  std::size_t first = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t base = offsets.back();
    const auto cells = static_cast<std::size_t>(parts.cells[p]);
    if (given[first] != 0 || given[first + cells] != parts.ids[p])
      throw Error(Kind::corrupt, "Offsets of part " + std::to_string(p) + ": expected 0 to " +
                                     std::to_string(parts.ids[p]) + ", found " + std::to_string(given[first]) + " to " +
                                     std::to_string(given[first + cells]));
    for (std::size_t c = 1; c <= cells; ++c) offsets.push_back(base + given[first + c]);
    first += cells + 1;
  }
  return offsets;
}

std::int64_t num_offsets(const VtkhdfContents& contents) {
  return contents.num_cells + static_cast<std::int64_t>(contents.parts.size());
}

/// Where each cell begins in the list of points, checked against that list. A cell has `least` points or more.
std::vector<std::int64_t> offsets_of(const hdf5::File& file, const VtkhdfContents& contents, std::int64_t least = 3) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(num_offsets(contents)));
  hdf5::read_rows<std::int64_t>(file, contents.offsets, 0, offsets.size(), offsets);
  if (contents.parts.size() > 1) offsets = join_offsets(offsets, contents.parts);
  for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
    const std::int64_t most = 1000;  // as for any polygon: finding a fan takes the square of its corners
    if (offsets[c] < 0 || offsets[c + 1] < offsets[c] + least || offsets[c + 1] - offsets[c] > most)
      throw Error(Kind::corrupt, "Offsets of cell " + std::to_string(c) + ": expected " + std::to_string(least) +
                                     " to " + std::to_string(most) + " points, found " + std::to_string(offsets[c]) +
                                     " and " + std::to_string(offsets[c + 1]));
  }
  require_rows(contents.connectivity, offsets.front(), offsets.back() - offsets.front());
  return offsets;
}

/// The marks of all points or cells; none: the file has none.
std::vector<std::uint8_t> ghosts_of(const hdf5::File& file, const std::string& group, std::int64_t count) {
  const DataGroup data(file, in_root(group));
  const hdf5::Info* found = data.find(ghost_name);
  if (found == nullptr || found->shape.size() != 1) return {};
  require_rows(*found, 0, count);
  std::vector<std::uint8_t> ghosts(static_cast<std::size_t>(count));
  hdf5::read_rows<std::uint8_t>(file, *found, 0, ghosts.size(), ghosts);
  return ghosts;
}

void count_polygons(const hdf5::File& file, const DataGroup& group, const std::vector<std::uint8_t>& types,
                    VtkhdfContents& to) {
  to.offsets = group.get("Offsets");
  require_rows(to.offsets, 0, num_offsets(to));
  const std::vector<std::int64_t> offsets = offsets_of(file, to);
  const std::vector<std::uint8_t> ghosts = ghosts_of(file, "CellData", to.num_cells);
  for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
    const auto corners = static_cast<std::size_t>(offsets[c + 1] - offsets[c]);
    if (!ghosts.empty() && (ghosts[c] & ghost_cells) != 0) {
      ++to.ghosts;
      continue;
    }
    to.kept.push_back(c);
    if ((types[c] == triangle && corners != 3) || (types[c] == quadrangle && corners != 4))
      throw Error(Kind::corrupt, "cell " + std::to_string(c) + " of VTK's type " + std::to_string(types[c]) +
                                     ": found " + std::to_string(corners) + " points");
    mesh::count_cell(corners, to.cells);
  }
  if (to.kept.empty()) refuse("cells that are ghosts alone: expected a cell of this file's own");
  if (to.ghosts == 0) to.kept.clear();
}

/// 0 for a cell that is no solid.
std::uint8_t corners_of_solid(std::uint8_t type) {
  return type == tetrahedron                   ? 4
         : type == pyramid                     ? 5
         : type == wedge                       ? 6
         : type == hexahedron || type == voxel ? 8
                                               : 0;
}

std::vector<std::uint8_t> types_of(const hdf5::File& file, const DataGroup& group, std::int64_t cells) {
  require_rows(group.get("Types"), 0, cells);
  std::vector<std::uint8_t> types(static_cast<std::size_t>(cells));
  hdf5::read_rows<std::uint8_t>(file, group.get("Types"), 0, types.size(), types);
  return types;
}

/// Cells of fewer dimensions beside solids are sides of them: what a boundary condition holds on.
void check_solids(const hdf5::File& file, const DataGroup& group, const std::vector<std::uint8_t>& types,
                  VtkhdfContents& to) {
  constexpr std::uint8_t last_flat = 9;  // VTK's types 1 to 9 are points, lines and flat cells of straight sides
  const std::vector<std::uint8_t> ghosts = ghosts_of(file, "CellData", to.num_cells);
  to.offsets = group.get("Offsets");
  require_rows(to.offsets, 0, num_offsets(to));
  const std::vector<std::int64_t> offsets = offsets_of(file, to, 0);
  mesh::Solids shapes;
  for (std::size_t c = 0; c < types.size(); ++c) {
    const std::uint8_t corners = corners_of_solid(types[c]);
    if (corners == 0 && types[c] > last_flat)
      refuse("a cell of VTK's type " + std::to_string(types[c]) +
             " beside solids: expected tetrahedra (10), voxels (11), hexahedra (12), wedges (13) and pyramids (14)");
    if (corners > 0 && offsets[c + 1] - offsets[c] != corners)
      throw Error(Kind::corrupt, "cell " + std::to_string(c) + " of VTK's type " + std::to_string(types[c]) +
                                     ": found " + std::to_string(offsets[c + 1] - offsets[c]) + " points");
    const bool is_ghost = corners > 0 && !ghosts.empty() && (ghosts[c] & ghost_cells) != 0;
    to.left_out += corners == 0 ? 1 : 0;
    to.ghosts += is_ghost ? 1 : 0;
    if (corners == 0 || is_ghost) continue;
    shapes.corners.push_back(corners);
    to.kept.push_back(c);
  }
  to.solids = mesh::count_solids(shapes);
  if (to.left_out + to.ghosts == 0) to.kept.clear();
  if (shapes.corners.empty()) refuse("cells that are ghosts alone: expected a cell of this file's own");
}

void check_cells(const hdf5::File& file, const DataGroup& group, std::size_t parts, VtkhdfContents& to) {
  to.parts.points = by_part(group, "NumberOfPoints", parts);
  to.parts.cells = by_part(group, "NumberOfCells", parts);
  to.num_points = std::reduce(to.parts.points.begin(), to.parts.points.end());
  to.num_cells = std::reduce(to.parts.cells.begin(), to.parts.cells.end());
  if (parts > 1) to.parts.ids = by_part(group, "NumberOfConnectivityIds", parts);
  to.points = group.get("Points");
  to.connectivity = group.get("Connectivity");
  const std::int64_t planes = hdf5::read_numbers(file, own, "planes").value_or(std::vector<std::int64_t>{1}).at(0);
  const bool whole = planes >= 1 && planes <= to.num_points && to.num_points % planes == 0 &&
                     (planes == 1 || to.num_cells % (planes - 1) == 0);
  if (!whole)
    throw Error(Kind::corrupt, std::to_string(planes) + " planes of " + std::to_string(to.num_points) + " points");
  to.planes = static_cast<int>(planes);
  const std::vector<std::uint8_t> types = types_of(file, group, to.num_cells);
  if (planes == 1 &&
      std::any_of(types.begin(), types.end(), [](std::uint8_t type) { return corners_of_solid(type) > 0; }))
    return check_solids(file, group, types, to);
  if (parts > 1 && planes > 1) refuse("planes of triangles in " + std::to_string(parts) + " parts: expected one");
  const bool some_ghosts = planes == 1 && !ghosts_of(file, "CellData", to.num_cells).empty();
  bool polygons = parts > 1 || some_ghosts;
  polygons = polygons || (planes == 1 && hdf5::read_numbers(file, own, mesh::cells_attribute).has_value());
  for (const std::uint8_t type : types) {
    const bool more = planes == 1 && (type == quadrangle || type == polygon);
    polygons = polygons || more;
    if (type != (planes > 1 ? wedge : triangle) && !more)
      refuse("cells of VTK's type " + std::to_string(type) +
             ": expected triangles (5), polygons (7), quadrangles (9), or solids (10 to 14)");
  }
  const DataGroup data(file, in_root("CellData"));
  const bool values = std::any_of(data.sets().begin(), data.sets().end(),
                                  [](const hdf5::Info& set) { return scalar_of(set.type) && set.shape.size() == 1; });
  if (polygons || (planes == 1 && values))
    count_polygons(file, group, types, to);
  else
    require_rows(to.connectivity, 0, to.num_cells * (planes > 1 ? 6 : 3));
}

constexpr std::uint64_t most_columns = 9;  // of a tensor

/// A field of each column; one with three of them has the axes for names.
void add_columns(VtkhdfField entry, std::vector<VtkhdfField>& to) {
  const std::uint64_t columns = entry.set.shape.size() == 1 ? 1 : entry.set.shape[1];
  const std::string name = entry.info.name;
  for (std::size_t k = 0; k < columns; ++k) {
    entry.column = k;
    if (columns > 1)
      entry.info.name = name + (columns == 3 ? "_" + std::string(1, "xyz"[k]) : "_" + std::to_string(k + 1));
    to.push_back(entry);
  }
}

void read_fields(const hdf5::File& file, mesh::Centring centring, VtkhdfContents& to) {
  const std::string name_of = centring == mesh::Centring::cell ? "CellData" : "PointData";
  const DataGroup data(file, in_root(name_of)), offsets(file, in_root("Steps/" + name_of + "Offsets"));
  for (const hdf5::Info& set : data.sets()) {
    const auto type = scalar_of(set.type, !to.solids.empty());
    const bool vectors = !to.solids.empty() && set.shape.size() == 2 && set.shape[1] <= most_columns;
    const std::string name = data.short_name(set);
    if (name == ghost_name && !to.solids.empty()) continue;
    if (!type || (set.shape.size() != 1 && !vectors)) {
      to.fields_left_out.push_back(name);
      continue;
    }
    VtkhdfField entry{{}, set, 0, {0}};
    entry.info.name = hdf5::read_words(file, set.name, own_name).value_or(name);
    for (const VtkhdfField& other : to.fields)
      if (other.info.name == entry.info.name) entry.info.name = name + " (" + name_of + ")";
    entry.info.unit = hdf5::read_words(file, set.name, own_unit).value_or("");
    entry.info.type = *type;
    entry.info.centring = centring;
    if (to.has_steps) entry.first = offsets.by_step(name, to.steps());
    for (const std::int64_t first : entry.first) require_rows(set, first, to.places(entry.info));
    add_columns(std::move(entry), to.fields);
  }
}

/// As in SERAFIN: reals in the order they were written in, then whole numbers. HDF5 lists by name.
void order_fields(const hdf5::File& file, VtkhdfContents& to) {
  const auto order = [&](const VtkhdfField& entry) {
    const auto place = hdf5::read_numbers(file, entry.set.name, own_place);
    return std::pair(mesh::is_integer(entry.info.type),
                     place && place->size() == 1 ? (*place)[0] : std::numeric_limits<std::int64_t>::max());
  };
  std::stable_sort(to.fields.begin(), to.fields.end(),
                   [&](const VtkhdfField& a, const VtkhdfField& b) { return order(a) < order(b); });
}

/// x, y and z of all points at a step, one after another.
std::vector<double> read_places(const hdf5::File& file, const VtkhdfContents& contents, std::size_t step) {
  std::vector<double> places(3 * static_cast<std::size_t>(contents.num_points));
  hdf5::read_rows<double>(file, contents.points, static_cast<std::uint64_t>(contents.first_point[step]),
                          static_cast<std::uint64_t>(contents.num_points), places);
  return places;
}

/// Points of several parts at one place are one point of the mesh.
void join_parts(const hdf5::File& file, VtkhdfContents& to) {
  std::vector<char> ghosts;
  for (const std::uint8_t mark : ghosts_of(file, "PointData", to.num_points))
    ghosts.push_back((mark & ghost_points) != 0 ? 1 : 0);
  std::vector<std::size_t> part_of;
  for (std::size_t p = 0; p < to.parts.size(); ++p)
    part_of.insert(part_of.end(), static_cast<std::size_t>(to.parts.points[p]), p);
  to.points_of_parts = join_points(read_places(file, to, 0), part_of, ghosts);
}

VtkhdfContents read_contents(const std::filesystem::path& path) {
  const hdf5::File file = hdf5::open(path);
  VtkhdfContents to;
  to.path = path.string();
  check_kind(file);
  const DataGroup group(file, root);
  check_cells(file, group, read_steps(file, group, to), to);
  read_attributes(file, to);
  check_points(to);
  if (to.parts.size() > 1) join_parts(file, to);
  read_fields(file, mesh::Centring::node, to);
  if (!to.cells.empty() || !to.solids.empty()) read_fields(file, mesh::Centring::cell, to);
  order_fields(file, to);
  return to;
}

VtkhdfContents contents_of(const std::filesystem::path& path) {
  try {
    return read_contents(path);
  } catch (Error& error) {
    throw std::move(error.at(path.string()));
  }
}

// ------------------------------------------------------------------ values

/// The points of the cells' corners, numbered over all parts.
void number_over_parts(const VtkhdfContents& contents, std::vector<std::int64_t>& points) {
  std::int64_t base = 0;
  std::size_t i = 0;
  for (std::size_t p = 0; p < contents.parts.size(); ++p) {
    const std::int64_t own = contents.parts.points[p];
    for (std::int64_t k = 0; k < contents.parts.ids[p]; ++k, ++i) {
      if (points[i] < 0 || points[i] >= own)
        throw Error(Kind::corrupt, "Connectivity of part " + std::to_string(p) + ": expected points below " +
                                       std::to_string(own) + ", found " + std::to_string(points[i]));
      points[i] =
          static_cast<std::int64_t>(contents.points_of_parts.number_of[static_cast<std::size_t>(base + points[i])]);
    }
    base += own;
  }
}

/// Calls `each` with the number and the points of each cell that is kept. A cell has `least` points or more.
template <class Each>
void for_each_kept(const hdf5::File& file, const VtkhdfContents& contents, std::int64_t least, Each&& each) {
  const std::vector<std::int64_t> offsets = offsets_of(file, contents, least);
  std::vector<std::int64_t> points(static_cast<std::size_t>(offsets.back() - offsets.front()));
  hdf5::read_rows<std::int64_t>(file, contents.connectivity, static_cast<std::uint64_t>(offsets.front()), points.size(),
                                points);
  if (contents.parts.size() > 1) number_over_parts(contents, points);
  for (std::size_t i = 0; i < (contents.kept.empty() ? offsets.size() - 1 : contents.kept.size()); ++i) {
    const std::size_t c = contents.kept.empty() ? i : contents.kept[i];
    each(c, std::span<const std::int64_t>(points).subspan(static_cast<std::size_t>(offsets[c] - offsets.front()),
                                                          static_cast<std::size_t>(offsets[c + 1] - offsets[c])));
  }
}

/// x, y and z of the mesh's points at the first step, one after another.
std::vector<double> places_of_mesh(const hdf5::File& file, const VtkhdfContents& contents) {
  const std::vector<double> places = read_places(file, contents, 0);
  if (contents.points_of_parts.kept.empty()) return places;
  std::vector<double> kept;
  for (const std::size_t i : contents.points_of_parts.kept)
    kept.insert(kept.end(), {places[3 * i], places[3 * i + 1], places[3 * i + 2]});
  return kept;
}

mesh::Solids read_solids(const hdf5::File& file, const VtkhdfContents& contents) {
  mesh::Solids mesh;
  const std::vector<double> places = places_of_mesh(file, contents);
  for (std::size_t at = 0; at < places.size(); at += 3) {
    mesh.x.push_back(places[at]);
    mesh.y.push_back(places[at + 1]);
    mesh.z.push_back(places[at + 2]);
  }
  const std::vector<std::uint8_t> types = types_of(file, DataGroup(file, root), contents.num_cells);
  for_each_kept(file, contents, 0, [&](std::size_t c, std::span<const std::int64_t> corners) {
    mesh.corners.push_back(static_cast<std::uint8_t>(corners.size()));
    mesh.connectivity.insert(mesh.connectivity.end(), corners.begin(), corners.end());
    if (types[c] != voxel) return;
    std::swap(mesh.connectivity.end()[-6], mesh.connectivity.end()[-5]);
    std::swap(mesh.connectivity.end()[-2], mesh.connectivity.end()[-1]);
  });
  mesh::validate(mesh);
  return mesh;
}

mesh::Unstructured read_triangles(const hdf5::File& file, const VtkhdfContents& contents) {
  mesh::Unstructured mesh;
  mesh.planes = contents.planes;
  const std::vector<double> places = places_of_mesh(file, contents);
  const std::size_t points = places.size() / 3 / static_cast<std::size_t>(mesh.planes);
  for (std::size_t i = 0; i < points; ++i) {
    mesh.x.push_back(places[3 * i]);
    mesh.y.push_back(places[3 * i + 1]);
  }
  if (!contents.cells.empty()) {
    for_each_kept(file, contents, 3, [&](std::size_t c, std::span<const std::int64_t> corners) {
      mesh::add_cell(corners, static_cast<std::int64_t>(c), mesh);
    });
    return mesh;
  }
  const std::size_t corners = mesh.planes > 1 ? 6 : 3, layers = static_cast<std::size_t>(std::max(1, mesh.planes - 1));
  const std::size_t triangles = static_cast<std::size_t>(contents.num_cells) / layers;
  std::vector<std::int64_t> cells(triangles * corners);
  hdf5::read_rows<std::int64_t>(file, contents.connectivity, 0, cells.size(), cells);
  // The lower face of a wedge comes first.
  mesh.connectivity.reserve(3 * triangles);
  for (std::size_t t = 0; t < triangles; ++t)
    for (std::size_t k = 0; k < 3; ++k) mesh.connectivity.push_back(cells[t * corners + k]);
  mesh::validate(mesh);
  return mesh;
}

mesh::Mesh read_mesh(const hdf5::File& file, const VtkhdfContents& contents) {
  if (!contents.solids.empty()) return read_solids(file, contents);
  return read_triangles(file, contents);
}

template <class T>
void read_values(const hdf5::File& file, const VtkhdfField& entry, std::size_t step, mesh::Field& to) {
  const std::size_t columns = entry.set.shape.size() == 1 ? 1 : static_cast<std::size_t>(entry.set.shape[1]);
  const auto first = static_cast<std::uint64_t>(entry.first[step]);
  if (columns == 1) return hdf5::read_rows<T>(file, entry.set, first, to.size(), to.as<T>());
  std::vector<T> rows(to.size() * columns);
  hdf5::read_rows<T>(file, entry.set, first, to.size(), rows);
  for (std::size_t i = 0; i < to.size(); ++i) to.as<T>()[i] = rows[i * columns + entry.column];
}

/// The values at some places alone.
mesh::Field without_others(const mesh::Field& field, const std::vector<std::size_t>& kept) {
  const std::size_t size = mesh::size_of(field.info.type);
  mesh::Field out = mesh::make_field(field.info, kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    std::copy_n(field.bytes.data() + kept[i] * size, size, out.bytes.data() + i * size);
  return out;
}

mesh::Field read_field(const hdf5::File& file, const VtkhdfContents& contents, const VtkhdfField& entry,
                       std::size_t step) {
  mesh::Field field = mesh::make_field(entry.info, static_cast<std::size_t>(contents.places(entry.info)));
  switch (entry.info.type) {
    case mesh::ScalarType::float64: read_values<double>(file, entry, step, field); break;
    case mesh::ScalarType::float32: read_values<float>(file, entry, step, field); break;
    case mesh::ScalarType::int64: read_values<std::int64_t>(file, entry, step, field); break;
    default: read_values<std::int32_t>(file, entry, step, field);
  }
  const std::vector<std::size_t>& kept =
      entry.info.centring == mesh::Centring::cell ? contents.kept : contents.points_of_parts.kept;
  return kept.empty() ? field : without_others(field, kept);
}

mesh::Part read_part(const VtkhdfContents& contents, std::size_t step, const mesh::Header& header,
                     const mesh::Request& request) try {
  const hdf5::File file = hdf5::open(contents.path);
  mesh::Part part;
  if (request.mesh)
    part.mesh = read_mesh(file, contents);
  else
    part.mesh = contents.solids.empty() ? mesh::Mesh(mesh::Unstructured{}) : mesh::Mesh(mesh::Solids{});
  for (const std::size_t f : mesh::select_fields(header, request.fields))
    part.fields.push_back(read_field(file, contents, contents.fields[f], step));
  return part;
} catch (Error& error) {
  throw std::move(error.at(contents.path));
}

void set_box(const VtkhdfContents& contents, std::size_t step, mesh::Header& header) {
  const std::vector<double> places = read_places(hdf5::open(contents.path), contents, step);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    double lo = places[axis], hi = places[axis];
    for (std::size_t i = axis; i < places.size(); i += 3) {
      lo = std::min(lo, places[i]);
      hi = std::max(hi, places[i]);
    }
    header.lo[axis] = lo;
    header.hi[axis] = hi > lo ? hi : lo + 1;
  }
}

void describe_triangles(const VtkhdfContents& contents, mesh::Header& header) {
  const std::int64_t layers = std::max(1, contents.planes - 1);
  header.attributes["triangles"] =
      contents.cells.empty() ? contents.num_cells / layers : mesh::num_triangles(contents.cells);
  if (!contents.cells.empty()) header.attributes[mesh::cells_attribute] = contents.cells;
  header.attributes["planes"] = std::int64_t{contents.planes};
}

mesh::Header header_of(const VtkhdfContents& contents, std::size_t step) {
  mesh::Header header;
  header.code = "VTKHDF";
  header.dim = contents.planes > 1 || !contents.solids.empty() ? 3 : 2;
  header.unit_length = contents.unit_length;
  header.attributes = contents.attributes;
  if (!contents.solids.empty())
    header.attributes[mesh::solids_attribute] = contents.solids;
  else
    describe_triangles(contents, header);
  if (contents.has_steps) {
    header.time = contents.times[step];
    header.attributes["step"] = static_cast<std::int64_t>(step);
  }
  for (const VtkhdfField& field : contents.fields) header.fields.push_back(field.info);
  set_box(contents, step, header);
  return header;
}

mesh::Dataset dataset_of(VtkhdfContents found, std::size_t step) {
  const auto contents = std::make_shared<const VtkhdfContents>(std::move(found));
  mesh::Dataset dataset = mesh::of_one_part("vtkhdf", contents->path, header_of(*contents, step),
                                            static_cast<std::int64_t>(std::filesystem::file_size(contents->path)),
                                            contents->num_cells - contents->left_out - contents->ghosts,
                                            static_cast<std::int64_t>(contents->new_points()));
  if (contents->left_out > 0)
    dataset.notes.push_back(std::to_string(contents->left_out) +
                            " cells that are no solids (points, lines, sides) are left out");
  if (contents->ghosts > 0)
    dataset.notes.push_back(std::to_string(contents->ghosts) + " cells are left out that " + ghost_name +
                            " marks: another part has them, or they are hidden");
  if (const auto twice = contents->num_points - static_cast<std::int64_t>(contents->new_points()); twice > 0)
    dataset.notes.push_back("points of several parts at one place are one, with the first part's values: " +
                            std::to_string(twice) + " copies are left out");
  if (!contents->solids.empty() && !contents->fields_left_out.empty()) {
    std::string names;
    for (const std::string& name : contents->fields_left_out) names += (names.empty() ? "" : ", ") + name;
    dataset.notes.push_back(
        "values other than reals, and integers of 4 and 8 bytes, in up to 9 columns are left out: " + names);
  }
  dataset.read = [contents, step, header = dataset.header](int, const mesh::Request& request) {
    return read_part(*contents, step, header, request);
  };
  return dataset;
}

}  // namespace

bool recognise(const std::filesystem::path& path) {
  if (!hdf5::has_signature(path)) return false;
  try {
    const hdf5::File file = hdf5::open(path);
    return hdf5::read_words(file, root, "Type").has_value();
  } catch (const Error&) {
    return false;
  }
}

mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step) {
  VtkhdfContents contents = contents_of(path);
  const std::int64_t number = chosen_step(path, step, static_cast<std::int64_t>(contents.steps()));
  mesh::Dataset dataset = dataset_of(std::move(contents), static_cast<std::size_t>(number));
  describe_file(dataset, path, step);
  return dataset;
}

FileSteps list_steps(const std::filesystem::path& path) {
  const VtkhdfContents contents = contents_of(path);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  return {contents.has_steps || contents.fields.empty() ? contents.times : std::vector<double>{0}, bytes};
}

}  // namespace octavo::formats::vtkhdf
