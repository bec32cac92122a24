#pragma once
#include <cstddef>
#include <span>

#include "bindings.hpp"
#include "octavo/mesh/field.hpp"

/// Values as NumPy arrays. NumPy has no bfloat16: such values are given as their bits, in uint16.
namespace octavo::bindings {

inline nb::dlpack::dtype dtype_of(mesh::ScalarType type) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<std::uint8_t>(8 * mesh::size_of(type));
  const auto code = [&] {
    switch (type) {
      case mesh::ScalarType::float64:
      case mesh::ScalarType::float32:
      case mesh::ScalarType::float16: return Code::Float;
      case mesh::ScalarType::boolean: return Code::Bool;
      case mesh::ScalarType::int64:
      case mesh::ScalarType::int32:
      case mesh::ScalarType::int16:
      case mesh::ScalarType::int8: return Code::Int;
      default: return Code::UInt;
    }
  };
  return {static_cast<std::uint8_t>(code()), bits, 1};
}

/// A view of values that `owner` keeps alive, x fastest.
inline nb::object array_on(mesh::ScalarType type, const std::byte* values, std::span<const std::size_t> shape,
                           nb::handle owner, bool writable) {
  auto* data = const_cast<std::byte*>(values);
  if (writable)
    return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, dtype_of(type)));
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), owner, nullptr, dtype_of(type)));
}

}  // namespace octavo::bindings
