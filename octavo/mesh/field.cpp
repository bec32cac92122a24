#include "octavo/mesh/field.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

struct ScalarRow {
  std::string_view name;
  std::size_t size;
};

// By the value of ScalarType.
constexpr std::array<ScalarRow, 12> scalar_rows{{{"float64", 8},
                                                 {"float32", 4},
                                                 {"int64", 8},
                                                 {"int32", 4},
                                                 {"int16", 2},
                                                 {"int8", 1},
                                                 {"uint64", 8},
                                                 {"uint8", 1},
                                                 {"uint32", 4},
                                                 {"bool", 1},
                                                 {"float16", 2},
                                                 {"bfloat16", 2}}};

// IEEE 754 binary16: a sign, 5 bits of exponent with bias 15, 10 of mantissa.
float from_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  if (exponent == 31)  // infinite, or a NaN, whose payload stays
    return std::bit_cast<float>(sign | 0x7F800000U | static_cast<std::uint32_t>(mantissa) << 13);
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                   : std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(size));
}

}  // namespace

std::size_t size_of(ScalarType type) noexcept { return scalar_rows[static_cast<std::size_t>(type)].size; }

std::string_view name_of(ScalarType type) noexcept { return scalar_rows[static_cast<std::size_t>(type)].name; }

ScalarType scalar_type(std::string_view name) {
  for (std::size_t i = 0; i < scalar_rows.size(); ++i)
    if (scalar_rows[i].name == name) return static_cast<ScalarType>(i);
  throw base::Error(base::Kind::unsupported,
                    "unknown scalar type \"" + std::string(name) + "\", expected float64, float32, int64 ...");
}

void Field::refuse_type(ScalarType wanted) const {
  if (is_half(info.type))
    throw base::Error(base::Kind::unsupported,
                      "values of " + std::string(name_of(info.type)) + " can be read and copied, but not worked with")
        .at("field " + info.name);
  throw base::Error(base::Kind::usage, "values of a field: asked for " + std::string(name_of(wanted)) + ", they are " +
                                           std::string(name_of(info.type)))
      .at("field " + info.name);
}

Field make_field(FieldInfo info, std::size_t size) {
  const std::size_t bytes = size * size_of(info.type);
  return {std::move(info), std::vector<std::byte>(bytes)};
}

std::vector<double> to_doubles(const Field& field) {
  return visit_values(field, [](auto values) { return std::vector<double>(values.begin(), values.end()); });
}

std::vector<float> half_values(const Field& field) {
  std::vector<float> values(field.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, field.bytes.data() + i * sizeof bits, sizeof bits);
    values[i] = field.info.type == ScalarType::float16 ? from_float16(bits)
                                                       : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  return values;
}

void widen(Field& field) {
  if (field.info.type != ScalarType::float32) return;
  const std::vector<double> values = to_doubles(field);
  FieldInfo info = field.info;
  info.type = ScalarType::float64;
  field = make_field(std::move(info), values.size());
  std::copy(values.begin(), values.end(), field.as<double>().begin());
}

}  // namespace octavo::mesh
