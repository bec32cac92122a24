#include "octavo/formats/vtkhdf/field_type.hpp"

#include <utility>

namespace octavo::formats::vtkhdf {
namespace {

template <class To>
mesh::Field converted(const mesh::Field& field) {
  mesh::FieldInfo info = field.info;
  info.type = mesh::scalar_type_of<To>();
  mesh::Field out = mesh::make_field(info, field.size());
  mesh::visit_values(field, [to = out.as<To>().data()](auto values) mutable {
    for (const auto value : values) *to++ = static_cast<To>(value);
  });
  return out;
}

}  // namespace

mesh::ScalarType type_in_file(mesh::ScalarType type, bool single_precision) {
  using mesh::ScalarType;
  if (!mesh::is_integer(type))
    return single_precision || type != ScalarType::float64 ? ScalarType::float32 : ScalarType::float64;
  switch (type) {
    case ScalarType::boolean:
    case ScalarType::uint8: return ScalarType::uint8;
    case ScalarType::int8:
    case ScalarType::int16:
    case ScalarType::int32: return ScalarType::int32;
    default: return ScalarType::int64;
  }
}

mesh::Field as_in_file(mesh::Field field, mesh::ScalarType type) {
  if (field.info.type == type) return field;
  switch (type) {
    case mesh::ScalarType::float64: return converted<double>(field);
    case mesh::ScalarType::float32: return converted<float>(field);
    case mesh::ScalarType::int32: return converted<std::int32_t>(field);
    case mesh::ScalarType::uint8: return converted<std::uint8_t>(field);
    default: return converted<std::int64_t>(field);
  }
}

file::hdf5::ItemType item_type_of(mesh::ScalarType type) {
  switch (type) {
    case mesh::ScalarType::float64: return file::hdf5::float64_type;
    case mesh::ScalarType::float32: return file::hdf5::float32_type;
    case mesh::ScalarType::int32: return file::hdf5::int32_type;
    case mesh::ScalarType::uint8: return file::hdf5::uint8_type;
    default: return file::hdf5::int64_type;
  }
}

}  // namespace octavo::formats::vtkhdf
