#include "octavo/formats/med/write.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/layout.hpp"
#ifdef OCTAVO_HAVE_MED
#include <sys/stat.h>

#include "octavo/file/full_disk.hpp"
#include "octavo/formats/med/opened.hpp"
#include "octavo/mesh/solids/orientation.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#endif

namespace octavo::formats::med {

using base::Error;
using base::Kind;

bool packs(std::span<const std::int64_t> date) noexcept {
  const auto below_hundred = [](std::int64_t value) { return value >= 0 && value < 100; };
  constexpr std::int64_t most = 200000;  // times 10000 still fits 32 bits
  return date.size() == 6 && date[0] >= 0 && date[0] < most && below_hundred(date[1]) && below_hundred(date[2]) &&
         date[3] >= 0 && date[3] < most && below_hundred(date[4]) && below_hundred(date[5]);
}

std::int32_t pack(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  return static_cast<std::int32_t>(a * 10000 + b * 100 + c);
}

#ifdef OCTAVO_HAVE_MED

struct MedWriter::Open {
  std::filesystem::path path;
  med_idt id = -1;
  bool single_precision = false;
  std::string length;

  void require(bool good, const std::string& what) const {
    if (!good) throw Error(Kind::unreadable, "libmedC cannot write " + what).at(path.string());
  }
  void require_room(std::size_t bytes, const std::string& what) const;
  /// `places`: all x, then all y ... `numbers`: so many more integers will follow.
  void make_mesh(const std::string& name, const char* description, std::size_t axes, std::span<const double> places,
                 std::size_t numbers) const;
  void put_cells(const std::string& mesh, med_geometry_type shape, med_switch_mode order, std::size_t corners,
                 std::span<const med_int> cells) const;
  void put_values(const std::string& field, std::int32_t step, double time, med_entity_type entity,
                  med_geometry_type shape, std::span<const double> values) const;
  bool close();
};

namespace {

/// The descriptor of a file of HDF5's default driver; -1 if it gives none.
int descriptor_of(med_idt id) {
  void* descriptor = nullptr;
  return library().H5Fget_vfd_handle(id, H5P_DEFAULT, &descriptor) < 0 ? -1 : *static_cast<const int*>(descriptor);
}

}  // namespace

// libmedC reports a failure on stderr, in French, without its reason, so we look for the reasons before. HDF5 keeps its
// metadata in memory until the end.
void MedWriter::Open::require_room(std::size_t bytes, const std::string& what) const {
  constexpr std::uint64_t description = 64 << 10;  // of groups, data sets and attributes that one call makes
  const int descriptor = descriptor_of(id);
  struct stat written {};
  hsize_t placed = 0;
  if (descriptor < 0 || ::fstat(descriptor, &written) != 0 || library().H5Fget_filesize(id, &placed) < 0) return;
  const auto on_disk = static_cast<std::uint64_t>(written.st_blocks) * 512;
  const std::uint64_t needed = bytes + description + (placed > on_disk ? placed - on_disk : 0);
  const std::uint64_t free = file::free_space(descriptor);
  if (needed > free)
    throw Error(Kind::no_space, "no space left on the disk for " + what + ": " + std::to_string(needed) +
                                    " bytes are needed, " + std::to_string(free) + " are free")
        .at(path.string());
}

// HDF5 closes a file that it could not write once more at the end of the program, which then crashes.
bool MedWriter::Open::close() {
  const med_idt file = std::exchange(id, -1);
  const bool good = library().H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
  if (const int descriptor = descriptor_of(file); !good && descriptor >= 0) file::detach(descriptor);
  return library().MEDfileClose(file) >= 0 && good;
}

namespace {

constexpr const char* seconds = "S";

/// Texts of MED_SNAME_SIZE characters each, one after another, padded with blanks.
std::string columns(std::initializer_list<std::string> texts) {
  std::string out;
  for (std::string text : texts) {
    text.resize(MED_SNAME_SIZE, ' ');
    out += text;
  }
  return out;
}

/// All first points, then all second ...: prisms between planes, or triangles.
std::vector<med_int> connectivity_of(const mesh::Unstructured& mesh) {
  const std::size_t triangles = mesh.connectivity.size() / 3;
  const auto layers = static_cast<std::size_t>(std::max(1, mesh.planes - 1));
  const auto points = static_cast<std::int64_t>(mesh.x.size());
  const std::size_t corners = mesh.planes > 1 ? 6 : 3;
  std::vector<med_int> out(corners * triangles * layers);
  for (std::size_t corner = 0; corner < corners; ++corner)
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (std::size_t t = 0; t < triangles; ++t)
        out[(corner * layers + layer) * triangles + t] = static_cast<med_int>(
            mesh.connectivity[3 * t + corner % 3] + static_cast<std::int64_t>(layer + corner / 3) * points + 1);
  return out;
}

std::vector<double> coordinates_of(const mesh::Unstructured& mesh, std::span<const double> z) {
  std::vector<double> out;
  for (const auto* axis : {&mesh.x, &mesh.y})
    for (int plane = 0; plane < mesh.planes; ++plane) out.insert(out.end(), axis->begin(), axis->end());
  if (mesh.planes > 1) out.insert(out.end(), z.begin(), z.end());
  return out;
}

/// Points as MED counts them.
std::vector<med_int> from_one(std::span<const std::int32_t> points) {
  std::vector<med_int> out;
  for (const std::int32_t point : points) out.push_back(point + 1);
  return out;
}

/// Names of groups have MED_LNAME_SIZE characters each, one after another.
std::string group_names(const GroupFamily& family) {
  std::string out;
  for (const std::string& group : family.groups) {
    std::string text = serafin::latin1_of(group);
    text.resize(MED_LNAME_SIZE, ' ');
    out += text;
  }
  return out;
}

}  // namespace

MedWriter::MedWriter(const std::filesystem::path& path, const Options& options) {
  const std::lock_guard held(lock());
  const med_idt id = options.single_precision ? library().MEDfileOpen(path.c_str(), MED_ACC_CREAT)
                                              : library().MEDfileVersionOpen(path.c_str(), MED_ACC_CREAT, 3, 3, 1);
  open_ = std::make_unique<Open>(Open{path, id, options.single_precision, options.length});
  open_->require(id >= 0, "a new file");
  if (!options.title.empty()) {
    const auto comment = characters_of<MED_COMMENT_SIZE + 1>(options.title);
    open_->require(library().MEDfileCommentWr(id, comment.data()) >= 0, "the title");
  }
}

MedWriter::~MedWriter() {
  if (!open_ || open_->id < 0) return;
  const std::lock_guard held(lock());
  open_->close();
}

void MedWriter::close() {
  const std::lock_guard held(lock());
  open_->require_room(0, "the end of the file");
  open_->require(open_->close(), "the end of the file");
}

void MedWriter::Open::make_mesh(const std::string& given, const char* description, std::size_t axes,
                                std::span<const double> places, std::size_t numbers) const {
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  const std::string names = axes == 3 ? columns({"X", "Y", "Z"}) : columns({"X", "Y"});
  const std::string units = axes == 3 ? columns({length, length, length}) : columns({length, length});
  const auto dim = static_cast<med_int>(axes);
  require_room(places.size_bytes() + numbers * sizeof(med_int), "mesh " + given);
  require(library().MEDmeshCr(id, name.data(), dim, dim, MED_UNSTRUCTURED_MESH, description, seconds, MED_SORT_DTIT,
                              MED_CARTESIAN, names.c_str(), units.c_str()) >= 0,
          "mesh " + given);
  require(library().MEDmeshNodeCoordinateWr(id, name.data(), MED_NO_DT, MED_NO_IT, 0.0, MED_NO_INTERLACE,
                                            static_cast<med_int>(places.size() / axes), places.data()) >= 0,
          "coordinates of " + given);
}

void MedWriter::Open::put_cells(const std::string& given, med_geometry_type shape, med_switch_mode order,
                                std::size_t corners, std::span<const med_int> cells) const {
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  require(
      library().MEDmeshElementConnectivityWr(id, name.data(), MED_NO_DT, MED_NO_IT, 0.0, MED_CELL, shape, MED_NODAL,
                                             order, static_cast<med_int>(cells.size() / corners), cells.data()) >= 0,
      "connectivity of " + given);
}

void MedWriter::add_mesh(const std::string& given, const mesh::Unstructured& mesh, std::span<const double> z,
                         std::span<const std::int32_t> numbers) {
  const std::lock_guard held(lock());
  const bool solid = mesh.planes > 1;
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  const std::vector<double> places = coordinates_of(mesh, z);
  const std::vector<med_int> cells = connectivity_of(mesh);
  open_->make_mesh(given, "TELEMAC GENERATED MESH", solid ? 3 : 2, places, cells.size() + numbers.size());
  open_->put_cells(given, solid ? MED_PENTA6 : MED_TRIA3, MED_NO_INTERLACE, solid ? 6 : 3, cells);
  const auto points = static_cast<med_int>(mesh.x.size() * static_cast<std::size_t>(mesh.planes));
  if (!numbers.empty())
    open_->require(
        library().MEDmeshGlobalNumberWr(open_->id, name.data(), MED_NO_DT, MED_NO_IT, MED_NODE, MED_NONE, points,
                                        std::vector<med_int>(numbers.begin(), numbers.end()).data()) >= 0,
        "numbers of points of " + given);
  open_->require(library().MEDfamilyCr(open_->id, name.data(), "FAMILY_ZERO", 0, 0, "") >= 0, "family 0 of " + given);
}

void MedWriter::add_mesh(const std::string& given, const mesh::Solids& mesh) {
  const std::lock_guard held(lock());
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  std::vector<double> places;
  for (const auto* axis : {&mesh.x, &mesh.y, &mesh.z}) places.insert(places.end(), axis->begin(), axis->end());
  open_->make_mesh(given, "", 3, places, mesh.connectivity.size());
  const std::vector<std::int64_t> first = mesh::first_corners(mesh);
  for (const auto& [shape, corners] : solid_shapes) {
    std::vector<med_int> cells;
    for (std::size_t c = 0; c < mesh.corners.size(); ++c)
      if (mesh.corners[c] == corners)
        for (const std::uint8_t k : mesh::turned_round(corners))
          cells.push_back(static_cast<med_int>(mesh.connectivity[static_cast<std::size_t>(first[c]) + k] + 1));
    if (!cells.empty()) open_->put_cells(given, shape, MED_FULL_INTERLACE, static_cast<std::size_t>(corners), cells);
  }
  open_->require(library().MEDfamilyCr(open_->id, name.data(), "FAMILY_ZERO", 0, 0, "") >= 0, "family 0 of " + given);
}

void MedWriter::add_groups(const std::string& given, const MeshGroups& groups) {
  const std::lock_guard held(lock());
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  const std::size_t all_numbers = groups.edges.size() + groups.of_edge.size() + groups.of_triangle.size() +
                                  groups.of_point.size() + groups.sides.size() + groups.of_side.size();
  open_->require_room(all_numbers * sizeof(med_int) + groups.families.size() * 8192, "groups of " + given);
  for (const GroupFamily& family : groups.families) {
    const auto family_name = characters_of<MED_NAME_SIZE + 1>(serafin::latin1_of(family.name));
    open_->require(library().MEDfamilyCr(open_->id, name.data(), family_name.data(), family.number,
                                         static_cast<med_int>(family.groups.size()), group_names(family).c_str()) >= 0,
                   "family " + family.name);
  }
  if (!groups.edges.empty()) open_->put_cells(given, MED_SEG2, MED_FULL_INTERLACE, 2, from_one(groups.edges));
  const auto put = [&](const std::vector<std::int32_t>& numbers, med_entity_type entity, med_geometry_type shape) {
    if (numbers.empty()) return;
    const std::vector<med_int> all(numbers.begin(), numbers.end());
    open_->require(library().MEDmeshEntityFamilyNumberWr(open_->id, name.data(), MED_NO_DT, MED_NO_IT, entity, shape,
                                                         static_cast<med_int>(all.size()), all.data()) >= 0,
                   "families of " + given);
  };
  put(groups.of_edge, MED_CELL, MED_SEG2);
  // Those of cells stand shape by shape, as the mesh's cells do.
  std::span<const std::int32_t> cells = groups.of_triangle;
  for (const med_geometry_type shape : {MED_TRIA3, MED_TETRA4, MED_PYRA5, MED_PENTA6, MED_HEXA8}) {
    const std::int64_t there = std::max<std::int64_t>(0, entities(open_->id, name, MED_CELL, shape, MED_CONNECTIVITY));
    const auto count = std::min(cells.size(), static_cast<std::size_t>(there));
    put({cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(count)}, MED_CELL, shape);
    cells = cells.subspan(count);
  }
  put(groups.of_point, MED_NODE, MED_NONE);
  for (const bool triangles : {true, false}) {
    std::vector<std::int32_t> points, families;
    for (std::size_t s = 0; s < groups.of_side.size(); ++s) {
      const auto first = groups.sides.begin() + static_cast<std::ptrdiff_t>(4 * s);
      if ((first[3] < 0) != triangles) continue;
      points.insert(points.end(), first, first + (triangles ? 3 : 4));
      families.push_back(groups.of_side[s]);
    }
    const med_geometry_type shape = triangles ? MED_TRIA3 : MED_QUAD4;
    if (!points.empty()) open_->put_cells(given, shape, MED_FULL_INTERLACE, triangles ? 3 : 4, from_one(points));
    put(families, MED_CELL, shape);
  }
}

void MedWriter::add_point_cells(const std::string& given, std::span<const std::int32_t> points,
                                std::span<const std::int32_t> families) {
  const std::lock_guard held(lock());
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  const auto count = static_cast<med_int>(points.size());
  std::vector<med_int> numbers = from_one(points);
  open_->require(
      library().MEDmeshElementConnectivityWr(open_->id, name.data(), MED_NO_DT, MED_NO_IT, 0.0, MED_CELL, MED_POINT1,
                                             MED_NODAL, MED_NO_INTERLACE, count, numbers.data()) >= 0,
      "points of " + given);
  numbers.assign(families.begin(), families.end());
  open_->require(library().MEDmeshEntityFamilyNumberWr(open_->id, name.data(), MED_NO_DT, MED_NO_IT, MED_CELL,
                                                       MED_POINT1, count, numbers.data()) >= 0,
                 "families of points of " + given);
}

void MedWriter::add_parameter(const std::string& given, const std::string& description, std::int32_t value) {
  const std::lock_guard held(lock());
  const auto name = characters_of<MED_NAME_SIZE + 1>(given);
  const auto text = characters_of<MED_COMMENT_SIZE + 1>(description);
  const med_int number = value;
  open_->require_room(0, "parameter " + given);
  open_->require(library().MEDparameterCr(open_->id, name.data(), MED_INT, text.data(), seconds) >= 0 &&
                     library().MEDparameterValueWr(open_->id, name.data(), MED_NO_DT, MED_NO_IT, 0.0,
                                                   reinterpret_cast<const unsigned char*>(&number)) >= 0,
                 "parameter " + given);
}

void MedWriter::add_parameters(const std::string& name, std::span<const std::int64_t> values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    add_parameter(name + "_" + std::to_string(k + 1), "SERAFIN's", static_cast<std::int32_t>(values[k]));
}

void MedWriter::add_order(std::span<const std::string> variables) {
  for (std::size_t k = 0; k < variables.size(); ++k)
    add_parameter(variable_parameter + std::to_string(k + 1), serafin::latin1_of(variables[k]),
                  static_cast<std::int32_t>(k + 1));
}

std::string MedWriter::add_field(const std::string& mesh, const std::string& variable, const std::string& unit) {
  const std::lock_guard held(lock());
  std::string name = serafin::latin1_of(variable);
  const std::string component = columns({name.substr(0, name.find('#'))}), units = columns({serafin::latin1_of(unit)});
  std::replace(name.begin(), name.end(), '/', '_');
  if (mesh != "MESH") name += " " + mesh;
  const auto field = characters_of<MED_NAME_SIZE + 1>(name), on = characters_of<MED_NAME_SIZE + 1>(mesh);
  open_->require_room(0, "field " + name);
  open_->require(library().MEDfieldCr(open_->id, field.data(), open_->single_precision ? MED_FLOAT32 : MED_FLOAT64, 1,
                                      component.c_str(), units.c_str(), seconds, on.data()) >= 0,
                 "field " + name);
  return field.data();
}

void MedWriter::Open::put_values(const std::string& given, std::int32_t step, double time, med_entity_type entity,
                                 med_geometry_type shape, std::span<const double> values) const {
  std::vector<float> narrow;
  if (single_precision) narrow.assign(values.begin(), values.end());
  const auto* bytes = single_precision ? reinterpret_cast<const unsigned char*>(narrow.data())
                                       : reinterpret_cast<const unsigned char*>(values.data());
  const auto field = characters_of<MED_NAME_SIZE + 1>(given);
  require_room(values.size() * (single_precision ? sizeof(float) : sizeof(double)), "field " + given);
  require(library().MEDfieldValueWr(id, field.data(), step, MED_NO_IT, time, entity, shape, MED_NO_INTERLACE, 1,
                                    static_cast<med_int>(values.size()), bytes) >= 0,
          "field " + given + ", step " + std::to_string(step));
}

void MedWriter::put_values(const std::string& field, std::int32_t step, double time, std::span<const double> values) {
  const std::lock_guard held(lock());
  open_->put_values(field, step, time, MED_NODE, MED_NONE, values);
}

void MedWriter::put_values(const std::string& field, std::int32_t step, double time, std::span<const double> values,
                           const mesh::Solids& mesh) {
  const std::lock_guard held(lock());
  for (const auto& [shape, corners] : solid_shapes) {
    std::vector<double> some;
    for (std::size_t c = 0; c < mesh.corners.size(); ++c)
      if (mesh.corners[c] == corners) some.push_back(values[c]);
    if (!some.empty()) open_->put_values(field, step, time, MED_CELL, shape, some);
  }
}

#else

struct MedWriter::Open {};
MedWriter::MedWriter(const std::filesystem::path& path, const Options&) {
  throw Error(Kind::unsupported, "this build has no MED").at(path.string()).hint("build it where libmedc-dev is");
}
MedWriter::~MedWriter() = default;
void MedWriter::close() {}
void MedWriter::add_mesh(const std::string&, const mesh::Unstructured&, std::span<const double>,
                         std::span<const std::int32_t>) {}
void MedWriter::add_mesh(const std::string&, const mesh::Solids&) {}
void MedWriter::add_groups(const std::string&, const MeshGroups&) {}
void MedWriter::add_parameter(const std::string&, const std::string&, std::int32_t) {}
void MedWriter::add_parameters(const std::string&, std::span<const std::int64_t>) {}
void MedWriter::add_order(std::span<const std::string>) {}
std::string MedWriter::add_field(const std::string&, const std::string&, const std::string&) { return {}; }
void MedWriter::put_values(const std::string&, std::int32_t, double, std::span<const double>) {}
void MedWriter::put_values(const std::string&, std::int32_t, double, std::span<const double>, const mesh::Solids&) {}

#endif

}  // namespace octavo::formats::med
