#include "octavo/step/read_box.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/walk.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using mesh::Index3;
using mesh::IndexBox;

constexpr int most_levels = 30;

// ------------------------------------------------------------------ the request

IndexBox checked_box(const mesh::Header& header, int level, const IndexBox& box) {
  const Index3 all = cells_of_level(header, level);
  const IndexBox flat = mesh::flat(box, header.dim);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (flat.lo[axis] < 0 || flat.lo[axis] >= flat.hi[axis] || flat.hi[axis] > all[axis])
      throw Error(Kind::usage, "box " + mesh::describe(box, header.dim) + ": expected cells of [0,0,0 to " +
                                   std::to_string(all[0]) + "," + std::to_string(all[1]) + "," +
                                   std::to_string(all[2]) + "), which level " + std::to_string(level) + " has");
  return flat;
}

const mesh::FieldInfo& checked_field(const mesh::Header& header, const std::string& name, const BoxMemory& array) {
  const mesh::ScalarType type = array.type;
  const mesh::FieldInfo& info = header.fields[mesh::select_fields(header, std::vector{name}).at(0)];
  if (!takes(type, info.type))
    throw Error(Kind::usage, "memory for a field: expected values of " + std::string(name_of(info.type)) + ", found " +
                                 std::string(name_of(type)))
        .at("field " + name);
  if (array.components != 0 && array.components != info.components)
    throw Error(Kind::usage, "memory for a field: expected " + std::to_string(info.components) + " components, found " +
                                 std::to_string(array.components))
        .at("field " + name);
  if (info.centring == mesh::Centring::node || info.ghost != 0)
    throw Error(Kind::unsupported, "a field with values at corners, or ghost cells, has no value for a cell alone")
        .at("field " + name);
  return info;
}

// Whether the memory is of a wider type than the field's floats of 16 bits, which then become float32 on the way.
bool widens_half(const mesh::FieldInfo& info, const BoxMemory& array) {
  return mesh::is_half(info.type) && array.type != info.type;
}

mesh::Region region_of(const mesh::Header& header, int level, const IndexBox& box) {
  const mesh::Point3 cell = cell_size(header, level);
  mesh::Box region;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double scale = cell[axis] / (header.hi[0] - header.lo[0]);
    region.lo[axis] = static_cast<double>(box.lo[axis]) * scale;
    region.hi[axis] = static_cast<double>(box.hi[axis]) * scale;
  }
  return region;
}

// ------------------------------------------------------------------ values to their places

// Consecutive tree cells of a level, each one to the right of the one before.
struct CellRow {
  std::size_t cell = 0, count = 0;
  mesh::Coordinate at{};
};

// Copies values of the cells of one level into the cells of the box that lie in them.
class Filler {
 public:
  Filler(const mesh::Header& header, const mesh::FieldInfo& info, const IndexBox& box, int level,
         const BoxMemory& array)
      : info_(info),
        block_(header.block),
        box_(box),
        level_(level),
        array_(array),
        widens_half_(widens_half(info, array)) {
    if (widens_half_) info_.type = mesh::ScalarType::float32;
    if (array_.stride_component == 0) array_.stride_component = 1;
    std::int64_t packed = info.components;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (array_.stride[axis] == 0) array_.stride[axis] = packed;
      packed = array_.stride[axis] * (box.hi[axis] - box.lo[axis]);
    }
  }

  // The cells of the box that a tree cell covers.
  std::optional<IndexBox> covered(int level, const mesh::Coordinate& at) const {
    return covered(level, {at[0] * block_[0], at[1] * block_[1], at[2] * block_[2]}, block_);
  }

  std::size_t bytes_of_cell() const {
    return static_cast<std::size_t>(block_[0] * block_[1] * block_[2] * info_.components) * size_of(info_.type);
  }

  // The field's values in the type in which `take` takes them. `wide` keeps them if they are not the field's own bytes.
  std::span<const std::byte> values_of(const mesh::Field& field, std::vector<float>& wide) const {
    if (!widens_half_) return field.bytes;
    wide = half_values(field);
    return std::as_bytes(std::span(wide));
  }

  // Values of all cells of a level, of which those in the rows are taken.
  void take(int level, const std::vector<CellRow>& rows, std::span<const std::byte> values) {
    const std::size_t scalar = size_of(info_.type), of_cell = bytes_of_cell() / scalar;
    for (const CellRow& row : rows)
      for (std::size_t place = 0; place < row.count * of_cell; ++place)
        put(level, row.at, place, values.data() + (row.cell * of_cell + place) * scalar);
  }

  std::int64_t filled() const { return filled_; }

 private:
  std::optional<IndexBox> covered(int level, const Index3& at, const Index3& extent) const {
    IndexBox fine{{0, 0, 0}, {1, 1, 1}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      fine.lo[axis] = at[axis] << (level_ - level);
      fine.hi[axis] = (at[axis] + extent[axis]) << (level_ - level);
    }
    return intersection(fine, box_, 3);
  }

  // `place` counts the values of the row's cells.
  void put(int level, const mesh::Coordinate& row, std::size_t place, const std::byte* value) {
    const auto components = static_cast<std::size_t>(info_.components);
    const std::size_t component = place % components;
    auto cell = static_cast<std::int64_t>(place / components);
    const std::int64_t x = cell % block_[0];
    cell /= block_[0];
    const std::int64_t y = cell % block_[1];
    cell /= block_[1];
    const std::int64_t z = cell % block_[2], right = cell / block_[2];
    const auto fine =
        covered(level, {(row[0] + right) * block_[0] + x, row[1] * block_[1] + y, row[2] * block_[2] + z}, {1, 1, 1});
    if (!fine) return;
    for_each_row(*fine, [&](const Index3& at, std::int64_t length) {
      std::int64_t to = static_cast<std::int64_t>(component) * array_.stride_component;
      for (std::size_t axis = 0; axis < 3; ++axis) to += (at[axis] - box_.lo[axis]) * array_.stride[axis];
      for (std::int64_t i = 0; i < length; ++i, to += array_.stride[0]) set(to, value);
    });
    if (component == 0) filled_ += num_cells(*fine, 3);
  }

  void set(std::int64_t to, const std::byte* value) const {
    auto* memory = static_cast<std::byte*>(array_.values) + to * static_cast<std::int64_t>(size_of(array_.type));
    if (size_of(array_.type) == size_of(info_.type)) {
      std::memcpy(memory, value, size_of(info_.type));
    } else {
      float narrow = 0;
      std::memcpy(&narrow, value, sizeof narrow);
      const double wide = narrow;
      std::memcpy(memory, &wide, sizeof wide);
    }
  }

  mesh::FieldInfo info_;
  Index3 block_;
  IndexBox box_;
  int level_;  // tree level index of the box
  BoxMemory array_;
  bool widens_half_;
  std::int64_t filled_ = 0;
};

// The owned cells of a part that give values to the box: leaves, and all of the box's own level.
std::vector<std::vector<CellRow>> rows_of(const mesh::Octree& tree, int deepest, const Filler& filler) {
  std::vector<std::vector<CellRow>> rows(static_cast<std::size_t>(std::min(deepest + 1, num_levels(tree))));
  mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    if (!filler.covered(level, at)) return false;
    const auto l = static_cast<std::size_t>(level);
    if (level < deepest && tree.refined[l][cell]) return true;
    if (!tree.owned[l][cell]) return false;
    std::vector<CellRow>& list = rows[l];
    if (!list.empty()) {
      CellRow& row = list.back();
      const mesh::Coordinate next{row.at[0] + static_cast<std::uint32_t>(row.count), row.at[1], row.at[2]};
      if (row.cell + row.count == cell && next == at) {
        ++row.count;
        return false;
      }
    }
    list.push_back({cell, 1, at});
    return false;
  });
  return rows;
}

const mesh::Field& field_of(const mesh::Part& part, const std::string& name) {
  return *std::find_if(part.fields.begin(), part.fields.end(),
                       [&](const mesh::Field& field) { return field.info.name == name; });
}

void fill_from(const mesh::Part& part, int deepest, std::span<const std::string> fields, std::vector<Filler>& fillers) {
  const auto* tree = std::get_if<mesh::Octree>(&part.mesh);
  if (tree == nullptr) throw Error(Kind::unsupported, "a box of cells of a mesh that is no tree");
  const auto rows = rows_of(*tree, deepest, fillers[0]);  // the box is the same for all
  const auto offsets = level_offsets(*tree);
  for (std::size_t f = 0; f < fillers.size(); ++f) {
    std::vector<float> wide;
    const std::span<const std::byte> values = fillers[f].values_of(field_of(part, fields[f]), wide);
    const std::size_t width = fillers[f].bytes_of_cell();
    if (values.size() != offsets.back() * width)
      throw Error(Kind::unsupported, "a field with other than one value a cell").at("field " + fields[f]);
    for (std::size_t level = 0; level < rows.size(); ++level)
      fillers[f].take(static_cast<int>(level), rows[level],
                      values.subspan(offsets[level] * width, (offsets[level + 1] - offsets[level]) * width));
  }
}

// ------------------------------------------------------------------ triangles

// The mesh without its values; and the places of the points inside.
std::vector<std::size_t> places_inside(const mesh::Unstructured& mesh, const std::array<double, 2>& lo,
                                       const std::array<double, 2>& hi) {
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < mesh.x.size(); ++p)
    if (mesh.x[p] >= lo[0] && mesh.x[p] < hi[0] && mesh.y[p] >= lo[1] && mesh.y[p] < hi[1]) places.push_back(p);
  return places;
}

PointsInBox points_at(const mesh::Unstructured& mesh, const std::vector<std::size_t>& places) {
  PointsInBox out;
  out.planes = mesh.planes;
  std::vector<std::int64_t> position(mesh.x.size(), -1);
  for (const std::size_t p : places) {
    position[p] = std::ssize(out.point);
    out.point.push_back(mesh.global_point.empty() ? static_cast<std::int64_t>(p) : mesh.global_point[p]);
    out.x.push_back(mesh.x[p]);
    out.y.push_back(mesh.y[p]);
  }
  for (std::size_t t = 0; t < mesh.connectivity.size() / 3; ++t) {
    std::array<std::int64_t, 3> corners{};
    for (std::size_t c = 0; c < 3; ++c) corners[c] = position[static_cast<std::size_t>(mesh.connectivity[3 * t + c])];
    if (*std::min_element(corners.begin(), corners.end()) < 0) continue;
    out.triangle.push_back(static_cast<std::int64_t>(t));
    out.connectivity.insert(out.connectivity.end(), corners.begin(), corners.end());
  }
  return out;
}

mesh::Field values_at(const mesh::Field& field, const std::vector<std::size_t>& places, std::size_t points,
                      std::size_t planes) {
  const std::size_t width = points == 0 ? 0 : field.bytes.size() / points / planes;
  mesh::Field out{field.info, std::vector<std::byte>(places.size() * planes * width)};
  std::byte* to = out.bytes.data();
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (const std::size_t p : places) {
      std::memcpy(to, field.bytes.data() + (plane * points + p) * width, width);
      to += width;
    }
  return out;
}

}  // namespace

bool takes(mesh::ScalarType memory, mesh::ScalarType field) noexcept {
  using mesh::ScalarType;
  if (memory == field) return true;
  if (memory == ScalarType::float64) return field == ScalarType::float32 || mesh::is_half(field);
  if (memory == ScalarType::float32) return mesh::is_half(field);
  return memory == ScalarType::uint8 && field == ScalarType::boolean;
}

Index3 cells_of_level(const mesh::Header& header, int level) {
  const int index = level_index(header, level);
  if (index < 0 || index > most_levels)
    throw Error(Kind::usage, "level: expected " + std::to_string(code_level(header, 0)) + " to " +
                                 std::to_string(code_level(header, most_levels)) + ", found " + std::to_string(level));
  Index3 cells{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    cells[axis] = header.roots[axis] * header.block[axis] << index;
  return cells;
}

std::vector<std::int64_t> read_box(const mesh::Dataset& dataset, std::span<const std::string> fields, int level,
                                   const IndexBox& wanted, std::span<const BoxMemory> arrays) {
  const mesh::Header& header = dataset.header;
  if (dataset.unstructured)
    throw Error(Kind::unsupported, "a box of cells of a mesh of triangles").at(dataset.path).hint("read its points");
  const IndexBox box = checked_box(header, level, wanted);
  const int index = level_index(header, level);
  std::vector<Filler> fillers;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    fillers.emplace_back(header, checked_field(header, fields[f], arrays[f]), box, index, arrays[f]);
    if (arrays[f].values == nullptr)
      throw Error(Kind::usage, "there is no memory for the box").at("field " + fields[f]);
  }
  if (fillers.empty()) return {};
  mesh::Request request;
  request.fields.emplace(fields.begin(), fields.end());
  request.max_level = level;
  for (const int part : mesh::parts_of(dataset, region_of(header, index, box), level)) try {
      fill_from(dataset.read(part, request), index, fields, fillers);
    } catch (Error& error) {
      throw error.at(dataset.path);
    }
  std::vector<std::int64_t> missing;
  for (const Filler& filler : fillers) missing.push_back(num_cells(box, 3) - filler.filled());
  return missing;
}

std::int64_t read_box(const mesh::Dataset& dataset, const std::string& field, int level, const IndexBox& box,
                      const BoxMemory& array) {
  return read_box(dataset, std::span(&field, 1), level, box, std::span(&array, 1)).front();
}

PointsInBox read_points(const mesh::Dataset& dataset, const std::array<double, 2>& lo, const std::array<double, 2>& hi,
                        const std::vector<std::string>& fields) {
  mesh::refuse_solids(dataset, "points in a rectangle are of meshes of triangles");
  if (!dataset.unstructured || dataset.num_parts != 1)
    throw Error(Kind::unsupported, "points are read of a mesh of triangles").at(dataset.path);
  if (!(lo[0] < hi[0]) || !(lo[1] < hi[1]))
    throw Error(Kind::usage, "the box's upper corner is not above its lower one");
  const auto chosen = mesh::select_fields(dataset.header, fields);
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  const mesh::Part read = dataset.read(0, request);
  const auto& mesh = std::get<mesh::Unstructured>(read.mesh);
  const auto places = places_inside(mesh, lo, hi);
  PointsInBox out = points_at(mesh, places);
  request.mesh = false;
  for (const std::size_t f : chosen) {
    request.fields = std::vector<std::string>{dataset.header.fields[f].name};
    if (mesh::in_cells(dataset.header, dataset.header.fields[f]))
      throw Error(Kind::unsupported, "its values stand in cells: expected values at points")
          .at("field " + dataset.header.fields[f].name)
          .at(dataset.path);
    out.fields.push_back(
        values_at(dataset.read(0, request).fields.at(0), places, mesh.x.size(), static_cast<std::size_t>(mesh.planes)));
  }
  return out;
}

}  // namespace octavo::step
