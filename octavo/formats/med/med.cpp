#include "octavo/formats/med/med.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5.hpp"
#include "octavo/file/posix.hpp"
#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/library.hpp"
#endif

namespace octavo::formats::med {

using base::Error;
using base::Kind;

bool recognise(const std::filesystem::path& path) {
  if (!file::hdf5::has_signature(path)) return false;
  try {
    // The names of the root group stand near the beginning.
    const file::File file = file::open_read(path);
    std::string begin(std::size_t{1} << 16, '\0');
    begin.resize(file::pread_some(file, 0, std::as_writable_bytes(std::span(begin))));
    return begin.find("INFOS_GENERALES") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

#ifndef OCTAVO_HAVE_MED

namespace {
Error not_built(const std::filesystem::path& path) {
  return Error(Kind::unsupported, "this build has no MED").at(path.string()).hint("build it where libmedc-dev is");
}
}  // namespace
bool available() noexcept { return false; }
mesh::Dataset open(const std::filesystem::path& path) { throw not_built(path); }
mesh::Dataset open_step(const std::filesystem::path& path, std::int64_t) { throw not_built(path); }
std::vector<double> times(const std::filesystem::path& path) { throw not_built(path); }

#else

namespace {

using Name = std::array<char, MED_NAME_SIZE + 1>;
using Comment = std::array<char, MED_COMMENT_SIZE + 1>;

/// An open MED file; every use holds the lock.
class Opened {
 public:
  explicit Opened(const std::filesystem::path& path)
      : path_(path), id_(library().MEDfileOpen(path.c_str(), MED_ACC_RDONLY)) {
    if (id_ < 0) throw Error(Kind::corrupt, "libmedC cannot open it").at(path.string());
  }
  ~Opened() { library().MEDfileClose(id_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  med_idt id() const { return id_; }
  void require(bool good, const std::string& what) const {
    if (!good) throw Error(Kind::corrupt, "libmedC cannot read " + what).at(path_.string());
  }

 private:
  std::filesystem::path path_;
  med_idt id_;
};

std::string text_of(const char* characters, std::size_t size) {
  std::string text(characters, std::find(characters, characters + size, '\0'));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

struct MeshEntry {
  Name name{};
  std::string title;
  std::int64_t points = 0, elements = 0;
  med_geometry_type shape = MED_TRIA3;
  int planes = 1;
};

struct StepEntry {
  med_int number = MED_NO_DT, iteration = MED_NO_IT;
  double time = 0;
};

struct FieldEntry {
  Name name{};
  mesh::FieldInfo info;
  int component = 1, components = 1;
};

/// All that is known of a file without its values.
struct Contents {
  std::filesystem::path path;
  MeshEntry mesh;
  int meshes = 0;
  std::vector<FieldEntry> fields;
  std::vector<StepEntry> steps;
  std::map<std::string, mesh::Attribute> parameters;
  bool has_numbers = false;
};

std::int64_t entities(const Opened& file, const MeshEntry& mesh, med_entity_type entity, med_geometry_type shape,
                      med_data_type data) {
  med_bool changed = MED_FALSE, moved = MED_FALSE;
  return library().MEDmeshnEntity(file.id(), mesh.name.data(), MED_NO_DT, MED_NO_IT, entity, shape, data,
                                  data == MED_CONNECTIVITY ? MED_NODAL : MED_NO_CMODE, &changed, &moved);
}

void read_parameters(const Opened& file, Contents& to) {
  const med_int count = library().MEDnParameter(file.id());
  for (int i = 1; i <= count; ++i) {
    Name name{};
    Comment description{};
    std::array<char, MED_SNAME_SIZE + 1> unit{};
    med_parameter_type type{};
    med_int steps = 0;
    file.require(
        library().MEDparameterInfo(file.id(), i, name.data(), &type, description.data(), unit.data(), &steps) >= 0,
        "parameter " + std::to_string(i));
    double real = 0;
    med_int integer = 0;
    auto* out = type == MED_INT ? reinterpret_cast<unsigned char*>(&integer) : reinterpret_cast<unsigned char*>(&real);
    if (library().MEDparameterValueRd(file.id(), name.data(), MED_NO_DT, MED_NO_IT, out) < 0) continue;
    const std::string key = text_of(name.data(), MED_NAME_SIZE);
    if (type == MED_INT)
      to.parameters[key] = static_cast<std::int64_t>(integer);
    else
      to.parameters[key] = real;
  }
}

void read_mesh_entry(const Opened& file, Contents& to) {
  to.meshes = library().MEDnMesh(file.id());
  if (to.meshes < 1) throw Error(Kind::corrupt, "the file has no mesh").at(to.path.string());
  const med_int axes = library().MEDmeshnAxis(file.id(), 1);
  file.require(axes >= 2 && axes <= 3, "the mesh's axes");
  std::vector<char> axis_names(static_cast<std::size_t>(axes) * MED_SNAME_SIZE + 1), axis_units(axis_names.size());
  med_int space = 0, dim = 0, steps = 0;
  med_mesh_type type{};
  Comment description{};
  std::array<char, MED_SNAME_SIZE + 1> unit{};
  med_sorting_type sorting{};
  med_axis_type axis_type{};
  file.require(
      library().MEDmeshInfo(file.id(), 1, to.mesh.name.data(), &space, &dim, &type, description.data(), unit.data(),
                            &sorting, &steps, &axis_type, axis_names.data(), axis_units.data()) >= 0,
      "the mesh");
  to.mesh.title = text_of(description.data(), MED_COMMENT_SIZE);
  to.mesh.points = entities(file, to.mesh, MED_NODE, MED_NONE, MED_COORDINATE);
  file.require(to.mesh.points > 0, "the mesh's points");
  to.has_numbers = entities(file, to.mesh, MED_NODE, MED_NONE, MED_GLOBAL_NUMBER) == to.mesh.points;
}

void read_shape(const Opened& file, Contents& to) {
  MeshEntry& mesh = to.mesh;
  const auto planes = to.parameters.find("NPLAN");
  if (planes != to.parameters.end())
    if (const auto* number = std::get_if<std::int64_t>(&planes->second))
      mesh.planes = static_cast<int>(std::max<std::int64_t>(*number, 1));
  mesh.shape = mesh.planes > 1 ? MED_PENTA6 : MED_TRIA3;
  mesh.elements = entities(file, mesh, MED_CELL, mesh.shape, MED_CONNECTIVITY);
  const bool whole = mesh.points % mesh.planes == 0 && (mesh.planes == 1 || mesh.elements % (mesh.planes - 1) == 0);
  if (mesh.elements <= 0 || !whole)
    throw Error(Kind::unsupported, "a mesh of " + std::to_string(mesh.points) + " points with " +
                                       std::to_string(mesh.elements) +
                                       (mesh.planes > 1 ? " prisms on " : " triangles on ") +
                                       std::to_string(mesh.planes) + " planes: expected triangles, or prisms and NPLAN")
        .at(to.path.string());
}

void add_steps(const Opened& file, const Name& field, med_int count, std::vector<StepEntry>& steps) {
  for (int i = 1; i <= count; ++i) {
    StepEntry step;
    file.require(
        library().MEDfieldComputingStepInfo(file.id(), field.data(), i, &step.number, &step.iteration, &step.time) >= 0,
        "a field's steps");
    const auto same = [&](const StepEntry& other) {
      return other.number == step.number && other.iteration == step.iteration;
    };
    if (std::none_of(steps.begin(), steps.end(), same)) steps.push_back(step);
  }
}

void read_fields(const Opened& file, Contents& to) {
  const med_int count = library().MEDnField(file.id());
  for (int i = 1; i <= count; ++i) {
    const med_int components = library().MEDfieldnComponent(file.id(), i);
    file.require(components >= 1 && components < 1000, "field " + std::to_string(i));
    std::vector<char> names(static_cast<std::size_t>(components) * MED_SNAME_SIZE + 1), units(names.size());
    Name name{}, mesh{};
    std::array<char, MED_SNAME_SIZE + 1> time_unit{};
    med_bool local = MED_FALSE;
    med_field_type type{};
    med_int steps = 0;
    file.require(library().MEDfieldInfo(file.id(), i, name.data(), mesh.data(), &local, &type, names.data(),
                                        units.data(), time_unit.data(), &steps) >= 0,
                 "field " + std::to_string(i));
    if (type != MED_FLOAT64 || text_of(mesh.data(), MED_NAME_SIZE) != text_of(to.mesh.name.data(), MED_NAME_SIZE))
      continue;
    add_steps(file, name, steps, to.steps);
    for (int c = 1; c <= components; ++c) {
      FieldEntry entry{name, {}, c, components};
      entry.info.name = text_of(name.data(), MED_NAME_SIZE);
      if (components > 1) entry.info.name += "[" + std::to_string(c - 1) + "]";
      entry.info.unit = text_of(&units[static_cast<std::size_t>(c - 1) * MED_SNAME_SIZE], MED_SNAME_SIZE);
      entry.info.centring = mesh::Centring::node;
      to.fields.push_back(entry);
    }
  }
  std::sort(to.steps.begin(), to.steps.end(), [](const StepEntry& a, const StepEntry& b) {
    return std::pair(a.number, a.iteration) < std::pair(b.number, b.iteration);
  });
}

Contents contents_of(const std::filesystem::path& path) {
  const std::lock_guard held(lock());
  const Opened file(path);
  Contents out;
  out.path = path;
  read_mesh_entry(file, out);
  read_parameters(file, out);
  read_shape(file, out);
  read_fields(file, out);
  return out;
}

// ------------------------------------------------------------------ values

/// All x, then all y (and z): as TELEMAC has it.
std::vector<double> coordinates(const Opened& file, const Contents& contents) {
  const auto axes = static_cast<std::size_t>(library().MEDmeshnAxis(file.id(), 1));
  std::vector<double> all(axes * static_cast<std::size_t>(contents.mesh.points));
  file.require(library().MEDmeshNodeCoordinateRd(file.id(), contents.mesh.name.data(), MED_NO_DT, MED_NO_IT,
                                                 MED_NO_INTERLACE, all.data()) >= 0,
               "the coordinates");
  return all;
}

mesh::Unstructured read_mesh(const Opened& file, const Contents& contents) {
  mesh::Unstructured mesh;
  mesh.planes = contents.mesh.planes;
  const auto all = static_cast<std::size_t>(contents.mesh.points);
  const std::size_t points = all / static_cast<std::size_t>(mesh.planes);
  const std::vector<double> places = coordinates(file, contents);
  mesh.x.assign(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(points));
  mesh.y.assign(places.begin() + static_cast<std::ptrdiff_t>(all),
                places.begin() + static_cast<std::ptrdiff_t>(all + points));
  const std::size_t nodes = mesh.planes > 1 ? 6 : 3;
  std::vector<med_int> cells(nodes * static_cast<std::size_t>(contents.mesh.elements));
  file.require(
      library().MEDmeshElementConnectivityRd(file.id(), contents.mesh.name.data(), MED_NO_DT, MED_NO_IT, MED_CELL,
                                             contents.mesh.shape, MED_NODAL, MED_FULL_INTERLACE, cells.data()) >= 0,
      "the connectivity");
  const std::size_t triangles = cells.size() / nodes / static_cast<std::size_t>(std::max(1, mesh.planes - 1));
  for (std::size_t t = 0; t < triangles; ++t)
    for (std::size_t k = 0; k < 3; ++k) mesh.connectivity.push_back(cells[t * nodes + k] - 1);
  mesh::validate(mesh);
  return mesh;
}

mesh::Field read_field(const Opened& file, const Contents& contents, const FieldEntry& entry, const StepEntry& step) {
  mesh::Field field = mesh::make_field(entry.info, static_cast<std::size_t>(contents.mesh.points));
  const med_int values =
      library().MEDfieldnValue(file.id(), entry.name.data(), step.number, step.iteration, MED_NODE, MED_NONE);
  if (values != contents.mesh.points)
    throw Error(Kind::corrupt, "expected a value for each of " + std::to_string(contents.mesh.points) +
                                   " points, found " + std::to_string(values))
        .at(contents.path.string() + ", field " + entry.info.name + ", step " + std::to_string(step.number));
  std::vector<double> all(field.size() * static_cast<std::size_t>(entry.components));
  file.require(library().MEDfieldValueRd(file.id(), entry.name.data(), step.number, step.iteration, MED_NODE, MED_NONE,
                                         MED_NO_INTERLACE, MED_ALL_CONSTITUENT,
                                         reinterpret_cast<unsigned char*>(all.data())) >= 0,
               "field " + entry.info.name);
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(field.size()) * (entry.component - 1), field.size(),
              field.as<double>().begin());
  return field;
}

mesh::Field read_numbers(const Opened& file, const Contents& contents, const mesh::FieldInfo& info) {
  mesh::Field field = mesh::make_field(info, static_cast<std::size_t>(contents.mesh.points));
  std::vector<med_int> numbers(field.size());
  file.require(library().MEDmeshGlobalNumberRd(file.id(), contents.mesh.name.data(), MED_NO_DT, MED_NO_IT, MED_NODE,
                                               MED_NONE, numbers.data()) >= 0,
               "the points' global numbers");
  std::copy(numbers.begin(), numbers.end(), field.as<std::int32_t>().begin());
  return field;
}

mesh::Part read_part(const Contents& contents, std::size_t step, const mesh::Header& header,
                     const mesh::Request& request) {
  const std::lock_guard held(lock());
  const Opened file(contents.path);
  mesh::Part part;
  part.mesh = request.mesh ? read_mesh(file, contents) : mesh::Unstructured{};
  for (const std::size_t f : mesh::select_fields(header, request.fields))
    part.fields.push_back(f < contents.fields.size() && !contents.steps.empty()
                              ? read_field(file, contents, contents.fields[f], contents.steps[step])
                              : read_numbers(file, contents, header.fields[f]));
  return part;
}

// ------------------------------------------------------------------ the dataset

void set_box(const Contents& contents, mesh::Header& header) {
  const std::lock_guard held(lock());
  const Opened file(contents.path);
  const std::vector<double> places = coordinates(file, contents);
  const auto points = static_cast<std::ptrdiff_t>(contents.mesh.points);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(axis) * points;
    const auto [lo, hi] = std::minmax_element(begin, begin + points);
    header.lo[axis] = *lo;
    header.hi[axis] = *hi > *lo ? *hi : *lo + 1;
  }
}

mesh::Header header_of(const Contents& contents, std::size_t step) {
  mesh::Header header;
  header.code = "MED";
  header.dim = contents.mesh.planes > 1 ? 3 : 2;
  header.unit_length = 100;  // metres
  header.attributes = contents.parameters;
  header.attributes["mesh"] = text_of(contents.mesh.name.data(), MED_NAME_SIZE);
  header.attributes["title"] = contents.mesh.title;
  header.attributes["meshes"] = std::int64_t{contents.meshes};
  const std::int64_t layers = std::max(1, contents.mesh.planes - 1);
  header.attributes["triangles"] = contents.mesh.elements / layers;
  header.attributes["planes"] = std::int64_t{contents.mesh.planes};
  if (!contents.steps.empty()) {
    header.time = contents.steps[step].time;
    header.attributes["step"] = static_cast<std::int64_t>(step);
    for (const FieldEntry& field : contents.fields) header.fields.push_back(field.info);
  }
  if (contents.has_numbers) {
    mesh::FieldInfo numbers;
    numbers.name = "GLB";
    numbers.type = mesh::ScalarType::int32;
    numbers.centring = mesh::Centring::node;
    header.fields.push_back(numbers);
  }
  set_box(contents, header);
  return header;
}

mesh::Dataset dataset_of(Contents found, std::size_t step) {
  const auto contents = std::make_shared<const Contents>(std::move(found));
  mesh::Dataset dataset;
  dataset.format = "med";
  dataset.path = contents->path.string();
  dataset.unstructured = true;
  dataset.header = header_of(*contents, step);
  dataset.num_parts = 1;
  dataset.bytes = static_cast<std::int64_t>(std::filesystem::file_size(contents->path));
  dataset.levels = {{0, contents->mesh.elements, contents->mesh.elements}};
  if (contents->meshes > 1)
    dataset.notes.push_back("the file has " + std::to_string(contents->meshes) + " meshes: the first is shown");
  dataset.parts_touching = [](const mesh::Region&) { return std::vector<int>{0}; };
  dataset.part_bytes = [bytes = dataset.bytes](int) { return bytes; };
  dataset.read = [contents, step, header = dataset.header](int, const mesh::Request& request) {
    return read_part(*contents, step, header, request);
  };
  return dataset;
}

}  // namespace

bool available() noexcept {
  try {
    library();
    return true;
  } catch (...) {
    return false;
  }
}

mesh::Dataset open(const std::filesystem::path& path) {
  Contents contents = contents_of(path);
  const std::size_t last = contents.steps.empty() ? 0 : contents.steps.size() - 1;
  return dataset_of(std::move(contents), last);
}

mesh::Dataset open_step(const std::filesystem::path& path, std::int64_t step) {
  Contents contents = contents_of(path);
  if (step < 0 || step >= static_cast<std::int64_t>(contents.steps.size()))
    throw Error(Kind::usage, "step " + std::to_string(step) + " is not there: the file has " +
                                 std::to_string(contents.steps.size()) + ", numbered from 0")
        .at(path.string());
  return dataset_of(std::move(contents), static_cast<std::size_t>(step));
}

std::vector<double> times(const std::filesystem::path& path) {
  std::vector<double> out;
  for (const StepEntry& step : contents_of(path).steps) out.push_back(step.time);
  return out;
}

#endif

}  // namespace octavo::formats::med
