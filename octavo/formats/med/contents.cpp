#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/contents.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/serafin/layout.hpp"

namespace octavo::formats::med {
namespace {

using base::Error;
using base::Kind;

void read_parameter(const MedFile& file, int i, MedContents& to) {
  Name name{};
  Comment description{};
  ShortName unit{};
  med_parameter_type type{};
  med_int steps = 0;
  file.require(
      library().MEDparameterInfo(file.id(), i, name.data(), &type, description.data(), unit.data(), &steps) >= 0,
      "parameter " + std::to_string(i));
  const bool is_real = type == MED_FLOAT64, is_long = type == MED_INT64;
  double real = 0;
  std::int64_t long_integer = 0;
  std::int32_t short_integer = 0;  // of MED_INT, and of MED_INT32, which TELEMAC writes
  static_assert(sizeof(med_int) == sizeof short_integer);
  auto* out = is_real   ? reinterpret_cast<unsigned char*>(&real)
              : is_long ? reinterpret_cast<unsigned char*>(&long_integer)
                        : reinterpret_cast<unsigned char*>(&short_integer);
  if (library().MEDparameterValueRd(file.id(), name.data(), MED_NO_DT, MED_NO_IT, out) < 0) return;
  const std::int64_t integer = is_long ? long_integer : short_integer;
  if (is_real)
    to.parameters[text_of(name)] = real;
  else if (text_of(name).starts_with(variable_parameter))
    to.places.emplace(text_of(description), integer);
  else
    to.parameters[text_of(name)] = integer;
}

std::optional<std::int64_t> integer(const MedContents& of, const std::string& name) {
  const auto found = of.parameters.find(name);
  const auto* value = found == of.parameters.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// name_1, name_2 ... become one list.
void gather(MedContents& to, const std::string& name, std::size_t count) {
  std::vector<std::int64_t> values;
  for (std::size_t k = 1; k <= count; ++k) {
    const auto value = integer(to, name + "_" + std::to_string(k));
    if (!value) return;
    values.push_back(*value);
  }
  for (std::size_t k = 1; k <= count; ++k) to.parameters.erase(name + "_" + std::to_string(k));
  to.parameters[name] = values;
}

/// TELEMAC's DATE is year * 10000 + month * 100 + day, its TIME the same of the hour; zeros say that there is none,
/// unless IPARAM says that there is one.
void gather_date(MedContents& to) {
  gather(to, "date", 6);
  const auto day = integer(to, "DATE"), hour = integer(to, "TIME");
  if (!day || !hour || to.parameters.contains("date")) return;
  to.parameters.erase("DATE");
  to.parameters.erase("TIME");
  bool is_there = *day != 0 || *hour != 0;
  if (const auto found = to.parameters.find("iparam"); found != to.parameters.end())
    is_there = std::get<std::vector<std::int64_t>>(found->second)[9] != 0;
  if (!is_there) return;
  std::vector<std::int64_t> date;
  for (const std::int64_t packed : {*day, *hour})
    for (const std::int64_t one : {packed / 10000, packed / 100 % 100, packed % 100}) date.push_back(one);
  to.parameters["date"] = date;
}

void read_parameters(const MedFile& file, MedContents& to) {
  const med_int count = library().MEDnParameter(file.id());
  file.require_room(count, "parameters");
  for (int i = 1; i <= count; ++i) read_parameter(file, i, to);
  gather(to, "iparam", 10);
  gather_date(to);
  if (const auto little = integer(to, "little_endian")) {
    to.parameters.erase("little_endian");
    to.parameters["byte_order"] = std::string(*little != 0 ? "little" : "big");
  }
}

Name read_mesh_name(const MedFile& file, int i, MeshEntry* to = nullptr) {
  const med_int axes = library().MEDmeshnAxis(file.id(), i);
  file.require(axes >= 1 && axes <= 3, "the mesh's axes");
  std::vector<char> axis_names(static_cast<std::size_t>(axes) * MED_SNAME_SIZE + 1), axis_units(axis_names.size());
  med_int space = 0, dim = 0, steps = 0;
  med_mesh_type type{};
  Name name{};
  Comment description{};
  ShortName unit{};
  med_sorting_type sorting{};
  med_axis_type axis_type{};
  file.require(library().MEDmeshInfo(file.id(), i, name.data(), &space, &dim, &type, description.data(), unit.data(),
                                     &sorting, &steps, &axis_type, axis_names.data(), axis_units.data()) >= 0,
               "the mesh");
  if (to != nullptr) {
    to->title = text_of(description);
    to->axes = static_cast<int>(axes);
    to->unit = text_of(axis_units.data(), MED_SNAME_SIZE);
    to->unit.resize(to->unit.find_last_not_of('_') + 1);  // which TELEMAC pads with
  }
  return name;
}

std::vector<std::string> mesh_names(const MedFile& file) {
  std::vector<std::string> names;
  const med_int count = library().MEDnMesh(file.id());
  for (int i = 1; i <= count; ++i) names.push_back(text_of(read_mesh_name(file, i)));
  if (names.empty()) throw Error(Kind::corrupt, "the file has no mesh").at(file.path().string());
  return names;
}

void read_mesh_entry(const MedFile& file, const std::string& wanted, MedContents& to) {
  to.meshes = mesh_names(file);
  const auto found = wanted.empty() ? to.meshes.begin() : std::find(to.meshes.begin(), to.meshes.end(), wanted);
  if (found == to.meshes.end())
    throw Error(Kind::usage, "no mesh " + wanted).at(to.path.string()).hint("the first is " + to.meshes[0]);
  to.mesh.name = read_mesh_name(file, static_cast<int>(found - to.meshes.begin()) + 1, &to.mesh);
  file.require(to.mesh.axes >= 2, "a mesh along one axis");
  to.mesh.points = entities(file.id(), to.mesh.name, MED_NODE, MED_NONE, MED_COORDINATE);
  file.require(to.mesh.points > 0, "the mesh's points");
  file.require_room(to.mesh.points, "points");
  to.has_numbers = entities(file.id(), to.mesh.name, MED_NODE, MED_NONE, MED_GLOBAL_NUMBER) == to.mesh.points;
  Comment comment{};
  if (library().MEDfileCommentRd(file.id(), comment.data()) >= 0) to.comment = comment.data();
}

/// TELEMAC calls the pieces of a file MESH1, MESH2 ... and writes NPTIR1, NPTIR2 ...; a single one has NPTIR.
bool is_piece(const MedContents& contents) {
  const std::string name = text_of(contents.mesh.name);
  const std::string suffix = name.substr(std::min(name.size(), std::size_t{4}));
  return contents.has_numbers && name.starts_with("MESH") && integer(contents, "NPTIR" + suffix).has_value();
}

std::int64_t count_of(const MedFile& file, const MeshEntry& mesh, med_geometry_type shape) {
  const std::int64_t count =
      std::max<std::int64_t>(0, entities(file.id(), mesh.name, MED_CELL, shape, MED_CONNECTIVITY));
  file.require_room(count, "cells");
  return count;
}

/// Solids, if there are any. Cells of surfaces beside them are left out, with a note.
void read_solids(const MedFile& file, MedContents& to) {
  MeshEntry& mesh = to.mesh;
  for (const auto& [shape, corners] : solid_shapes)
    if (const std::int64_t count = count_of(file, mesh, shape); count > 0) {
      mesh.solids.push_back({shape, corners, count});
      mesh.elements += count;
    }
  for (const med_geometry_type shape :
       {MED_TETRA10, MED_PYRA13, MED_PENTA15, MED_PENTA18, MED_HEXA20, MED_HEXA27, MED_OCTA12, MED_POLYHEDRON})
    if (count_of(file, mesh, shape) > 0)
      throw Error(Kind::unsupported,
                  "cells of MED's type " + std::to_string(shape) +
                      ": expected tetrahedra (304), pyramids (305), prisms (306) and hexahedra (308)")
          .at(to.path.string());
  if (mesh.solids.empty()) return;
  if (mesh.axes != 3)
    throw Error(Kind::corrupt, "solids with " + std::to_string(mesh.axes) + " coordinates a point")
        .at(to.path.string());
  std::int64_t others = 0;
  for (const med_geometry_type shape : {MED_TRIA3, MED_QUAD4, MED_TRIA6, MED_QUAD8})
    others += count_of(file, mesh, shape);
  if (others > 0)
    to.notes.push_back(std::to_string(others) +
                       " sides beside solids: those in groups go along to MED and Gmsh, others are left out");
  to.has_numbers = false;  // they mean TELEMAC's boundary
}

void read_shape(const MedFile& file, MedContents& to) {
  MeshEntry& mesh = to.mesh;
  mesh.planes = static_cast<int>(std::clamp<std::int64_t>(integer(to, "NPLAN").value_or(1), 1, 1 << 30));
  if (mesh.planes == 1) read_solids(file, to);
  if (!mesh.solids.empty()) return;
  mesh.shape = mesh.planes > 1 ? MED_PENTA6 : MED_TRIA3;
  mesh.elements = entities(file.id(), mesh.name, MED_CELL, mesh.shape, MED_CONNECTIVITY);
  file.require_room(mesh.elements, "elements");
  if (mesh.planes == 1) mesh.quadrangles = entities(file.id(), mesh.name, MED_CELL, MED_QUAD4, MED_CONNECTIVITY);
  file.require_room(mesh.quadrangles, "quadrangles");
  const bool whole = mesh.points % mesh.planes == 0 && (mesh.planes == 1 || mesh.elements % (mesh.planes - 1) == 0);
  if (mesh.elements < 0 || mesh.quadrangles < 0 || mesh.elements + mesh.quadrangles == 0 || !whole)
    throw Error(Kind::unsupported,
                "a mesh of " + std::to_string(mesh.points) + " points with " + std::to_string(mesh.elements) +
                    (mesh.planes > 1 ? " prisms on " : " triangles on ") + std::to_string(mesh.planes) +
                    " planes: expected triangles and quadrangles, prisms and NPLAN, or solids")
        .at(to.path.string());
}

void add_steps(const MedFile& file, const Name& field, med_int count, std::vector<StepEntry>& steps) {
  file.require_room(count, "steps");
  for (int i = 1; i <= count; ++i) {
    StepEntry step;
    file.require(
        library().MEDfieldComputingStepInfo(file.id(), field.data(), i, &step.number, &step.iteration, &step.time) >= 0,
        "a field's steps");
    steps.push_back(step);
  }
}

void sort_steps(std::vector<StepEntry>& steps) {
  const auto key = [](const StepEntry& step) { return std::pair(step.number, step.iteration); };
  std::stable_sort(steps.begin(), steps.end(), [&](const StepEntry& a, const StepEntry& b) { return key(a) < key(b); });
  const auto same = [&](const StepEntry& a, const StepEntry& b) { return key(a) == key(b); };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
}

/// libmedC lists fields by name. We restore the order of variables.
void sort_fields(MedContents& to) {
  const auto place = [&](const MedField& field) {
    const auto found = to.places.find(field.info.name);
    return found == to.places.end() ? std::numeric_limits<std::int64_t>::max() : found->second;
  };
  std::stable_sort(to.fields.begin(), to.fields.end(),
                   [&](const MedField& a, const MedField& b) { return place(a) < place(b); });
}

/// The name of a variable. The component has SERAFIN's name if the field's own name had to differ (no slash, "#3"
/// behind the second of a name, the mesh behind those of pieces).
std::string variable_name(std::string field, const std::string& component, const std::string& mesh) {
  std::string plain = component;
  std::replace(plain.begin(), plain.end(), '/', '_');
  if (plain.empty() || !field.starts_with(plain)) return field;
  std::string rest = field.substr(plain.size());
  if (rest.ends_with(" " + mesh)) rest.resize(rest.size() - mesh.size() - 1);
  return rest.empty() || rest.starts_with('#') ? component + rest : field;
}

void read_field_entry(const MedFile& file, int i, MedContents& to) {
  const med_int components = library().MEDfieldnComponent(file.id(), i);
  file.require(components >= 1 && components < 1000, "field " + std::to_string(i));
  std::vector<char> names(static_cast<std::size_t>(components) * MED_SNAME_SIZE + 1), units(names.size());
  Name name{}, mesh{};
  ShortName time_unit{};
  med_bool local = MED_FALSE;
  med_field_type type{};
  med_int steps = 0;
  file.require(library().MEDfieldInfo(file.id(), i, name.data(), mesh.data(), &local, &type, names.data(), units.data(),
                                      time_unit.data(), &steps) >= 0,
               "field " + std::to_string(i));
  const std::string own = text_of(to.mesh.name);
  if (text_of(mesh) != own) return;
  const auto leave_out = [&](const std::string& why) {
    to.notes.push_back("field " + text_of(name) + " is left out: " + why);
  };
  if (type != MED_FLOAT64 && type != MED_FLOAT32) return leave_out("its values are no reals");
  std::vector<StepEntry> own_steps;
  add_steps(file, name, steps, own_steps);
  mesh::Centring centring = mesh::Centring::node;
  if (!own_steps.empty()) {
    const auto values = [&](med_entity_type entity, med_geometry_type shape) {
      return std::int64_t{
          library().MEDfieldnValue(file.id(), name.data(), own_steps[0].number, own_steps[0].iteration, entity, shape)};
    };
    const std::int64_t at_points = values(MED_NODE, MED_NONE);
    std::int64_t in_cells = 0;
    for (const CellsOfShape& some : to.cells()) in_cells += std::max<std::int64_t>(0, values(MED_CELL, some.shape));
    if (at_points <= 0 && to.mesh.planes == 1 && in_cells == to.mesh.elements + to.mesh.quadrangles)
      centring = mesh::Centring::cell;
    else if (at_points <= 0)
      return leave_out("it has no value at each point or in each cell");
    else if (at_points < to.mesh.points)
      return leave_out("it has values at some points only");
  }
  to.steps.insert(to.steps.end(), own_steps.begin(), own_steps.end());
  for (int c = 1; c <= components; ++c) {
    const std::size_t at = static_cast<std::size_t>(c - 1) * MED_SNAME_SIZE;
    MedField entry{name, {}, c, components, {}};
    for (const StepEntry& step : own_steps) entry.steps.emplace_back(step.number, step.iteration);
    entry.info.name = components > 1 ? text_of(name) + "[" + std::to_string(c - 1) + "]"
                                     : variable_name(text_of(name), text_of(&names[at], MED_SNAME_SIZE), own);
    entry.info.unit = text_of(&units[at], MED_SNAME_SIZE);
    entry.info.type = type == MED_FLOAT64 ? mesh::ScalarType::float64 : mesh::ScalarType::float32;
    entry.info.centring = centring;
    (own_steps.empty() ? to.waiting : to.fields).push_back(entry);
  }
}

}  // namespace

std::string MedContents::title() const { return serafin::text_of(std::string_view(comment).substr(0, 72)); }

std::vector<CellsOfShape> MedContents::cells() const {
  if (!mesh.solids.empty()) return mesh.solids;
  return {{MED_TRIA3, 3, mesh.elements}, {MED_QUAD4, 4, mesh.quadrangles}};
}

bool MedContents::has_cells() const {
  if (!mesh.solids.empty()) return false;
  return mesh.quadrangles > 0 || std::any_of(fields.begin(), fields.end(), [](const MedField& field) {
           return field.info.centring == mesh::Centring::cell;
         });
}

std::string MedContents::tag() const {
  return comment.size() > 72 ? serafin::text_of(std::string_view(comment).substr(72, 8)) : std::string();
}

MedContents contents_of(const std::filesystem::path& path, const std::string& mesh) {
  // libmedC would open other files that a file names.
  if (file::hdf5::available()) file::hdf5::require_self_contained(path);
  const std::lock_guard held(lock());
  const MedFile file(path);
  MedContents out;
  out.path = path;
  read_mesh_entry(file, mesh, out);
  read_parameters(file, out);
  out.is_piece = is_piece(out);
  read_shape(file, out);
  const med_int fields = library().MEDnField(file.id());
  for (int i = 1; i <= fields; ++i) read_field_entry(file, i, out);
  if (out.fields.empty()) out.fields = std::exchange(out.waiting, {});
  sort_fields(out);
  sort_steps(out.steps);
  return out;
}

std::vector<std::string> mesh_names_of(const std::filesystem::path& path) {
  const std::lock_guard held(lock());
  return mesh_names(MedFile(path));
}

}  // namespace octavo::formats::med
#endif
