#pragma once
#ifdef OCTAVO_HAVE_HDF5
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// FLASH files made by hand with HDF5's own C functions: shares nothing with the reader and the writer. The tree is
/// grown by recursion over boxes, ids are found by comparing every box with every other.
namespace octavo::testing {

/// One data set: its numbers or fixed-width texts, as they lie in memory.
struct FlashSet {
  char kind = 'i';        ///< i: int32, d: double, f: float, s: text of `width` bytes
  std::size_t width = 4;  ///< bytes an item
  std::vector<std::uint64_t> shape;
  std::vector<unsigned char> bytes;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
};

template <class T>
FlashSet flash_set(char kind, std::vector<std::uint64_t> shape, const std::vector<T>& values) {
  FlashSet set{kind, sizeof(T), std::move(shape), std::vector<unsigned char>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(set.bytes.data(), values.data(), set.bytes.size());
  return set;
}

inline FlashSet flash_texts(std::size_t width, const std::vector<std::string>& texts) {
  FlashSet set{'s', width, {texts.size(), 1}, {}};
  for (std::string text : texts) {
    text.resize(width, ' ');
    set.bytes.insert(set.bytes.end(), text.begin(), text.end());
  }
  return set;
}

/// The lists, by the data set's name.
struct FlashLists {
  std::map<std::string, std::map<std::string, std::int32_t>> integers;  ///< "integer ..." and "logical ..."
  std::map<std::string, std::map<std::string, double>> reals;
  std::map<std::string, std::map<std::string, std::string>> texts;
};

struct FlashFile {
  std::map<std::string, FlashSet> sets;
  FlashLists lists;
};

struct FlashBox {
  int level = 1;
  std::array<double, 3> lo{}, hi{};
  int parent = -1, which = -1;  ///< file row; 1 to 2^dim
  std::vector<int> children;
};

struct FlashSpec {
  int dim = 2;
  std::array<int, 3> block{4, 6, 1};
  std::array<int, 3> roots{2, 1, 1};
  std::array<double, 3> lo{0, 0, 0}, hi{2, 1, 1};
  std::array<bool, 3> periodic{false, false, false};
  bool single = false;
  bool faces = false;
  /// Whether a block is refined.
  std::function<bool(const FlashBox&)> refine = [](const FlashBox& box) {
    return box.level < 4 && box.lo[0] == 0 && box.lo[1] == 0 && box.lo[2] == 0;
  };
};

inline double flash_value(const std::string& name, double x, double y, double z) {
  return static_cast<double>(name[0]) + x + 10 * y + 100 * z;
}

namespace flash_detail {

inline void grow(const FlashSpec& spec, std::vector<FlashBox>& boxes, std::size_t at) {
  if (!spec.refine(boxes[at])) return;
  for (int child = 0; child < (1 << spec.dim); ++child) {
    FlashBox box = boxes[at];
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dim); ++axis) {
      const double middle = 0.5 * (box.lo[axis] + box.hi[axis]);
      ((child >> axis & 1) != 0 ? box.lo : box.hi)[axis] = middle;
    }
    ++box.level;
    box.parent = static_cast<int>(at);
    box.which = child + 1;
    box.children.clear();
    boxes[at].children.push_back(static_cast<int>(boxes.size()));
    boxes.push_back(box);
    grow(spec, boxes, boxes.size() - 1);
  }
}

/// The block of that level that has the point in it, a boundary, or -1.
inline int id_at(const FlashSpec& spec, const std::vector<FlashBox>& boxes, int level, std::array<double, 3> point) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dim); ++axis) {
    const double extent = spec.hi[axis] - spec.lo[axis];
    if (spec.periodic[axis] && point[axis] < spec.lo[axis]) point[axis] += extent;
    if (spec.periodic[axis] && point[axis] > spec.hi[axis]) point[axis] -= extent;
    if (point[axis] < spec.lo[axis] || point[axis] > spec.hi[axis]) return -32;
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    bool inside = boxes[i].level == level;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dim); ++axis)
      inside = inside && point[axis] > boxes[i].lo[axis] && point[axis] < boxes[i].hi[axis];
    if (inside) return static_cast<int>(i) + 1;
  }
  return -1;
}

inline std::array<double, 3> beside(const FlashBox& box, std::array<int, 3> step) {
  std::array<double, 3> point{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    point[axis] = 0.5 * (box.lo[axis] + box.hi[axis]) + step[axis] * (box.hi[axis] - box.lo[axis]);
  return point;
}

inline int type_of(const std::vector<FlashBox>& boxes, const FlashBox& box) {
  if (box.children.empty()) return 1;
  for (int child : box.children)
    if (boxes[static_cast<std::size_t>(child)].children.empty()) return 2;
  return 3;
}

inline void put_reals(const FlashSpec& spec, FlashFile& file, const std::string& name, std::vector<std::uint64_t> shape,
                      const std::vector<double>& values) {
  if (spec.single)
    file.sets[name] = flash_set('f', std::move(shape), std::vector<float>(values.begin(), values.end()));
  else
    file.sets[name] = flash_set('d', std::move(shape), values);
}

inline void put_variable(const FlashSpec& spec, FlashFile& file, const std::vector<FlashBox>& boxes,
                         const std::string& name, std::size_t face) {
  std::array<int, 3> n = spec.block;
  if (face < 3) ++n[face];
  std::vector<double> values;
  for (const FlashBox& box : boxes)
    for (int k = 0; k < n[2]; ++k)
      for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) {
          const std::array<int, 3> at{i, j, k};
          std::array<double, 3> x{};
          for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dim); ++axis)
            x[axis] =
                box.lo[axis] + (at[axis] + (axis == face ? 0 : 0.5)) * (box.hi[axis] - box.lo[axis]) / spec.block[axis];
          values.push_back(flash_value(name, x[0], x[1], x[2]));
        }
  put_reals(spec, file, name,
            {boxes.size(), static_cast<std::uint64_t>(n[2]), static_cast<std::uint64_t>(n[1]),
             static_cast<std::uint64_t>(n[0])},
            values);
}

inline void put_tree(const FlashSpec& spec, FlashFile& file, const std::vector<FlashBox>& boxes) {
  std::vector<std::int32_t> level, type, which, processor, bflags, gid, around;
  std::vector<double> centre, size, bounds;
  const int k2 = spec.dim > 1 ? 1 : 0, k3 = spec.dim > 2 ? 1 : 0;
  for (const FlashBox& box : boxes) {
    level.push_back(box.level);
    type.push_back(type_of(boxes, box));
    which.push_back(box.which);
    processor.push_back(static_cast<std::int32_t>(2 * processor.size() / boxes.size()));
    bflags.push_back(-1);
    for (int axis = 0; axis < spec.dim; ++axis)
      for (int step : {-1, 1}) {
        std::array<int, 3> to{};
        to[static_cast<std::size_t>(axis)] = step;
        gid.push_back(id_at(spec, boxes, box.level, beside(box, to)));
      }
    gid.push_back(box.parent < 0 ? -1 : box.parent + 1);
    for (int child = 0; child < (1 << spec.dim); ++child)
      gid.push_back(box.children.empty() ? -1 : box.children[static_cast<std::size_t>(child)] + 1);
    for (int k = -k3; k <= k3; ++k)
      for (int j = -k2; j <= k2; ++j)
        for (int i = -1; i <= 1; ++i) {
          const int id = id_at(spec, boxes, box.level, beside(box, {i, j, k}));
          around.push_back(id);
          around.push_back(id < 1 ? -1 : type_of(boxes, boxes[static_cast<std::size_t>(id - 1)]));
        }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      centre.push_back(0.5 * (box.lo[axis] + box.hi[axis]));
      size.push_back(box.hi[axis] - box.lo[axis]);
      bounds.push_back(box.lo[axis]);
      bounds.push_back(box.hi[axis]);
    }
  }
  const std::uint64_t n = boxes.size(), w2 = static_cast<std::uint64_t>(1 + 2 * k2),
                      w3 = static_cast<std::uint64_t>(1 + 2 * k3);
  file.sets["refine level"] = flash_set('i', {n}, level);
  file.sets["node type"] = flash_set('i', {n}, type);
  file.sets["which child"] = flash_set('i', {n}, which);
  file.sets["processor number"] = flash_set('i', {n}, processor);
  file.sets["bflags"] = flash_set('i', {n, 1}, bflags);
  file.sets["gid"] = flash_set('i', {n, gid.size() / n}, gid);
  file.sets["gsurr_blks"] = flash_set('i', {n, w3, w2, 3, 2}, around);
  put_reals(spec, file, "coordinates", {n, 3}, centre);
  put_reals(spec, file, "block size", {n, 3}, size);
  put_reals(spec, file, "bounding box", {n, 3, 2}, bounds);
}

inline void put_lists(const FlashSpec& spec, FlashFile& file, std::size_t blocks) {
  auto& scalars = file.lists.integers["integer scalars"];
  scalars = {{"nxb", spec.block[0]},
             {"nyb", spec.block[1]},
             {"nzb", spec.block[2]},
             {"dimensionality", spec.dim},
             {"globalnumblocks", static_cast<int>(blocks)},
             {"nstep", 7}};
  file.lists.integers["integer runtime parameters"] = {{"nblockx", spec.roots[0]}, {"outputsplitnum", 1}};
  file.lists.integers["logical scalars"] = {{"double_precision", spec.single ? 0 : 1}};
  file.lists.reals["real scalars"] = {{"time", 0.25}, {"dt", 1e-3}};
  file.lists.texts["string scalars"] = {{"geometry", "cartesian"}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name(1, "xyz"[axis]);
    file.lists.reals["real runtime parameters"][name + "min"] = spec.lo[axis];
    file.lists.reals["real runtime parameters"][name + "max"] = spec.hi[axis];
    for (const char* side : {"l", "r"})
      file.lists.texts["string runtime parameters"][name + side + "_boundary_type"] =
          spec.periodic[axis] ? "periodic" : "outflow";
  }
}

/// Two particles in each leaf, away from its sides.
inline void put_particles(const FlashSpec& spec, FlashFile& file, const std::vector<FlashBox>& boxes) {
  std::vector<double> rows;
  std::vector<std::int32_t> counts;
  double tag = 0;
  std::array<int, 2> local{};  // blocks so far of the two processors
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const std::size_t processor = 2 * i / boxes.size();
    ++local[processor];
    counts.push_back(boxes[i].children.empty() ? 2 : 0);
    for (int p = 0; p < counts.back(); ++p) {
      rows.push_back(local[processor]);
      for (std::size_t axis = 0; axis < 3; ++axis)
        rows.push_back(axis < static_cast<std::size_t>(spec.dim)
                           ? boxes[i].lo[axis] + (0.3 + 0.4 * p) * (boxes[i].hi[axis] - boxes[i].lo[axis])
                           : 0);
      rows.push_back(static_cast<double>(processor));
      rows.push_back(++tag);
    }
  }
  file.sets["tracer particles"] = flash_set('d', {rows.size() / 6, 6}, rows);
  file.sets["particle names"] = flash_texts(24, {"blk", "posx", "posy", "posz", "proc", "tag"});
  file.sets["localnp"] = flash_set('i', {counts.size()}, counts);
  file.lists.integers["integer scalars"]["globalnumparticles"] = static_cast<int>(rows.size() / 6);
}

// ------------------------------------------------------------------------------------------------ writing

inline hid_t good(hid_t id) {
  if (id < 0) throw std::runtime_error("the fixture cannot be written");
  return id;
}

inline hid_t text_type(std::size_t width) {
  const hid_t type = good(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, width);
  return type;
}

inline void write_set(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& shape,
                      const void* bytes) {
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  const hid_t space = good(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
  const hid_t set = good(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (std::find(shape.begin(), shape.end(), 0U) == shape.end())
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
  H5Dclose(set);
  H5Sclose(space);
}

inline void put_text(unsigned char* to, std::string text) {
  text.resize(80, ' ');
  std::memcpy(to, text.data(), 80);
}

template <class T, class Put>
void write_list(hid_t file, const std::string& name, const std::map<std::string, T>& list, hid_t value_type,
                std::size_t value_bytes, bool name_first, Put&& put) {
  if (list.empty()) return;
  const std::size_t item = 80 + value_bytes, name_at = name_first ? 0 : value_bytes, value_at = name_first ? 80 : 0;
  const hid_t type = good(H5Tcreate(H5T_COMPOUND, item)), text = text_type(80);
  H5Tinsert(type, "name", name_at, text);
  H5Tinsert(type, "value", value_at, value_type);
  std::vector<unsigned char> bytes(list.size() * item);
  unsigned char* to = bytes.data();
  for (const auto& [key, value] : list) {
    put_text(to + name_at, key);
    put(to + value_at, value);
    to += item;
  }
  write_set(file, name, type, {list.size()}, bytes.data());
  H5Tclose(text);
  H5Tclose(type);
}

inline void write_lists(hid_t file, const FlashLists& lists) {
  for (const auto& [name, list] : lists.integers)
    write_list(file, name, list, H5T_NATIVE_INT, 4, name[0] == 'i',
               [](unsigned char* to, std::int32_t value) { std::memcpy(to, &value, 4); });
  for (const auto& [name, list] : lists.reals)
    write_list(file, name, list, H5T_NATIVE_DOUBLE, 8, true,
               [](unsigned char* to, double value) { std::memcpy(to, &value, 8); });
  const hid_t text = text_type(80);
  for (const auto& [name, list] : lists.texts)
    write_list(file, name, list, text, 80, false,
               [](unsigned char* to, const std::string& value) { put_text(to, value); });
  H5Tclose(text);
}

}  // namespace flash_detail

inline std::vector<FlashBox> flash_boxes(const FlashSpec& spec) {
  std::vector<FlashBox> boxes;
  for (int z = 0; z < spec.roots[2]; ++z)
    for (int y = 0; y < spec.roots[1]; ++y)
      for (int x = 0; x < spec.roots[0]; ++x) {
        const std::array<int, 3> at{x, y, z};
        FlashBox root;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const double size = (spec.hi[axis] - spec.lo[axis]) / spec.roots[axis];
          root.lo[axis] = spec.lo[axis] + at[axis] * size;
          root.hi[axis] = spec.lo[axis] + (at[axis] + 1) * size;
        }
        boxes.push_back(root);
        flash_detail::grow(spec, boxes, boxes.size() - 1);
      }
  return boxes;
}

inline FlashFile flash_file(const FlashSpec& spec) {
  FlashFile file;
  const std::vector<FlashBox> boxes = flash_boxes(spec);
  flash_detail::put_lists(spec, file, boxes.size());
  flash_detail::put_tree(spec, file, boxes);
  flash_detail::put_particles(spec, file, boxes);
  for (const char* name : {"dens", "h1  "}) flash_detail::put_variable(spec, file, boxes, name, 3);
  const std::array<const char*, 3> faces{"fcx2", "fcy2", "fcz2"};
  for (std::size_t axis = 0; spec.faces && axis < static_cast<std::size_t>(spec.dim); ++axis)
    flash_detail::put_variable(spec, file, boxes, faces[axis], axis);
  file.sets["unknown names"] = flash_texts(4, {"dens", "h1"});
  return file;
}

/// Replaces the file.
inline void write_fixture(const std::filesystem::path& path, const FlashFile& file) {
  const hid_t id = flash_detail::good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  flash_detail::write_lists(id, file.lists);
  for (const auto& [name, set] : file.sets) {
    const hid_t type = set.kind == 's' ? flash_detail::text_type(set.width)
                                       : H5Tcopy(set.kind == 'i'   ? H5T_NATIVE_INT
                                                 : set.kind == 'd' ? H5T_NATIVE_DOUBLE
                                                                   : H5T_NATIVE_FLOAT);
    flash_detail::write_set(id, name, type, set.shape, set.bytes.data());
    H5Tclose(type);
  }
  H5Fclose(id);
}

}  // namespace octavo::testing
#endif
