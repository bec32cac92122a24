#include "octavo/mesh/geometry.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

/// Which quantity of the mesh a field holds, found by its name. `axis` is set for the fields x, y and z.
struct Quantity {
  enum class What : std::uint8_t { none, centre, edge, volume, level } what = What::none;
  std::size_t axis = 0;
};

Quantity kind_of(const std::string& name, int dim) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (name == std::string(1, "xyz"[axis])) return {Quantity::What::centre, axis};
  if (name == "dx") return {Quantity::What::edge};
  if (name == "cell_volume") return {Quantity::What::volume};
  if (name == "level") return {Quantity::What::level};
  return {};
}

bool names_one_of(const std::string& name, const std::vector<FieldInfo>& fields) {
  return std::any_of(fields.begin(), fields.end(), [&](const FieldInfo& info) { return info.name == name; });
}

FieldInfo info_of(const std::string& name, const Header& header) {
  const Quantity kind = kind_of(name, header.dim);
  FieldInfo info;
  info.name = name;
  info.type = kind.what == Quantity::What::level ? ScalarType::int32 : ScalarType::float64;
  info.unit = geometry_unit(header, name);
  return info;
}

/// Calls visit(level index, value index, position in cells of that level) for each value of the tree.
template <class Visit>
void for_each_value(const Octree& tree, Visit&& visit) {
  auto coordinates = root_coordinates(tree);
  std::size_t value = 0;
  for (int level = 0; level < num_levels(tree); ++level) {
    if (level > 0) coordinates = child_coordinates(tree, level - 1, coordinates);
    for (const Coordinate& cell : coordinates)
      for (std::int64_t z = 0; z < tree.block[2]; ++z)
        for (std::int64_t y = 0; y < tree.block[1]; ++y)
          for (std::int64_t x = 0; x < tree.block[0]; ++x)
            visit(level, value++,
                  Index3{cell[0] * tree.block[0] + x, cell[1] * tree.block[1] + y, cell[2] * tree.block[2] + z});
  }
}

Field compute(const FieldInfo& info, const Octree& tree, const Header& header) {
  const Quantity kind = kind_of(info.name, header.dim);
  Field field = make_field(info, num_cells(tree) * block_size(tree));
  std::vector<Point3> sizes;
  for (int level = 0; level < num_levels(tree); ++level) sizes.push_back(cell_size(header, level));
  if (kind.what == Quantity::What::level) {
    const auto values = field.as<std::int32_t>();
    for_each_value(tree, [&](int level, std::size_t i, const Index3&) { values[i] = code_level(header, level); });
    return field;
  }
  const auto values = field.as<double>();
  const bool rings = kind.what == Quantity::What::volume && cell_shape(header) == CellShape::ring;
  for_each_value(tree, [&](int level, std::size_t i, const Index3& at) {
    const Point3& size = sizes[static_cast<std::size_t>(level)];
    double value = size[0];
    if (kind.what == Quantity::What::centre)
      value = header.lo[kind.axis] + (static_cast<double>(at[kind.axis]) + 0.5) * size[kind.axis];
    for (std::size_t axis = 1; kind.what == Quantity::What::volume && axis < static_cast<std::size_t>(header.dim);
         ++axis)
      value *= size[axis];
    // With the radius of the cell's middle this is exactly the volume of the ring (Pappus).
    if (rings) value *= 2 * std::numbers::pi * (header.lo[0] + (static_cast<double>(at[0]) + 0.5) * size[0]);
    values[i] = value;
  });
  return field;
}

void refuse_other_volumes(const Header& header, const std::vector<FieldInfo>& made) {
  if (cell_shape(header) != CellShape::other) return;
  for (const FieldInfo& info : made)
    if (kind_of(info.name, header.dim).what == Quantity::What::volume)
      throw base::Error(base::Kind::unsupported,
                        "the coordinates are neither Cartesian nor r and z: cells have no known volume")
          .hint("sums and means that count each cell alike: --weight none");
}

}  // namespace

CellShape cell_shape(const Header& header) {
  bool turned = false, cartesian = true;
  const auto flash = header.attributes.find("string scalars/geometry");
  if (flash != header.attributes.end())
    if (const auto* text = std::get_if<std::string>(&flash->second); text != nullptr && !text->empty()) {
      turned = *text == "cylindrical";
      cartesian = *text == "cartesian";
    }
  const auto amrex = header.attributes.find("coordinate_system");
  if (amrex != header.attributes.end())
    if (const auto* number = std::get_if<std::int64_t>(&amrex->second)) {
      turned = *number == 1;
      cartesian = *number == 0;
    }
  if (cartesian) return CellShape::box;
  return turned && header.dim == 2 ? CellShape::ring : CellShape::other;
}

std::string note_on_shape(const Header& header) {
  switch (cell_shape(header)) {
    case CellShape::box: return {};
    case CellShape::ring:
      return "the coordinates are r and z: a cell's volume is that of a ring, 2 pi r dr dz; pictures show the plane";
    default: return "the coordinates are neither Cartesian nor r and z: no volumes, masses and integrals are given";
  }
}

std::string geometry_unit(const Header& header, const std::string& name) {
  const Quantity kind = kind_of(name, header.dim);
  if (kind.what == Quantity::What::level || kind.what == Quantity::What::none) return {};
  if (kind.what != Quantity::What::volume) return "code_length";
  return "code_length**" + std::to_string(cell_shape(header) == CellShape::ring ? 3 : header.dim);
}

Dataset with_geometry(Dataset dataset, const std::vector<std::string>& names) {
  std::vector<FieldInfo> made;
  for (const std::string& name : names)
    if (!names_one_of(name, dataset.header.fields) && !names_one_of(name, made) &&
        kind_of(name, dataset.header.dim).what != Quantity::What::none)
      made.push_back(info_of(name, dataset.header));
  if (made.empty() || dataset.unstructured) return dataset;
  refuse_other_volumes(dataset.header, made);
  const auto stored = [made](Request request) {
    if (request.fields) std::erase_if(*request.fields, [&](const auto& name) { return names_one_of(name, made); });
    return request;
  };
  if (dataset.cost)
    dataset.cost = [cost = dataset.cost, stored](int index, const Request& request) {
      return cost(index, stored(request));
    };
  dataset.read = [read = dataset.read, header = dataset.header, made, stored](int index, const Request& request) {
    Part part = read(index, stored(request));
    for (const FieldInfo& info : made)
      if (!request.fields ||
          std::find(request.fields->begin(), request.fields->end(), info.name) != request.fields->end())
        part.fields.push_back(compute(info, std::get<Octree>(part.mesh), header));
    return part;
  };
  dataset.header.fields.insert(dataset.header.fields.end(), made.begin(), made.end());
  return dataset;
}

}  // namespace octavo::mesh
