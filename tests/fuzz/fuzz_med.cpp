#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/vtkhdf/vtkhdf.hpp"
#include "octavo/formats/vtkhdf/write.hpp"
#include "tests/fuzz/read_series.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/solids_fixture.hpp"

// Input: a byte that chooses one of the sound files (MED in one mesh or three, VTKHDF; triangles, planes or solids),
// then edits of it, six bytes each: of values, attributes and links. The file stays sound HDF5; what opens is read
// whole.
namespace {

using namespace octavo;
namespace fs = std::filesystem;

constexpr std::size_t kinds = 5;

fs::path scratch(const std::string& name) {
  return fs::path(fs::exists("/dev/shm") ? "/dev/shm" : "/tmp") /
         ("octavo_fuzz_med_" + std::to_string(::getpid()) + name);
}

mesh::Unstructured mesh_of(std::uint32_t seed, int planes) {
  const testing::Triangles made = testing::random_triangles(seed, 3, 2);
  return {made.x, made.y, {made.connectivity.begin(), made.connectivity.end()}, planes, {}};
}

void make_med(const fs::path& path, int meshes, int planes) {
  formats::med::MedWriter writer(path, {"A TITLE", false});
  for (int m = 0; m < meshes; ++m) {
    const std::string name = meshes == 1 ? "MESH" : "MESH" + std::to_string(m + 1);
    const mesh::Unstructured mesh = mesh_of(static_cast<std::uint32_t>(m), planes);
    const std::size_t points = mesh.x.size() * static_cast<std::size_t>(planes);
    std::vector<std::int32_t> numbers(points);
    for (std::size_t i = 0; i < points; ++i) numbers[i] = static_cast<std::int32_t>(i + 1);
    const std::vector<double> values(points, 1.5);
    writer.add_mesh(name, mesh, values, numbers);
    writer.add_groups(name, {{{-1, "FAM_-1_A", {"A", "B"}}}, {0, 1, 1, 2}, {-1, 0}, {}, {}});
    writer.add_parameter("NPTIR" + name.substr(4), "", 2);
    const std::string field = writer.add_field(name, "DEPTH", "M");
    for (std::int32_t step = 0; step < 2; ++step) writer.put_values(field, step, step, values);
  }
  writer.add_parameter("NPLAN", "", planes > 1 ? planes : 0);
  writer.add_parameter("DATE", "", 20261121);
  writer.add_parameter("TIME", "", 93000);
  writer.close();
}

void make_med_of_solids(const fs::path& path) {
  const mesh::Solids mesh = testing::box_of_solids(2, 0);
  formats::med::MedWriter writer(path, {"SOLIDS", false});
  writer.add_mesh("MESH", mesh);
  formats::MeshGroups groups;
  groups.families = {{-1, "FAM_-1_A", {"A"}}};
  groups.sides = {0, 1, 2, -1, 0, 1, 4, 3};
  groups.of_side = {-1, -1};
  writer.add_groups("MESH", groups);
  const std::string at_points = writer.add_field("MESH", "HEAD", "M"), in_cells = writer.add_field("MESH", "ROCK", "");
  writer.put_values(at_points, 0, 0, std::vector<double>(mesh.x.size(), 1.5));
  writer.put_values(in_cells, 0, 0, std::vector<double>(mesh.corners.size(), 2.5), mesh);
  writer.close();
}

void make_vtkhdf(const fs::path& path) {
  const mesh::Unstructured mesh = mesh_of(9, 1);
  mesh::FieldInfo info;
  info.name = "DEPTH";
  info.centring = mesh::Centring::node;
  formats::vtkhdf::VtkhdfWriter writer(path, mesh, std::vector<std::int32_t>(mesh.x.size(), 1),
                                       {{info}, {0, 1}, {{"title", std::string("A TITLE")}}});
  for (std::int64_t step = 0; step < 2; ++step) writer.put_values(step, 0, std::vector<double>(mesh.x.size(), 2.5));
  writer.close();
}

/// A group or data set, and its attributes.
struct Object {
  std::string path;
  bool is_set = false;
  std::vector<std::string> attributes;
};

herr_t take_attribute(hid_t, const char* name, const H5A_info_t*, void* out) {
  static_cast<Object*>(out)->attributes.emplace_back(name);
  return 0;
}

herr_t take_object(hid_t root, const char* name, const H5O_info_t* info, void* out) {
  Object object{name, info->type == H5O_TYPE_DATASET, {}};
  H5Aiterate_by_name(root, name, H5_INDEX_NAME, H5_ITER_INC, nullptr, take_attribute, &object, H5P_DEFAULT);
  static_cast<std::vector<Object>*>(out)->push_back(std::move(object));
  return 0;
}

struct Sound {
  std::string bytes;
  std::vector<Object> objects;
};

Sound sound_file(std::size_t kind) {
  const fs::path path = scratch("_sound");
  fs::remove(path);
  if (kind == 3)
    make_vtkhdf(path);
  else if (kind == 4)
    make_med_of_solids(path);
  else
    make_med(path, kind == 1 ? 3 : 1, kind == 2 ? 3 : 1);
  Sound sound{testing::bytes_of_file(path), {}};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, take_object, &sound.objects);
  H5Fclose(file);
  fs::remove(path);
  return sound;
}

/// Values that break things more often than random ones.
double value_of(std::uint8_t a, std::uint8_t b) {
  constexpr std::array<double, 10> odd{
      -1,    0,    1,     std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(), 1e18,
      1e300, -1e9, 65536, std::numeric_limits<double>::quiet_NaN()};
  return a < 128 ? odd[b % odd.size()] : static_cast<double>(b) - 8;
}

void edit_attribute(hid_t file, const Object& object, const std::uint8_t* e) {
  if (object.attributes.empty()) return;
  const std::string& name = object.attributes[e[3] % object.attributes.size()];
  const char* path = object.path.c_str();
  if (e[0] % 8 == 1) {
    H5Adelete_by_name(file, path, name.c_str(), H5P_DEFAULT);
    return;
  }
  if (e[0] % 8 == 2) {  // a text longer than what was there, or a text in place of a number
    H5Adelete_by_name(file, path, name.c_str(), H5P_DEFAULT);
    const std::string text(static_cast<std::size_t>(e[4]) * 4 + 1, static_cast<char>(e[5]));
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, text.size());
    const hid_t made = H5Acreate_by_name(file, path, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(made, type, text.data());
    H5Aclose(made);
    H5Sclose(space);
    H5Tclose(type);
    return;
  }
  const hid_t attribute = H5Aopen_by_name(file, path, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const auto count = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 1));
  if (H5Tget_class(type) == H5T_STRING) {
    std::vector<char> text(H5Tget_size(type) * count, static_cast<char>(e[5]));
    H5Awrite(attribute, type, text.data());
  } else {
    const std::vector<double> values(count, value_of(e[4], e[5]));
    H5Awrite(attribute, H5T_NATIVE_DOUBLE, values.data());
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
}

void edit_values(hid_t file, const Object& object, const std::uint8_t* e) {
  const hid_t set = H5Dopen2(file, object.path.c_str(), H5P_DEFAULT), type = H5Dget_type(set);
  const auto kind = H5Tget_class(type);
  const hid_t space = H5Dget_space(set);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count > 0 && (kind == H5T_INTEGER || kind == H5T_FLOAT)) {
    std::vector<double> values(static_cast<std::size_t>(count));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    values[static_cast<std::size_t>(e[3]) % values.size()] = value_of(e[4], e[5]);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
}

/// Gives a data set another length and keeps its type.
void resize(hid_t file, const Object& object, const std::uint8_t* e) {
  const hid_t set = H5Dopen2(file, object.path.c_str(), H5P_DEFAULT), type = H5Dget_type(set);
  H5Dclose(set);
  H5Ldelete(file, object.path.c_str(), H5P_DEFAULT);
  const hsize_t extent = e[4];
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  H5Dclose(H5Dcreate2(file, object.path.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Tclose(type);
}

void edit(hid_t file, const std::vector<Object>& objects, const std::uint8_t* e) {
  const Object& object = objects[(static_cast<std::size_t>(e[1]) * 256 + e[2]) % objects.size()];
  if (object.path == "." || H5Lexists(file, object.path.c_str(), H5P_DEFAULT) <= 0) return;
  if (e[0] % 8 == 0)
    H5Ldelete(file, object.path.c_str(), H5P_DEFAULT);
  else if (e[0] % 8 < 5 || !object.is_set)
    edit_attribute(file, object, e);
  else if (e[0] % 8 == 5)
    resize(file, object, e);
  else
    edit_values(file, object, e);
}

void read(const mesh::Dataset& dataset) {
  dataset.parts_touching(mesh::Box{});
  dataset.part_bytes(0);
  testing::read_series(dataset);
}

template <class Read>
void attempt(Read&& work) {
  try {
    work();
  } catch (const base::Error&) {
  }
}

void read_all(const fs::path& path, bool vtkhdf) {
  if (vtkhdf) {
    attempt([&] { read(formats::vtkhdf::open(path)); });
    attempt([&] { read(formats::vtkhdf::open(path, 0)); });
    return;
  }
  formats::med::recognise(path);
  attempt([&] { read(formats::med::open(path)); });
  attempt([&] { read(formats::med::open(path.string() + "#MESH2", 0)); });
  attempt([&] { formats::med::read_groups(path); });
  attempt([&] { formats::med::list_steps(path); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool clean_up = std::atexit([] { fs::remove(scratch("")); }) == 0;
  static const bool has_med = formats::med::available();
  static const std::array<Sound, kinds> sounds = [] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::array<Sound, kinds> made;
    for (std::size_t kind = has_med ? 0 : 3; kind < (has_med ? kinds : 4); ++kind) made[kind] = sound_file(kind);
    return made;
  }();
  if (size < 1 || !clean_up) return 0;
  const std::size_t kind = has_med ? data[0] % kinds : 3;
  const fs::path path = scratch("");
  testing::put_file(path, sounds[kind].bytes);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  for (std::size_t at = 1; at + 6 <= size; at += 6) edit(file, sounds[kind].objects, data + at);
  H5Fclose(file);
  read_all(path, kind == 3);
  return 0;
}
