#include "octavo/store/triangle_boundary.hpp"

#include <algorithm>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

template <class T>
std::vector<T> values_of(const mesh::Particles& species, const std::string& name, int components) {
  for (const mesh::Field& field : species.attributes) {
    if (field.info.name != name) continue;
    const auto expected = static_cast<std::size_t>(species.count) * static_cast<std::size_t>(components);
    if (field.info.type != mesh::scalar_type_of<T>() || field.info.components != components || field.size() != expected)
      throw Error(Kind::corrupt, "expected " + std::to_string(components) + " numbers of " +
                                     std::string(mesh::name_of(mesh::scalar_type_of<T>())) + " for each of " +
                                     std::to_string(species.count) + " lines, found " +
                                     std::to_string(field.info.components) + " of " +
                                     std::string(mesh::name_of(field.info.type)) + ", " + std::to_string(field.size()) +
                                     " in all")
          .at(species.species + "/" + name);
    const auto values = field.as<T>();
    return {values.begin(), values.end()};
  }
  throw Error(Kind::corrupt, "the boundary of a mesh lacks " + name);
}

}  // namespace

mesh::Particles boundary_of(const BoundaryArrays& boundary) {
  return {boundary_species,
          static_cast<std::int64_t>(boundary.point.size()),
          {mesh::attribute_of("point", boundary.point), mesh::attribute_of("codes", boundary.codes, 4),
           mesh::attribute_of("values", boundary.values, 7), mesh::attribute_of("colour", boundary.colour)}};
}

BoundaryArrays boundary_in(const mesh::Particles& species, std::int64_t points) {
  BoundaryArrays out{values_of<std::int32_t>(species, "point", 1), values_of<std::int32_t>(species, "codes", 4),
                     values_of<double>(species, "values", 7), values_of<std::int32_t>(species, "colour", 1)};
  for (const std::int32_t point : out.point)
    if (point < 0 || point >= points)
      throw Error(Kind::corrupt, "point on the boundary: expected 0 to " + std::to_string(points - 1) + ", found " +
                                     std::to_string(point))
          .at(species.species);
  return out;
}

}  // namespace octavo::store
