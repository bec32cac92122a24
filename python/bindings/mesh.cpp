#include <algorithm>
#include <array>

#include "arrays.hpp"
#include "bindings.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/expression.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/units.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/read_box.hpp"
#include "octavo/verbs/scope.hpp"

namespace octavo::bindings {

namespace {

nb::dict describe(const mesh::FieldInfo& info) {
  nb::dict row;
  row["name"] = info.name;
  row["unit"] = info.unit;
  row["dtype"] = std::string(mesh::name_of(info.type));
  row["centring"] = std::vector<std::string>{
      "cell", "face_x", "face_y", "face_z", "node", "particle"}[static_cast<std::size_t>(info.centring)];
  row["components"] = info.components;
  return row;
}

nb::list describe(const std::vector<mesh::FieldInfo>& fields) {
  nb::list rows;
  for (const mesh::FieldInfo& info : fields) rows.append(describe(info));
  return rows;
}

nb::list describe(const std::vector<mesh::SpeciesInfo>& all) {
  nb::list rows;
  for (const mesh::SpeciesInfo& species : all) {
    nb::dict row;
    row["name"] = species.name;
    row["count"] = species.count;
    row["attributes"] = describe(species.attributes);
    rows.append(row);
  }
  return rows;
}

/// Cells, not tree cells, which are blocks where a code has those.
nb::list describe_levels(const mesh::Dataset& dataset) {
  const mesh::Index3& block = dataset.header.block;
  const std::int64_t of_block = block[0] * block[1] * block[2];
  nb::list rows;
  for (const mesh::LevelCount& count : dataset.levels) {
    nb::dict row;
    row["level"] = count.level;
    row["blocks"] = of_block > 1 ? nb::cast(count.cells) : nb::none();
    row["cells"] = count.cells * of_block;
    row["leaves"] = count.leaves * of_block;
    rows.append(row);
  }
  return rows;
}

/// A view on a field's values that keeps the part alive.
nb::object view(const mesh::Field& field, nb::handle owner) {
  const auto components = static_cast<std::size_t>(field.info.components);
  const std::size_t shape[2] = {field.size() / components, components};
  return array_on(field.info.type, field.bytes.data(), {shape, components == 1 ? 1U : 2U}, owner, false);
}

template <class T>
nb::object values_view(const std::vector<T>& values, std::size_t width, nb::handle owner) {
  const std::size_t shape[2] = {values.size() / width, width};
  return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), width == 1 ? 1 : 2, shape, owner));
}

nb::dict fields_of(nb::handle self) {
  const auto& part = nb::cast<const mesh::Part&>(self);
  nb::dict fields;
  for (const mesh::Field& field : part.fields) fields[nb::cast(field.info.name)] = view(field, self);
  return fields;
}

nb::dict particles_of(nb::handle self) {
  const auto& part = nb::cast<const mesh::Part&>(self);
  nb::dict all;
  for (const mesh::Particles& species : part.particles) {
    nb::dict attributes;
    for (const mesh::Field& attribute : species.attributes)
      attributes[nb::cast(attribute.info.name)] = view(attribute, self);
    all[nb::cast(species.species)] = attributes;
  }
  return all;
}

nb::object bits_to_array(const base::BitArray& bits) {
  std::vector<std::uint8_t> bytes(bits.size(), 0);
  bits.for_each_set([&](std::size_t i) { bytes[i] = 1; });
  return to_array(std::move(bytes), {bits.size()}).attr("view")("bool");
}

nb::list levels_of(const std::vector<base::BitArray>& levels) {
  nb::list out;
  for (const base::BitArray& bits : levels) out.append(bits_to_array(bits));
  return out;
}

// ------------------------------------------------------------------ what a writer is given

using Bits = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<base::BitArray> to_bits(const std::vector<Bits>& levels) {
  std::vector<base::BitArray> out;
  for (const Bits& level : levels) {
    base::BitArray bits(level.shape(0));
    for (std::size_t i = 0; i < bits.size(); ++i) bits.words()[i >> 6] |= std::uint64_t{level.data()[i]} << (i & 63);
    out.push_back(std::move(bits));
  }
  return out;
}

/// `dim` entries, the rest `others`.
template <class T, class U>
std::array<T, 3> along_axes(const std::vector<U>& values, int dim, T others, const char* name) {
  if (dim < 1 || dim > 3) throw base::Error(base::Kind::usage, "dim: expected 1, 2 or 3, found " + std::to_string(dim));
  if (values.size() != static_cast<std::size_t>(dim))
    throw base::Error(base::Kind::usage, std::string(name) + ": expected " + std::to_string(dim) + " entries, found " +
                                             std::to_string(values.size()));
  std::array<T, 3> out{others, others, others};
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

template <class T>
nb::tuple of_axes(const std::array<T, 3>& values, int dim) {
  nb::list out;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) out.append(T{values[a]});
  return nb::tuple(out);
}

using Extents = std::optional<std::vector<std::int64_t>>;

mesh::Index3 extents(const Extents& values, int dim, const char* name) {
  const auto all = values ? along_axes<std::int64_t>(*values, dim, 1, name) : mesh::Index3{1, 1, 1};
  for (const std::int64_t n : all)
    if (n < 1)
      throw base::Error(base::Kind::usage,
                        std::string(name) + ": expected 1 or more along each axis, found " + std::to_string(n));
  return all;
}

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Held = std::optional<Intervals>;

Intervals intervals_of(const mesh::Octree& tree) {
  Intervals held;
  for (const mesh::RootInterval& interval : held_roots(tree)) held.emplace_back(interval.begin, interval.end);
  return held;
}

mesh::Octree make_octree(const std::vector<Bits>& refined, const std::optional<std::vector<Bits>>& owned, int dim,
                         const Extents& roots, const Extents& block, const Held& held) {
  mesh::Octree tree;
  tree.dim = dim;
  tree.roots = extents(roots, dim, "roots");
  tree.block = extents(block, dim, "block");
  tree.refined = to_bits(refined);
  if (owned)
    tree.owned = to_bits(*owned);
  else
    for (const base::BitArray& level : tree.refined) tree.owned.emplace_back(level.size(), true);
  mesh::RootIntervals intervals;
  for (const auto& [begin, end] : held.value_or(Intervals{})) intervals.push_back({begin, end});
  hold(tree, std::move(intervals));
  try {
    validate(tree);
  } catch (const base::Error& error) {
    throw base::Error(base::Kind::usage, error.message());  // an argument, not a file
  }
  return tree;
}

void bind_octree(nb::module_& m) {
  nb::class_<mesh::Octree>(m, "Octree", "One part's refinement tree, breadth first: docs/format.md.")
      .def(
          "__init__",
          [](mesh::Octree* self, const std::vector<Bits>& refined, const std::optional<std::vector<Bits>>& owned,
             int dim, const Extents& roots, const Extents& block,
             const Held& held) { new (self) mesh::Octree(make_octree(refined, owned, dim, roots, block, held)); },
          nb::arg("refined"), nb::arg("owned") = nb::none(), nb::kw_only(), nb::arg("dim") = 3,
          nb::arg("roots") = nb::none(), nb::arg("block") = nb::none(), nb::arg("held") = nb::none(),
          "refined, owned: a bool array a level, coarsest first. Level 0 has the roots of `held`, x fastest: "
          "ascending\n"
          "half-open intervals of root numbers, (k * roots[1] + j) * roots[0] + i, that do not touch (nothing: all "
          "roots);\n"
          "the children of the k-th refined cell of a level are the 2**dim cells from k * 2**dim on of the next; none\n"
          "of the last level is refined. owned: this part answers for the cell (nothing: for all). roots and block\n"
          "have `dim` entries (nothing: 1).")
      .def_ro("dim", &mesh::Octree::dim)
      .def_prop_ro("roots", [](const mesh::Octree& t) { return of_axes(t.roots, t.dim); })
      .def_prop_ro("block", [](const mesh::Octree& t) { return of_axes(t.block, t.dim); })
      .def_prop_ro("held", &intervals_of, "Intervals [begin, end) of the numbers of the roots on level 0, ascending.")
      .def_prop_ro(
          "cells", [](const mesh::Octree& t) { return num_cells(t); }, "Tree cells of all levels.")
      .def_prop_ro(
          "refined", [](const mesh::Octree& t) { return levels_of(t.refined); },
          "Per level: bool array, whether a cell has children. Copies.")
      .def_prop_ro(
          "owned", [](const mesh::Octree& t) { return levels_of(t.owned); },
          "Per level: bool array, whether this part answers for the cell. Copies.");
}

using Corners = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

mesh::IndexBox make_box(const Corners& corners, int dim, const char* name) {
  return {along_axes<std::int64_t>(corners.first, dim, 0, name),
          along_axes<std::int64_t>(corners.second, dim, 1, name)};
}

mesh::Patches make_patches(const std::vector<Corners>& domain, const std::vector<std::vector<Corners>>& boxes,
                           const std::optional<std::vector<int>>& ratio, int dim) {
  mesh::Patches patches;
  patches.dim = dim;
  for (const Corners& level : domain) patches.domain.push_back(make_box(level, dim, "domain"));
  for (const auto& level : boxes) {
    patches.boxes.emplace_back();
    for (const Corners& box : level) patches.boxes.back().push_back(make_box(box, dim, "boxes"));
  }
  patches.ratio = ratio.value_or(std::vector<int>(domain.empty() ? 0 : domain.size() - 1, 2));
  try {
    validate(patches);
  } catch (const base::Error& error) {
    throw base::Error(base::Kind::usage, error.message());  // an argument, not a file
  }
  return patches;
}

/// Shape (boxes, 2, dim): lo and hi.
nb::object corners_of(const std::vector<mesh::IndexBox>& boxes, int dim) {
  std::vector<std::int64_t> flat;
  const auto axes = static_cast<std::size_t>(dim);
  for (const mesh::IndexBox& box : boxes) {
    flat.insert(flat.end(), box.lo.begin(), box.lo.begin() + dim);
    flat.insert(flat.end(), box.hi.begin(), box.hi.begin() + dim);
  }
  return to_array(std::move(flat), {boxes.size(), 2, axes});
}

void bind_patches(nb::module_& m) {
  using mesh::Patches;
  nb::class_<Patches>(m, "Patches", "One part's boxes of cells, level by level, as AMReX has them.")
      .def(
          "__init__",
          [](Patches* self, const std::vector<Corners>& domain, const std::vector<std::vector<Corners>>& boxes,
             const std::optional<std::vector<int>>& ratio,
             int dim) { new (self) Patches(make_patches(domain, boxes, ratio, dim)); },
          nb::arg("domain"), nb::arg("boxes"), nb::kw_only(), nb::arg("ratio") = nb::none(), nb::arg("dim") = 3,
          "domain: (lo, hi) a level, the extent of all its cells; boxes: a level's list of (lo, hi), of this part. "
          "Both\n"
          "half-open, in cells of the level, with `dim` entries. ratio: of each level to the next (nothing: 2).")
      .def_ro("dim", &Patches::dim)
      .def_ro("ratio", &Patches::ratio)
      .def_prop_ro(
          "domain", [](const Patches& p) { return corners_of(p.domain, p.dim); }, "Shape (levels, 2, dim). A copy.")
      .def_prop_ro(
          "boxes",
          [](const Patches& p) {
            nb::list out;
            for (const auto& level : p.boxes) out.append(corners_of(level, p.dim));
            return out;
          },
          "Per level: shape (boxes, 2, dim). Copies.");
}

mesh::Header make_header(const std::string& code, int dim, const Extents& roots, const Extents& block,
                         const std::optional<std::vector<double>>& lo, const std::optional<std::vector<double>>& hi,
                         const std::optional<std::vector<bool>>& periodic, int level_origin, int unfolded,
                         const std::array<double, 3>& units, std::map<std::string, mesh::Attribute> attributes) {
  mesh::Header header;
  header.code = code;
  header.dim = dim;
  header.roots = extents(roots, dim, "roots");
  header.block = extents(block, dim, "block");
  if (lo) header.lo = along_axes<double>(*lo, dim, 0, "lo");
  if (hi) header.hi = along_axes<double>(*hi, dim, 1, "hi");
  if (periodic) header.periodic = along_axes<bool>(*periodic, dim, false, "periodic");
  header.level_origin = level_origin;
  header.unfolded = unfolded;
  header.unit_length = units[0];
  header.unit_density = units[1];
  header.unit_time = units[2];
  header.attributes = std::move(attributes);
  return header;
}

void bind_header(nb::module_& m) {
  using mesh::Header;
  nb::class_<Header>(m, "Header", "What all parts of all steps have in common.")
      .def(
          "__init__",
          [](Header* self, const std::string& code, int dim, const Extents& roots, const Extents& block,
             const std::optional<std::vector<double>>& lo, const std::optional<std::vector<double>>& hi,
             const std::optional<std::vector<bool>>& periodic, int level_origin, double unit_length,
             double unit_density, double unit_time, std::map<std::string, mesh::Attribute> attributes, int unfolded) {
            new (self) Header(make_header(code, dim, roots, block, lo, hi, periodic, level_origin, unfolded,
                                          {unit_length, unit_density, unit_time}, std::move(attributes)));
          },
          nb::kw_only(), nb::arg("code") = "", nb::arg("dim") = 3, nb::arg("roots") = nb::none(),
          nb::arg("block") = nb::none(), nb::arg("lo") = nb::none(), nb::arg("hi") = nb::none(),
          nb::arg("periodic") = nb::none(), nb::arg("level_origin") = 0, nb::arg("unit_length") = 1.0,
          nb::arg("unit_density") = 1.0, nb::arg("unit_time") = 1.0,
          nb::arg("attributes") = std::map<std::string, mesh::Attribute>{}, nb::arg("unfolded") = 0,
          "code: the simulation code's name. roots: level-0 cells of the whole domain; block: values a tree cell, "
          "both\n"
          "with `dim` entries (nothing: 1). lo, hi: domain corners [code length] (nothing: 0 and 1). level_origin: "
          "the\n"
          "code's own number of level 0. unit_*: one code unit in cgs. unfolded: Patches have their level 0 that many "
          "levels\n"
          "below the roots, so that roots are its cells / (block << unfolded).")
      .def_ro("code", &Header::code)
      .def_ro("time", &Header::time)
      .def_ro("dim", &Header::dim)
      .def_ro("level_origin", &Header::level_origin)
      .def_ro("unfolded", &Header::unfolded)
      .def_prop_ro("roots", [](const Header& h) { return of_axes(h.roots, h.dim); })
      .def_prop_ro("block", [](const Header& h) { return of_axes(h.block, h.dim); })
      .def_prop_ro("lo", [](const Header& h) { return of_axes(h.lo, h.dim); })
      .def_prop_ro("hi", [](const Header& h) { return of_axes(h.hi, h.dim); })
      .def_prop_ro("periodic", [](const Header& h) { return of_axes(h.periodic, h.dim); })
      .def_ro("unit_length", &Header::unit_length)
      .def_ro("unit_density", &Header::unit_density)
      .def_ro("unit_time", &Header::unit_time)
      .def_prop_ro("fields", [](const Header& h) { return describe(h.fields); })
      .def_prop_ro("attributes", [](const Header& h) { return h.attributes; });
}

const mesh::Unstructured& triangles_of(const mesh::Part& part) {
  if (const auto* mesh = std::get_if<mesh::Unstructured>(&part.mesh)) return *mesh;
  throw base::Error(base::Kind::unsupported, "the part is no mesh of triangles")
      .at("part " + std::to_string(part.index));
}

const mesh::Solids& solids_of(const mesh::Part& part) {
  if (const auto* mesh = std::get_if<mesh::Solids>(&part.mesh)) return *mesh;
  throw base::Error(base::Kind::unsupported, "the part is no mesh of solids").at("part " + std::to_string(part.index));
}

/// The places of points of solids, or of a plane of triangles, along x or y.
nb::object places_of(nb::handle self, std::vector<double> mesh::Unstructured::*plane,
                     std::vector<double> mesh::Solids::*space) {
  const auto& part = nb::cast<const mesh::Part&>(self);
  const bool solids = std::holds_alternative<mesh::Solids>(part.mesh);
  return values_view(solids ? solids_of(part).*space : triangles_of(part).*plane, 1, self);
}

void bind_points(nb::class_<mesh::Part>& part) {
  part.def_prop_ro(
          "x", [](nb::handle self) { return places_of(self, &mesh::Unstructured::x, &mesh::Solids::x); },
          "Places of the points of solids, or of one plane of triangles [code length]; a view.")
      .def_prop_ro("y", [](nb::handle self) { return places_of(self, &mesh::Unstructured::y, &mesh::Solids::y); })
      .def_prop_ro(
          "z", [](nb::handle self) { return values_view(solids_of(nb::cast<const mesh::Part&>(self)).z, 1, self); },
          "Of solids; a view.")
      .def_prop_ro(
          "corners",
          [](nb::handle self) { return values_view(solids_of(nb::cast<const mesh::Part&>(self)).corners, 1, self); },
          "Of solids, one a cell: 4 tetrahedron, 5 pyramid, 6 prism, 8 hexahedron; a view.")
      .def_prop_ro(
          "connectivity",
          [](nb::handle self) {
            return values_view(solids_of(nb::cast<const mesh::Part&>(self)).connectivity, 1, self);
          },
          "Of solids: the cells' corners, one cell after another, in VTK's order; points from 0. A view.");
}

void bind_part(nb::module_& m) {
  nb::class_<mesh::Part> part(m, "Part",
                              "One contributor's mesh and values: what the store and the formats hand over.");
  bind_points(part);
  part.def_ro("index", &mesh::Part::index)
      .def_prop_ro(
          "fields", [](nb::handle self) { return fields_of(self); },
          "{name: array over all tree cells, breadth first}; views, not copies.")
      .def_prop_ro(
          "particles", [](nb::handle self) { return particles_of(self); },
          "{species: {attribute: array}}; views, not copies.")
      .def_prop_ro(
          "held", [](const mesh::Part& part) { return intervals_of(octree_of(part)); },
          "Intervals [begin, end) of the numbers of the roots on level 0, ascending.")
      .def_prop_ro(
          "refined", [](const mesh::Part& part) { return levels_of(octree_of(part).refined); },
          "Per level: bool array, whether a cell has children.")
      .def_prop_ro(
          "owned", [](const mesh::Part& part) { return levels_of(octree_of(part).owned); },
          "Per level: bool array, whether this part answers for the cell.")
      .def_prop_ro(
          "triangles",
          [](nb::handle self) {
            return values_view(triangles_of(nb::cast<const mesh::Part&>(self)).connectivity, 3, self);
          },
          "Shape (triangles, 3): points from 0; a view.")
      .def_prop_ro(
          "planes", [](const mesh::Part& part) { return triangles_of(part).planes; },
          "1: 2-D; more: values stand plane after plane, from the bottom.");
}

mesh::Part read_part(const mesh::Dataset& dataset, int part, std::optional<std::vector<std::string>> fields,
                     std::optional<int> max_level, bool particles) {
  if (part < 0 || part >= dataset.num_parts)
    throw base::Error(base::Kind::usage,
                      "no part " + std::to_string(part) + ": there are " + std::to_string(dataset.num_parts))
        .at(dataset.path);
  mesh::Request request;
  request.fields = std::move(fields);
  if (max_level) request.max_level = *max_level;
  request.particles = particles;
  nb::gil_scoped_release release;
  return dataset.read(part, request);
}

using Memory = nb::ndarray<nb::device::cpu>;

mesh::ScalarType type_of(const Memory& memory) {
  for (int t = 0; t <= static_cast<int>(mesh::ScalarType::bfloat16); ++t)
    if (memory.dtype() == dtype_of(static_cast<mesh::ScalarType>(t))) return static_cast<mesh::ScalarType>(t);
  throw base::Error(base::Kind::usage, "memory for a box: values of a type that no field has");
}

/// The axes are (z, y, x), without those that the data lack, and components if a field has several.
step::BoxMemory box_array(const Memory& memory, const mesh::IndexBox& box, const mesh::FieldInfo& info, int dim) {
  const auto axes = static_cast<std::size_t>(dim);
  std::vector<std::int64_t> expected, found;
  for (std::size_t axis = axes; axis-- > 0;) expected.push_back(box.hi[axis] - box.lo[axis]);
  if (info.components > 1) expected.push_back(info.components);
  for (std::size_t axis = 0; axis < memory.ndim(); ++axis)
    found.push_back(static_cast<std::int64_t>(memory.shape(axis)));
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::string out;
    for (const std::int64_t n : shape) out += (out.empty() ? "(" : ", ") + std::to_string(n);
    return out + ")";
  };
  if (expected != found)
    throw base::Error(base::Kind::usage,
                      "memory for a box: expected the shape " + text(expected) + ", found " + text(found));
  step::BoxMemory array{memory.data(), type_of(memory), {1, 1, 1}, info.components, 1};
  for (std::size_t axis = 0; axis < axes; ++axis) array.stride[axis] = memory.stride(axes - 1 - axis);
  if (info.components > 1) array.stride_component = memory.stride(axes);
  return array;
}

std::int64_t read_box(const mesh::Dataset& dataset, const std::string& field, int level,
                      const std::vector<std::int64_t>& lower, const std::vector<std::int64_t>& upper,
                      const Memory& out) {
  const int dim = dataset.header.dim;
  const mesh::IndexBox box{along_axes<std::int64_t>(lower, dim, 0, "lower"),
                           along_axes<std::int64_t>(upper, dim, 1, "upper")};
  const mesh::FieldInfo& info = dataset.header.fields[mesh::select_fields(dataset.header, std::vector{field}).at(0)];
  const step::BoxMemory array = box_array(out, box, info, dim);
  const nb::gil_scoped_release free;
  return step::read_box(dataset, field, level, box, array);
}

nb::dict read_points(const mesh::Dataset& dataset, const std::array<double, 2>& lo, const std::array<double, 2>& hi,
                     const std::vector<std::string>& fields) {
  step::PointsInBox found;
  {
    const nb::gil_scoped_release free;
    found = step::read_points(dataset, lo, hi, fields);
  }
  nb::dict out, values;
  const std::size_t points = found.point.size(), triangles = found.triangle.size();
  for (mesh::Field& field : found.fields)
    values[nb::cast(field.info.name)] = to_array(to_doubles(field), {static_cast<std::size_t>(found.planes), points});
  out["point"] = to_array(std::move(found.point), {points});
  out["x"] = to_array(std::move(found.x), {points});
  out["y"] = to_array(std::move(found.y), {points});
  out["triangle"] = to_array(std::move(found.triangle), {triangles});
  out["corners"] = to_array(std::move(found.connectivity), {triangles, 3});
  out["fields"] = values;
  return out;
}

nb::list describe_derived(const mesh::Dataset& dataset) {
  nb::list rows;
  for (const step::DerivedField& field : step::derived_fields(dataset)) {
    nb::dict row;
    row["name"] = field.name;
    row["formula"] = field.formula;
    row["unit"] = field.unit;
    row["define"] = field.define;
    rows.append(row);
  }
  return rows;
}

using SizeAndPowers = std::pair<double, mesh::Powers>;

void bind_units(nb::module_& m, nb::class_<mesh::Dataset>& dataset) {
  using mesh::Dataset;
  m.def(
      "unit_table",
      [] {
        std::map<std::string, SizeAndPowers> table;
        for (const mesh::KnownUnit& unit : mesh::unit_table())
          table.emplace(unit.name, SizeAndPowers{unit.size, unit.powers});
        return table;
      },
      "Size in cgs (0: a code unit) and powers of length, mass, time and temperature, by name.");
  m.def(
      "check_formula", [](const std::string& text) { mesh::parse_formula(text); }, nb::arg("text"),
      "Reads a formula, and does no more.");
  dataset
      .def(
          "unit",
          [](const Dataset& d, const std::string& text) {
            const mesh::UnitWords unit = mesh::parse_unit(text);
            return SizeAndPowers{mesh::size_in_cgs(unit, formats::code_units(d)), mesh::powers_of(unit)};
          },
          nb::arg("text"), "A unit's size in cgs (NaN where the step does not say it) and its powers.")
      .def(
          "unit_factor",
          [](const Dataset& d, const std::string& have, const std::string& want, const std::string& what) {
            return mesh::unit_factor(have, want, formats::code_units(d), d.path, what);
          },
          nb::arg("have"), nb::arg("want"), nb::arg("what"), "By what a number in one unit is multiplied for another.")
      .def_prop_ro(
          "derived", [](const Dataset& d) { return describe_derived(d); },
          "Fields of the library that this step can have, and a constant that is to be defined first.")
      .def_prop_ro(
          "cells_are_boxes", [](const Dataset& d) { return mesh::cell_shape(d.header) == mesh::CellShape::box; },
          "Whether a cell's volume is the product of its edges.");
}

void bind_levels(nb::class_<mesh::Dataset>& dataset) {
  using mesh::Dataset;
  dataset
      .def_prop_ro(
          "levels", [](const Dataset& d) { return describe_levels(d); },
          "Owned cells and leaves by level, and blocks (None where a code has none).")
      .def_prop_ro(
          "solids", [](const Dataset& d) { return mesh::count_solids(d.header); },
          "How many tetrahedra, pyramids, prisms and hexahedra there are; empty: no mesh of solids.")
      .def_prop_ro(
          "cell_sizes",
          [](const Dataset& d) {
            nb::list sizes;
            for (const mesh::LevelCount& count : d.levels)
              sizes.append(of_axes(mesh::cell_size(d.header, mesh::level_index(d.header, count.level)), d.header.dim));
            return sizes;
          },
          "Edges of a cell of each of `levels` along the axes [code length].");
}

void bind_dataset(nb::module_& m) {
  using mesh::Dataset;
  nb::class_<Dataset> dataset(m, "Dataset", "One step of any format, opened: headers are read, values are not.");
  bind_levels(dataset);
  bind_units(m, dataset);
  dataset.def_ro("format", &Dataset::format)
      .def_ro("path", &Dataset::path)
      .def_ro("num_parts", &Dataset::num_parts)
      .def_ro("unstructured", &Dataset::unstructured)
      .def_ro("bytes", &Dataset::bytes)
      .def_ro("notes", &Dataset::notes)
      .def_prop_ro("code", [](const Dataset& d) { return d.header.code; })
      .def_prop_ro("time", [](const Dataset& d) { return d.header.time; })
      .def_prop_ro("dim", [](const Dataset& d) { return d.header.dim; })
      .def_prop_ro(
          "level_origin", [](const Dataset& d) { return mesh::code_level(d.header, 0); },
          "The code's own number of the coarsest tree level.")
      .def_prop_ro(
          "roots",
          [](const Dataset& d) { return std::vector<std::int64_t>(d.header.roots.begin(), d.header.roots.end()); })
      .def_prop_ro(
          "lo",
          [](const Dataset& d) { return std::vector<double>(d.header.lo.begin(), d.header.lo.begin() + d.header.dim); })
      .def_prop_ro(
          "hi",
          [](const Dataset& d) { return std::vector<double>(d.header.hi.begin(), d.header.hi.begin() + d.header.dim); })
      .def_prop_ro("periodic",
                   [](const Dataset& d) {
                     return std::vector<bool>(d.header.periodic.begin(), d.header.periodic.begin() + d.header.dim);
                   })
      .def_prop_ro(
          "units",
          [](const Dataset& d) {
            return std::map<std::string, double>{
                {"length", d.header.unit_length}, {"density", d.header.unit_density}, {"time", d.header.unit_time}};
          },
          "One code unit in cgs.")
      .def_prop_ro(
          "block", [](const Dataset& d) { return of_axes(d.header.block, d.header.dim); },
          "Cells of a block along each axis; 1 where a code has no blocks.")
      .def_prop_ro("fields", [](const Dataset& d) { return describe(d.header.fields); })
      .def_prop_ro("species", [](const Dataset& d) { return describe(d.species); })
      .def_prop_ro("attributes", [](const Dataset& d) { return d.header.attributes; })
      .def(
          "part_bytes", [](const Dataset& d, int part) { return d.part_bytes(part); }, nb::arg("part"))
      .def(
          "parts_of",
          [](const Dataset& d, const std::optional<std::string>& text, std::optional<int> max_level) {
            std::optional<mesh::Region> region;
            if (text) region = mesh::parse_region(*text, d.header.dim, mesh::domain_of(d.header).extent);
            return verbs::parts_of_selection(d, region, max_level);
          },
          nb::arg("region").none(), nb::arg("max_level").none())
      .def("read", read_part, nb::arg("part"), nb::arg("fields") = nb::none(), nb::arg("max_level") = nb::none(),
           nb::arg("particles") = false, "Reads one part, pruned. Releases the GIL.")
      .def("read_box", read_box, nb::arg("field"), nb::arg("level"), nb::arg("lower"), nb::arg("upper"), nb::arg("out"),
           "Returns the number of cells without a value. Releases the GIL.")
      .def("read_points", read_points, nb::arg("lo"), nb::arg("hi"), nb::arg("fields"), "Releases the GIL.");
}

}  // namespace

void bind_mesh(nb::module_& m) {
  bind_octree(m);
  bind_patches(m);
  bind_header(m);
  bind_part(m);
  bind_dataset(m);
}

}  // namespace octavo::bindings
