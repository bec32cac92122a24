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

/// Calls `each` with all cells of a piece; their points are numbered from 0, -1 for one that is not in the piece.
template <class F>
void for_each_cell(const XdmfPiece& piece, F&& each) {
  const std::vector<std::int64_t> numbers = read_numbers<std::int64_t>(piece.cells);
  const XdmfKind kind = piece.solid ? XdmfKind::solid : XdmfKind::flat;
  for (std::size_t at = 0; at < numbers.size();) {
    XdmfCell cell =
        piece.corners > 0 ? XdmfCell{kind, std::vector<std::int64_t>(piece.corners)} : cell_of_type(numbers, at);
    if (cell.corners.size() > numbers.size() - at) throw Error(Kind::corrupt, "the list of cells ends in a cell");
    for (std::int64_t& point : cell.corners) {
      const std::int64_t number = numbers[at++];
      point = number < piece.first_point ? -1 : number - piece.first_point;
      if (static_cast<std::uint64_t>(point) >= piece.num_points) point = -1;
    }
    each(cell);
  }
}

/// The number of the first point of each piece, among those of all.
std::vector<std::int64_t> first_points(const XdmfContents& contents) {
  std::vector<std::int64_t> first;
  std::int64_t next = 0;
  for (std::size_t p = 0; p < contents.pieces.size(); ++p) {
    const XdmfPiece& piece = contents.pieces[p];
    first.push_back(piece.points_of == p ? next : first[piece.points_of]);
    if (piece.points_of == p) next += static_cast<std::int64_t>(piece.num_points);
  }
  return first;
}

/// The same for all pieces and the cells that are kept, with the mesh's own numbers of points. Throws Error(corrupt)
/// for a point that is not there.
template <class F>
void for_each_kept(const XdmfContents& contents, F&& each) {
  const std::vector<std::int64_t> first = first_points(contents);
  const std::vector<std::size_t>& number_of = contents.points_of_pieces.number_of;
  std::uint64_t cell_number = 0;
  std::size_t next = 0;
  for (std::size_t p = 0; p < contents.pieces.size(); ++p)
    for_each_cell(contents.pieces[p], [&](XdmfCell& cell) {
      const std::uint64_t own = cell_number++;
      if (!contents.kept.empty() && (next == contents.kept.size() || contents.kept[next] != own)) return;
      ++next;
      for (std::int64_t& point : cell.corners) {
        if (point < 0) throw Error(Kind::corrupt, "a point that is not in the mesh").at("cell " + std::to_string(own));
        point += first[p];
        if (!number_of.empty()) point = static_cast<std::int64_t>(number_of[static_cast<std::size_t>(point)]);
      }
      each(cell);
    });
}

/// The number of the first point; 0 where it is not told.
std::int64_t first_point_of(const XmlElement& topology) {
  const std::string text = trimmed(topology.attribute("BaseOffset"));
  std::int64_t first = 0;
  if (!text.empty() && (!parse_number(text, first) || first < 0))
    throw Error(Kind::unsupported, "a topology with BaseOffset " + text + ": expected a number from 0");
  return first;
}

void set_topology(const XmlElement& topology, XdmfText& text, XdmfPiece& to) {
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

/// Returns the number of coordinates of a point.
std::size_t set_geometry(const XmlElement& geometry, XdmfText& text, XdmfPiece& to) {
  const std::string type = lower(either(geometry, "GeometryType", "Type"));
  if (!type.empty() && type != "xyz" && type != "xy" && type != "x_y_z" && type != "x_y")
    throw Error(Kind::unsupported, "a geometry of type " + type + ": expected XYZ, XY, X_Y_Z or X_Y");
  const std::size_t axes = type == "xy" || type == "x_y" ? 2 : 3;
  to.points = item_of(geometry, text);
  const std::size_t arrays = to.points.kind == XdmfItemKind::joined ? to.points.of.size() : 1;
  if (type.starts_with("x_y") && arrays != axes)
    throw Error(Kind::corrupt, "a geometry of type " + type + ": expected " + std::to_string(axes) + " arrays");
  const std::uint64_t all = num_values(to.points);
  to.num_points = all / axes;
  if (all == 0 || all % axes != 0 || to.num_points > most_places)
    throw Error(Kind::corrupt,
                std::to_string(all) + " coordinates: expected " + std::to_string(axes) + " for each point");
  return axes;
}

/// Counts, which tell the kind of cells. Cells of surfaces beside solids are left out, points and lines always, and
/// cells that another piece has, by VTK's marks of each piece.
void count_cells(XdmfContents& to, const std::vector<std::vector<double>>& ghosts) {
  std::vector<std::int64_t> flat, solid(solid_shapes.size(), 0);
  std::vector<std::uint64_t> flat_cells;
  std::uint64_t left_to_others = 0;
  const auto count = [&](const XdmfCell& cell, double mark) {
    const std::uint64_t number = to.num_cells++;
    if (cell.kind == XdmfKind::less) return;
    if (mark > 0 && mark < 256 && (static_cast<unsigned>(mark) & ghost_cells) != 0) {
      ++left_to_others;
      return;
    }
    if (cell.kind == XdmfKind::solid) to.kept.push_back(number);
    if (cell.kind == XdmfKind::flat) {
      flat_cells.push_back(number);
      return mesh::count_cell(cell.corners.size(), flat);
    }
    for (std::size_t shape = 0; shape < solid.size(); ++shape)
      solid[shape] += solid_shapes[shape].corners == cell.corners.size() ? 1 : 0;
  };
  for (std::size_t p = 0; p < to.pieces.size(); ++p) {
    std::uint64_t& cells = to.pieces[p].num_cells;
    for_each_cell(to.pieces[p], [&](const XdmfCell& cell) {
      count(cell, cells < ghosts[p].size() ? ghosts[p][cells] : 0);
      ++cells;
    });
  }
  if (to.num_cells == 0) throw Error(Kind::corrupt, "no cells");
  to.solid = !to.kept.empty();
  to.counts = to.solid ? solid : flat;
  if (!to.solid) to.kept = std::move(flat_cells);
  if (to.kept.empty()) throw Error(Kind::unsupported, "a mesh of points and lines: expected solids or a surface");
  if (to.solid && to.axes != 3) throw Error(Kind::corrupt, "solids with two coordinates a point");
  const std::uint64_t left = to.num_cells - to.kept.size() - left_to_others;
  if (left_to_others > 0)
    to.notes.push_back(std::to_string(left_to_others) + " cells are left out that " + ghost_name +
                       " marks: another piece has them, or they are hidden");
  if (left > 0)
    to.notes.push_back(
        std::to_string(left) +
        (to.solid ? " cells that are no solids (points, lines, sides)" : " cells that are points or lines") +
        " are left out");
  if (to.kept.size() == to.num_cells) to.kept.clear();
}

/// Points of several pieces at one place are one point of the mesh.
void join_pieces(XdmfContents& to) {
  std::vector<std::size_t> owners;
  for (std::size_t p = 0; p < to.pieces.size(); ++p)
    if (to.pieces[p].points_of == p) owners.push_back(p);
  for (const std::size_t p : owners) to.num_points += to.pieces[p].num_points;
  if (to.num_points > most_places)
    throw Error(Kind::unsupported,
                std::to_string(to.num_points) + " points: expected " + std::to_string(most_places) + " or fewer");
  if (owners.size() == 1) return;
  std::vector<std::size_t> piece_of;
  std::vector<double> places;
  for (const std::size_t p : owners) {
    piece_of.insert(piece_of.end(), to.pieces[p].num_points, p);
    const std::vector<double> own = read_numbers<double>(to.pieces[p].points);
    for (std::size_t i = 0; i < own.size(); i += to.axes)
      places.insert(places.end(), {own[i], own[i + 1], to.axes == 3 ? own[i + 2] : 0});
  }
  to.points_of_pieces = join_points(places, piece_of, {});
  if (const auto twice = to.num_points - to.new_points(); twice > 0)
    to.notes.push_back("points of several pieces at one place are one, with the first piece's values: " +
                       std::to_string(twice) + " copies are left out");
}

// ------------------------------------------------------------------ fields and steps

/// The grids of one step: one, or the pieces of a mesh.
struct XdmfStepGrids {
  const XmlElement* outer = nullptr;
  std::vector<const XmlElement*> pieces;
};

/// The attribute of that name and centre in a grid; nullptr: it has none.
const XmlElement* attribute_like(const XmlElement& grid, const XmlElement& like, XdmfText& text) {
  for (const XmlElement* one : text.references.in(grid, "Attribute"))
    if (one->attribute("Name") == like.attribute("Name") &&
        lower(one->attribute("Center")) == lower(like.attribute("Center")))
      return one;
  return nullptr;
}

/// Adds an attribute of the first piece, with the others' values. `names`: those of the step's fields.
void add_field(const XmlElement& attribute, const XdmfStepGrids& grids, XdmfText& text, XdmfContents& to,
               XdmfStep& step, std::set<std::string>& names) {
  XdmfField field;
  field.info.name = attribute.attribute("Name");
  if (field.info.name == ghost_name) return;
  const auto leave_out = [&](const std::string& why) {
    const std::string note = "attribute " + field.info.name + " is left out: " + why;
    if (std::find(to.notes.begin(), to.notes.end(), note) == to.notes.end()) to.notes.push_back(note);
  };
  const std::string centre = lower(attribute.attribute("Center"));
  const bool in_cells = centre == "cell";
  if (!centre.empty() && centre != "node" && !in_cells) return leave_out("its values stand at " + centre + "s");
  field.info.centring = in_cells ? mesh::Centring::cell : mesh::Centring::node;
  field.info.type = ScalarType::float32;
  field.components = 0;
  for (std::size_t p = 0; p < to.pieces.size(); ++p) {
    const XdmfPiece& piece = to.pieces[p];
    field.items.emplace_back();
    if (!in_cells && piece.points_of != p) continue;
    const XmlElement* const own = p == 0 ? &attribute : attribute_like(*grids.pieces[p], attribute, text);
    if (own == nullptr) return leave_out("piece " + grids.pieces[p]->attribute("Name") + " has none");
    if (const std::string kind = own->attribute("ItemType"); !kind.empty()) return leave_out("its kind is " + kind);
    XdmfItem& item = field.items.back();
    item = item_of(*own, text);
    if (item.type != ScalarType::float32) field.info.type = item.type;
    const std::uint64_t places = in_cells ? piece.num_cells : piece.num_points, values = num_values(item);
    if (places == 0 && values == 0) continue;
    const std::size_t components = places == 0 ? 0 : values / places;
    constexpr std::size_t most = 9;  // a tensor
    if (components == 0 || components > most || values % places != 0)
      return leave_out("expected 1 to 9 values for each of " + std::to_string(places) + " places, found " +
                       std::to_string(values));
    if (field.components != 0 && components != field.components)
      return leave_out("its pieces have " + std::to_string(field.components) + " and " + std::to_string(components) +
                       " values a place");
    field.components = components;
  }
  for (const XmlElement& one : attribute.children)
    if (one.name == "Information" && one.attribute("Name") == "Unit") field.info.unit = one.attribute("Value");
  const std::string name = field.info.name;
  for (; field.component < field.components; ++field.component) {
    const std::size_t k = field.component;
    if (field.components > 1)
      field.info.name = name + "_" + (field.components == 3 ? std::string(1, "xyz"[k]) : std::to_string(k + 1));
    else
      field.info.name = name;
    if (names.contains(field.info.name)) field.info.name += in_cells ? " (CellData)" : " (PointData)";
    if (!names.insert(field.info.name).second) return leave_out("another one has its name");
    step.fields.push_back(field);
  }
}

/// Grids that are steps.
struct XdmfGrids {
  std::vector<XdmfStepGrids> steps;
  const XmlElement* outer = nullptr;  ///< the collection, or the only step
};

bool is_collection(const XmlElement& grid, const char* type) {
  return lower(grid.attribute("GridType")) == "collection" && lower(grid.attribute("CollectionType")) == type;
}

/// A grid, or those of a collection in space but for the empty ones: ranks without cells write such.
XdmfStepGrids pieces_of(const XmlElement& grid, XdmfText& text) {
  if (!is_collection(grid, "spatial")) return {&grid, {&grid}};
  XdmfStepGrids step{&grid, {}};
  for (const XmlElement* piece : text.references.in(grid, "Grid")) {
    if (const std::string type = lower(piece->attribute("GridType")); !type.empty() && type != "uniform")
      throw Error(Kind::unsupported, "a grid of type " + type + " in a collection in space: expected Uniform")
          .at("grid " + piece->attribute("Name"));
    const bool empty = text.references.in(*piece, "Topology").empty() && text.references.in(*piece, "Geometry").empty();
    if (!empty) step.pieces.push_back(piece);
  }
  if (step.pieces.empty())
    throw Error(Kind::unsupported, "a collection in space without a grid").at("grid " + grid.attribute("Name"));
  return step;
}

/// Those of the first collection in time, else the first other one.
XdmfGrids grids_of(const XmlElement& domain, XdmfText& text) {
  std::vector<const XmlElement*> others;
  for (const XmlElement* grid : text.references.in(domain, "Grid")) {
    if (is_collection(*grid, "spatial") || lower(grid->attribute("GridType")) != "collection") {
      others.push_back(grid);
      continue;
    }
    if (!is_collection(*grid, "temporal"))
      throw Error(Kind::unsupported, "a collection of grids of type " + grid->attribute("CollectionType") +
                                         ": expected Spatial or Temporal");
    XdmfGrids found{{}, grid};
    for (const XmlElement* step : text.references.in(*grid, "Grid")) found.steps.push_back(pieces_of(*step, text));
    if (!found.steps.empty()) return found;
  }
  if (others.empty()) throw Error(Kind::unsupported, "no grid");
  return {{pieces_of(*others.front(), text)}, others.front()};
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

/// The first element of that name in a piece of some step, or elsewhere in the domain.
const XmlElement& first_of(const XmlElement& domain, const XdmfGrids& grids, std::size_t piece, const char* name,
                           XdmfText& text) {
  for (const XdmfStepGrids& step : grids.steps)
    if (piece < step.pieces.size())
      if (const XmlElement* found = part_of(*step.pieces[piece], name, text)) return *found;
  if (grids.steps.front().pieces.size() > 1)
    throw Error(Kind::corrupt, std::string("no element ") + name)
        .at("grid " + grids.steps.front().pieces[piece]->attribute("Name"));
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
  if (grids.outer != grids.steps.front().outer) listed = times_of(*grids.outer, text, to, grids.steps.size());
  bool known = true;
  for (std::size_t i = 0; i < grids.steps.size(); ++i) {
    const XmlElement* time = part_of(*grids.steps[i].outer, "Time", text);
    if (time == nullptr) time = part_of(*grids.steps[i].pieces.front(), "Time", text);
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

void require_same_mesh(const XdmfStepGrids& grids, XdmfText& text, const XdmfContents& contents) {
  bool same = grids.pieces.size() == contents.pieces.size();
  for (std::size_t p = 0; same && p < grids.pieces.size(); ++p) {
    const XmlElement* const topology = part_of(*grids.pieces[p], "Topology", text);
    const XmlElement* const geometry = part_of(*grids.pieces[p], "Geometry", text);
    const XdmfPiece& piece = contents.pieces[p];
    same = (topology == nullptr ||
            (item_of(*topology, text) == piece.cells && first_point_of(*topology) == piece.first_point)) &&
           (geometry == nullptr || item_of(*geometry, text) == piece.points);
  }
  if (!same)
    throw Error(Kind::unsupported, "a mesh that changes from step to step")
        .at("grid " + grids.outer->attribute("Name"));
}

void add_steps(const std::vector<XdmfStepGrids>& steps, XdmfText& text, XdmfContents& to) {
  for (const XdmfStepGrids& grids : steps) {
    if (const std::string type = lower(grids.pieces.front()->attribute("GridType")); !type.empty() && type != "uniform")
      throw Error(Kind::unsupported, "a grid of type " + type + " in a step: expected Uniform");
    require_same_mesh(grids, text, to);
    XdmfStep step;
    std::set<std::string> names;
    for (const XmlElement* one : text.references.in(*grids.pieces.front(), "Attribute"))
      add_field(*one, grids, text, to, step, names);
    to.steps.push_back(std::move(step));
  }
}

/// The mesh of the first step, which all have.
void set_pieces(const XmlElement& domain, const XdmfGrids& grids, XdmfText& text, XdmfContents& to) {
  std::vector<std::vector<double>> ghosts;
  for (std::size_t p = 0; p < grids.steps.front().pieces.size(); ++p) {
    XdmfPiece piece;
    set_topology(first_of(domain, grids, p, "Topology", text), text, piece);
    const std::size_t axes = set_geometry(first_of(domain, grids, p, "Geometry", text), text, piece);
    if (p > 0 && axes != to.axes) throw Error(Kind::unsupported, "pieces with two and with three coordinates a point");
    to.axes = axes;
    piece.points_of = p;
    for (std::size_t other = p; other-- > 0;)
      if (to.pieces[other].points == piece.points) piece.points_of = to.pieces[other].points_of;
    to.pieces.push_back(std::move(piece));
    XmlElement marks;
    marks.attributes = {{"Name", ghost_name}, {"Center", "Cell"}};
    const XmlElement* const found = attribute_like(*grids.steps.front().pieces[p], marks, text);
    ghosts.push_back(found == nullptr ? std::vector<double>() : read_numbers<double>(item_of(*found, text)));
  }
  join_pieces(to);
  count_cells(to, ghosts);
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
  set_pieces(*domain, grids, text, to);
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
  for_each_kept(contents, [&](const XdmfCell& cell) { mesh::add_cell(cell.corners, number++, mesh); });
  return mesh;
}

mesh::Solids read_solids(const XdmfContents& contents) {
  mesh::Solids mesh;
  mesh.x = read_axis(contents, 0);
  mesh.y = read_axis(contents, 1);
  mesh.z = read_axis(contents, 2);
  for_each_kept(contents, [&](const XdmfCell& cell) {
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
  for (const XdmfPiece& piece : pieces) {
    add_files(piece.cells, out);
    add_files(piece.points, out);
  }
  for (const XdmfStep& step : steps)
    for (const XdmfField& field : step.fields)
      for (const XdmfItem& item : field.items) add_files(item, out);
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
  std::vector<double> out;
  for (std::size_t p = 0; p < contents.pieces.size(); ++p) {
    if (contents.pieces[p].points_of != p) continue;
    const std::vector<double> all = read_numbers<double>(contents.pieces[p].points);
    for (std::size_t i = axis; i < all.size(); i += contents.axes) {
      if (!std::isfinite(all[i]))
        throw Error(Kind::corrupt, "a point without a place").at("point " + std::to_string(out.size()));
      out.push_back(all[i]);
    }
  }
  const std::vector<std::size_t>& kept = contents.points_of_pieces.kept;  // ascending
  for (std::size_t i = 0; i < kept.size(); ++i) out[i] = out[kept[i]];
  out.resize(contents.new_points());
  return out;
}

bool has_heights(const XdmfContents& contents) {
  if (contents.axes != 3) return false;
  try {
    const std::vector<double> heights = read_axis(contents, 2);
    return std::any_of(heights.begin(), heights.end(), [](double height) { return height != 0; });
  } catch (Error& error) {
    throw std::move(error.at(contents.path.string()));
  }
}

mesh::Field read_field(const XdmfContents& contents, const XdmfField& entry) {
  try {
    const bool in_cells = entry.info.centring == mesh::Centring::cell;
    std::vector<double> all;
    for (std::size_t p = 0; p < contents.pieces.size(); ++p) {
      if (!in_cells && contents.pieces[p].points_of != p) continue;
      std::vector<double> own = read_numbers<double>(entry.items[p]);
      if (all.empty())
        all = std::move(own);
      else
        all.insert(all.end(), own.begin(), own.end());
    }
    const auto pick = [&](const auto& kept) {
      mesh::Field field = mesh::make_field(entry.info, kept.empty() ? all.size() / entry.components : kept.size());
      const auto put = [&](auto out) {
        for (std::size_t i = 0; i < out.size(); ++i)
          out[i] = static_cast<typename decltype(out)::value_type>(
              all[(kept.empty() ? i : kept[i]) * entry.components + entry.component]);
      };
      if (entry.info.type == ScalarType::float32)
        put(field.as<float>());
      else
        put(field.as<double>());
      return field;
    };
    return in_cells ? pick(contents.kept) : pick(contents.points_of_pieces.kept);
  } catch (Error& error) {
    throw std::move(error.at("attribute " + entry.info.name).at(contents.path.string()));
  }
}

}  // namespace octavo::formats::xdmf
