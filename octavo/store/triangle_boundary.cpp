#include "octavo/store/triangle_boundary.hpp"

#include <algorithm>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

template <class T>
std::vector<T> values_of(std::span<const mesh::Field> arrays, const std::string& name, int components,
                         std::size_t count) {
  for (const mesh::Field& field : arrays) {
    if (field.info.name != name) continue;
    const std::size_t expected = count * static_cast<std::size_t>(components);
    if (field.info.type != mesh::scalar_type_of<T>() || field.info.components != components || field.size() != expected)
      throw Error(Kind::corrupt, "expected " + std::to_string(components) + " numbers of " +
                                     std::string(mesh::name_of(mesh::scalar_type_of<T>())) + " for each of " +
                                     std::to_string(count) + " lines, found " + std::to_string(field.info.components) +
                                     " of " + std::string(mesh::name_of(field.info.type)) + ", " +
                                     std::to_string(field.size()) + " in all")
          .at("mesh boundary/" + name);
    const auto values = field.as<T>();
    return {values.begin(), values.end()};
  }
  throw Error(Kind::corrupt, "the mesh lacks boundary/" + name);
}

}  // namespace

BoundaryArrays boundary_of(std::span<const mesh::Field> arrays, std::int64_t points) {
  std::size_t count = 0;
  for (const mesh::Field& field : arrays)
    if (field.info.name == "point") count = field.size();
  BoundaryArrays out{values_of<std::int32_t>(arrays, "point", 1, count),
                     values_of<std::int32_t>(arrays, "codes", 4, count), values_of<double>(arrays, "values", 7, count),
                     values_of<std::int32_t>(arrays, "colour", 1, count)};
  for (const std::int32_t point : out.point)
    if (point < 0 || point >= points)
      throw Error(Kind::corrupt, "point on the boundary: expected 0 to " + std::to_string(points - 1) + ", found " +
                                     std::to_string(point))
          .at("mesh boundary/point");
  return out;
}

}  // namespace octavo::store
