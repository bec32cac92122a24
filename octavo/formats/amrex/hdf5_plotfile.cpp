#include "octavo/formats/amrex/hdf5_plotfile.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/amrex/headers.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
namespace h5 = file::hdf5;
using base::Error;
using base::Kind;
using mesh::IndexBox;

// More is taken for a broken file, before memory is asked for.
constexpr std::int64_t most_hdf5_levels = 64, most_components = 1 << 20;

Error corrupt(const h5::File& file, const std::string& where, const std::string& message) {
  return Error(Kind::corrupt, message).at(where).at(file.path().string());
}

std::int64_t number(const h5::File& file, const std::string& object, const std::string& name, std::int64_t least,
                    std::int64_t most) {
  const auto found = h5::read_numbers(file, object, name);
  if (!found || found->size() != 1) throw corrupt(file, object, "expected a whole number as attribute " + name);
  if ((*found)[0] < least || (*found)[0] > most)
    throw corrupt(file, object,
                  "attribute " + name + ": expected " + std::to_string(least) + " to " + std::to_string(most) +
                      ", found " + std::to_string((*found)[0]));
  return (*found)[0];
}

double real(const h5::File& file, const std::string& object, const std::string& name) {
  const auto found = h5::read_reals(file, object, name);
  if (!found || found->size() != 1) throw corrupt(file, object, "expected a number as attribute " + name);
  return (*found)[0];
}

mesh::Point3 point(const h5::File& file, const std::string& object, const std::string& name, int dim,
                   const mesh::Point3& others) {
  const auto found = h5::read_reals(file, object, name);
  if (!found || found->size() != static_cast<std::size_t>(dim))
    throw corrupt(file, object, "expected " + std::to_string(dim) + " numbers as attribute " + name);
  mesh::Point3 out = others;
  std::copy(found->begin(), found->end(), out.begin());
  return out;
}

const h5::Info* find(const std::vector<h5::Info>& sets, const std::string& name) {
  const auto found = std::find_if(sets.begin(), sets.end(), [&](const h5::Info& set) { return set.name == name; });
  return found == sets.end() ? nullptr : &*found;
}

const h5::Info& required(const h5::File& file, const std::vector<h5::Info>& sets, const std::string& name) {
  const h5::Info* set = find(sets, name);
  if (set == nullptr) throw corrupt(file, name, "expected such a data set, found none");
  return *set;
}

std::string group_name(std::size_t level) { return "level_" + std::to_string(level); }

std::vector<std::string> field_names(const h5::File& file) {
  const std::int64_t count = number(file, "/", "num_components", 1, most_components);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string attribute = "component_" + std::to_string(i);
    const auto name = h5::read_words(file, "/", attribute);
    if (!name) throw corrupt(file, "/", "expected the name of a component as attribute " + attribute);
    names.push_back(*name);
  }
  return names;
}

/// Members "lo_i", "lo_j", "hi_i" ... of every item; both corners are in the box.
std::vector<IndexBox> read_boxes(const h5::File& file, const h5::Info& set, int dim) {
  std::vector<IndexBox> boxes(static_cast<std::size_t>(h5::num_items(set)), IndexBox{{0, 0, 0}, {1, 1, 1}});
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    for (const bool high : {false, true}) {
      const std::string name = std::string(high ? "hi_" : "lo_") + "ijk"[axis];
      const auto member =
          std::find_if(set.members.begin(), set.members.end(), [&](const h5::Member& m) { return m.name == name; });
      if (member == set.members.end()) throw corrupt(file, set.name, "expected boxes with a member " + name);
      const auto values = h5::read_member<std::int64_t>(file, set, *member);
      for (std::size_t i = 0; i < boxes.size(); ++i)
        (high ? boxes[i].hi : boxes[i].lo)[axis] = values[i] + (high ? 1 : 0);
    }
  for (const IndexBox& box : boxes)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      if (box.hi[axis] <= box.lo[axis] || box.lo[axis] < INT32_MIN || box.hi[axis] > INT32_MAX)
        throw corrupt(file, set.name, "a box that is empty, or beyond 32 bits: " + mesh::describe(box, dim));
  return boxes;
}

void check_centres(const h5::File& file, const std::vector<h5::Info>& sets, const std::string& group) {
  const h5::Info* set = find(sets, group + "/boxcenter");
  if (set == nullptr) return;
  for (const h5::Member& member : set->members)
    for (const std::int64_t nodal : h5::read_member<std::int64_t>(file, *set, member))
      if (nodal != 0) throw Error(Kind::unsupported, "a plotfile whose values are not cell-centred").at(set->name);
}

/// Where the values of each box begin and end in a set, held against the boxes.
std::vector<std::uint64_t> read_offsets(const h5::File& file, const h5::Info& set, const std::vector<IndexBox>& boxes,
                                        int dim, std::uint64_t components) {
  const auto offsets = h5::read_all<std::int64_t>(file, set);
  if (offsets.size() != boxes.size() + 1)
    throw corrupt(file, set.name,
                  "offsets: expected " + std::to_string(boxes.size() + 1) + ", one a box and the end, found " +
                      std::to_string(offsets.size()));
  std::vector<std::uint64_t> first;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    std::uint64_t values = components;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      if (__builtin_mul_overflow(values, static_cast<std::uint64_t>(boxes[i].hi[axis] - boxes[i].lo[axis]), &values))
        throw corrupt(file, set.name, "a box of more values than can be");
    if (offsets[i] < 0 || offsets[i + 1] < offsets[i] ||
        static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]) != values)
      throw corrupt(file, set.name,
                    "values of box " + std::to_string(i) + ": expected " + std::to_string(values) +
                        ", found them from " + std::to_string(offsets[i]) + " to " + std::to_string(offsets[i + 1]));
    first.push_back(static_cast<std::uint64_t>(offsets[i]));
  }
  first.push_back(static_cast<std::uint64_t>(offsets.back()));
  return first;
}

void check_values(const h5::File& file, const h5::Info& set, std::uint64_t values, const h5::ItemType& type) {
  if (!set.missing_filter.empty())
    throw Error(Kind::unsupported,
                "values are compressed in a way that this HDF5 library cannot undo: " + set.missing_filter)
        .at(set.name)
        .at(file.path().string());
  if (set.type.kind != h5::Class::real || (set.type.bytes != 4 && set.type.bytes != 8) || !(set.type == type))
    throw corrupt(file, set.name, "expected reals of 4 or 8 bytes, of one type in all sets, found " + describe(set));
  if (set.shape.size() != 1 || set.shape[0] != values)
    throw corrupt(file, set.name, "expected " + std::to_string(values) + " values, found " + describe(set));
}

MultiFab open_level(const h5::File& file, std::size_t level, int dim, std::size_t components) {
  const std::string group = group_name(level), data = group + "/data:datatype=";
  const std::vector<h5::Info> sets = h5::list(file, group);
  check_centres(file, sets, group);
  MultiFab multifab;
  multifab.prefix = file.path() / group;
  multifab.version = 2;
  multifab.components = static_cast<int>(components);
  multifab.files = {file.path()};
  multifab.boxes = {read_boxes(file, required(file, sets, group + "/boxes"), dim), {0, 0, 0}, dim};
  const auto values = std::make_shared<Hdf5Values>();
  values->file = file;
  values->sets.push_back(required(file, sets, data + "0"));
  const bool split = find(sets, data + "1") != nullptr;
  for (std::size_t c = 1; split && c < components; ++c)
    values->sets.push_back(required(file, sets, data + std::to_string(c)));
  values->first = read_offsets(file, required(file, sets, group + "/data:offsets=0"), multifab.boxes.boxes, dim,
                               split ? 1 : components);
  for (const h5::Info& set : values->sets) check_values(file, set, values->first.back(), values->sets[0].type);
  const std::uint64_t width = values->sets[0].type.bytes;
  multifab.format.type = width == 8 ? mesh::ScalarType::float64 : mesh::ScalarType::float32;
  const std::uint64_t each = width * values->sets.size();
  // Only the sizes of these places are used: values are read through HDF5.
  for (std::size_t i = 0; i + 1 < values->first.size(); ++i)
    multifab.places.push_back({0, values->first[i] * each, values->first[i + 1] * each});
  values->first.pop_back();
  multifab.hdf5 = values;
  return multifab;
}

void add_level(AmrexOutput& output, const h5::File& file, std::size_t level, std::size_t components) {
  mesh::Patches& patches = output.patches;
  MultiFab multifab = open_level(file, level, output.header.dim, components);
  if (multifab.boxes.boxes.empty()) throw corrupt(file, group_name(level), "a level without boxes");
  if (level == 0) {
    patches.domain = {mesh::around(multifab.boxes.boxes)};
  } else {
    const auto ratio = static_cast<int>(number(file, group_name(level - 1), "ref_ratio", 2, 1 << 10));
    patches.ratio.push_back(ratio);
    patches.domain.push_back(mesh::refined_box(patches.domain.back(), ratio, patches.dim));
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis)
      if (patches.domain.back().lo[axis] < INT32_MIN || patches.domain.back().hi[axis] > INT32_MAX)
        throw corrupt(file, group_name(level), "more levels than integer positions can reach");
  }
  patches.boxes.push_back(multifab.boxes.boxes);
  output.multifabs.emplace_back().push_back(std::move(multifab));
}

template <class T>
void read_box(const Hdf5Values& values, const IndexBox& stored, const Take& take, std::uint64_t component,
              std::span<T> out) {
  // In one set for all, a box's components follow one another. In a set for each, a box begins at one place in all.
  const bool split = values.sets.size() > 1;
  const h5::Info& set = values.sets[split ? component : 0];
  const auto cells = static_cast<std::uint64_t>(mesh::num_cells(stored, 3));
  const std::uint64_t first = values.first[take.box] + (split ? 0 : component * cells);
  const auto nx = static_cast<std::uint64_t>(stored.hi[0] - stored.lo[0]);
  const auto ny = static_cast<std::uint64_t>(stored.hi[1] - stored.lo[1]);
  if (take.cells == stored) return h5::read_rows(values.file, set, first, cells, out);
  // The planes that are wanted, whole.
  const auto low = static_cast<std::uint64_t>(take.cells.lo[2] - stored.lo[2]);
  const auto planes = static_cast<std::uint64_t>(take.cells.hi[2] - take.cells.lo[2]);
  std::vector<T> buffer(planes * nx * ny);
  h5::read_rows<T>(values.file, set, first + low * nx * ny, buffer.size(), buffer);
  std::size_t next = 0;
  mesh::for_each_row(take.cells, [&](const mesh::Index3& at, std::int64_t length) {
    const auto row =
        (static_cast<std::uint64_t>(at[2] - take.cells.lo[2]) * ny + static_cast<std::uint64_t>(at[1] - stored.lo[1])) *
            nx +
        static_cast<std::uint64_t>(at[0] - stored.lo[0]);
    std::copy_n(buffer.begin() + static_cast<std::ptrdiff_t>(row), length,
                out.begin() + static_cast<std::ptrdiff_t>(next));
    next += static_cast<std::size_t>(length);
  });
}

template <class T>
void read_takes(const MultiFab& multifab, std::span<const Take> takes, std::span<const int> components,
                std::span<const std::span<std::byte>> out) {
  const int dim = multifab.boxes.dim;
  for (const Take& asked : takes) {
    Take take = asked;
    take.cells = mesh::flat(asked.cells, dim);
    const auto count = static_cast<std::size_t>(mesh::num_cells(take.cells, 3));
    for (std::size_t c = 0; c < components.size(); ++c) {
      const auto bytes = out[c].subspan(take.to * sizeof(T), count * sizeof(T));
      read_box<T>(*multifab.hdf5, mesh::flat(multifab.boxes.boxes[take.box], dim), take,
                  static_cast<std::uint64_t>(components[c]), {reinterpret_cast<T*>(bytes.data()), count});
    }
  }
}

}  // namespace

bool is_hdf5_plotfile(const fs::path& path) {
  if (!h5::available() || !h5::has_signature(path)) return false;
  try {
    const h5::File file = h5::open(path);
    return h5::read_words(file, "/", "version_name") && h5::read_numbers(file, "Chombo_global", "SpaceDim");
  } catch (const Error&) {
    return false;
  }
}

void open_hdf5_plotfile(AmrexOutput& output) {
  mesh::Header& header = output.header;
  const h5::File file = h5::open(output.path);
  if (h5::read_numbers(file, "/", "nparticles"))
    throw Error(Kind::unsupported, "a file of AMReX with particles alone is not read")
        .at(output.path.string())
        .hint("the mesh is in a file of its own, and particles of native outputs are read");
  header.attributes["version"] = *h5::read_words(file, "/", "version_name");
  const std::vector<std::string> names = field_names(file);
  header.dim = output.patches.dim = static_cast<int>(number(file, "/", "dim", 1, 3));
  header.time = real(file, "/", "time");
  const auto levels = static_cast<std::size_t>(number(file, "/", "finest_level", 0, most_hdf5_levels)) + 1;
  header.lo = point(file, group_name(0), "prob_lo", header.dim, {0, 0, 0});
  header.hi = point(file, group_name(0), "prob_hi", header.dim, {1, 1, 1});
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    if (!(header.lo[axis] < header.hi[axis]))
      throw corrupt(file, group_name(0), "a domain whose upper corner is not above its lower");
  std::vector<std::int64_t> steps;
  for (std::size_t level = 0; level < levels; ++level) {
    add_level(output, file, level, names.size());
    steps.push_back(number(file, group_name(level), "steps", INT32_MIN, INT32_MAX));
  }
  header.attributes["step"] = steps[0];
  header.attributes["level_steps"] = steps;
  add_plotfile_facts(output, number(file, "/", "coordinate_system", INT32_MIN, INT32_MAX), names);
  if (output.multifabs[0][0].format.type == mesh::ScalarType::float32)
    output.notes.emplace_back(
        "values of 4 bytes: where the code computes with 8 (fab.format = NATIVE_32), AMReX up to 24.10 wrote them "
        "wrongly "
        "into HDF5 files");
}

void read_hdf5_cells(const MultiFab& multifab, std::span<const Take> takes, std::span<const int> components,
                     mesh::ScalarType type, std::span<const std::span<std::byte>> out) {
  if (type == mesh::ScalarType::float64) return read_takes<double>(multifab, takes, components, out);
  if (multifab.format.type == mesh::ScalarType::float64)
    throw Error(Kind::unsupported, "values of 8 bytes cannot be read as 4").at(multifab.prefix.string());
  read_takes<float>(multifab, takes, components, out);
}

}  // namespace octavo::formats::amrex
