#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::mesh {

enum class ScalarType : std::uint8_t {
  float64 = 0,
  float32 = 1,
  int64 = 2,
  int32 = 3,
  int16 = 4,
  int8 = 5,
  uint64 = 6,
  uint8 = 7
};

std::size_t size_of(ScalarType type) noexcept;
/// NumPy's name: "float64", "int32" ...
std::string_view name_of(ScalarType type) noexcept;
/// The inverse of name_of; throws Error(corrupt) for any other text.
ScalarType scalar_type(std::string_view name);

template <class T>
ScalarType scalar_type_of();
template <>
inline ScalarType scalar_type_of<double>() {
  return ScalarType::float64;
}
template <>
inline ScalarType scalar_type_of<float>() {
  return ScalarType::float32;
}
template <>
inline ScalarType scalar_type_of<std::int64_t>() {
  return ScalarType::int64;
}
template <>
inline ScalarType scalar_type_of<std::int32_t>() {
  return ScalarType::int32;
}
template <>
inline ScalarType scalar_type_of<std::int16_t>() {
  return ScalarType::int16;
}
template <>
inline ScalarType scalar_type_of<std::int8_t>() {
  return ScalarType::int8;
}
template <>
inline ScalarType scalar_type_of<std::uint64_t>() {
  return ScalarType::uint64;
}
template <>
inline ScalarType scalar_type_of<std::uint8_t>() {
  return ScalarType::uint8;
}

constexpr bool is_integer(ScalarType type) noexcept {
  return type != ScalarType::float64 && type != ScalarType::float32;
}

/// Where on a cell a value stands.
enum class Centring : std::uint8_t { cell = 0, face_x = 1, face_y = 2, face_z = 3, node = 4, particle = 5 };

/// The description of a field, known without reading it.
struct FieldInfo {
  std::string name;
  std::string unit;  ///< empty: code units or dimensionless
  ScalarType type = ScalarType::float64;
  Centring centring = Centring::cell;
  int components = 1;  ///< values a place, the fastest index
  int ghost = 0;       ///< ghost cells around each block or patch, included in the values
  bool operator==(const FieldInfo&) const = default;
};

/// A field's values on one part, in native byte order.
/// On an octree: tree cells breadth first, then the block's cells x fastest, then components.
struct Field {
  FieldInfo info;
  std::vector<std::byte> bytes;

  std::size_t size() const noexcept { return bytes.size() / size_of(info.type); }
  /// All values as they are stored. Throws Error(usage) unless T is the field's type, `info.type`; to_doubles() takes
  /// any type. (A store written with `single_precision` holds float64 fields as float32.)
  template <class T>
  std::span<const T> as() const {
    check_type(scalar_type_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    check_type(scalar_type_of<T>());
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  bool operator==(const Field&) const = default;

 private:
  void check_type(ScalarType wanted) const {
    if (info.type != wanted) refuse_type(wanted);
  }
  [[noreturn]] void refuse_type(ScalarType wanted) const;
};

/// A field of `size` values, all zero bytes.
Field make_field(FieldInfo info, std::size_t size);

/// The values of a field of any type as doubles, exactly but for integers beyond 2^53.
std::vector<double> to_doubles(const Field& field);
/// Turns a float32 field into a float64 one; a field of another type stays as it is.
void widen(Field& field);

/// Calls f with a typed span of the field's values: visit_values(field, [](auto values) { ... }).
template <class F>
decltype(auto) visit_values(const Field& field, F&& f) {
  switch (field.info.type) {
    case ScalarType::float64: return f(field.as<double>());
    case ScalarType::float32: return f(field.as<float>());
    case ScalarType::int64: return f(field.as<std::int64_t>());
    case ScalarType::int32: return f(field.as<std::int32_t>());
    case ScalarType::int16: return f(field.as<std::int16_t>());
    case ScalarType::int8: return f(field.as<std::int8_t>());
    case ScalarType::uint64: return f(field.as<std::uint64_t>());
    default: return f(field.as<std::uint8_t>());
  }
}

}  // namespace octavo::mesh
