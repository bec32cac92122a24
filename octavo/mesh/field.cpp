#include "octavo/mesh/field.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

struct ScalarRow {
  std::string_view name;
  std::size_t size;
};

// By the value of ScalarType.
constexpr std::array<ScalarRow, 8> scalar_rows{{{"float64", 8},
                                                {"float32", 4},
                                                {"int64", 8},
                                                {"int32", 4},
                                                {"int16", 2},
                                                {"int8", 1},
                                                {"uint64", 8},
                                                {"uint8", 1}}};

}  // namespace

std::size_t size_of(ScalarType type) noexcept { return scalar_rows[static_cast<std::size_t>(type)].size; }

std::string_view name_of(ScalarType type) noexcept { return scalar_rows[static_cast<std::size_t>(type)].name; }

ScalarType scalar_type(std::string_view name) {
  for (std::size_t i = 0; i < scalar_rows.size(); ++i)
    if (scalar_rows[i].name == name) return static_cast<ScalarType>(i);
  throw base::Error(base::Kind::corrupt,
                    "unknown scalar type \"" + std::string(name) + "\", expected float64, float32, int64 ...");
}

void Field::refuse_type(ScalarType wanted) const {
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

void widen(Field& field) {
  if (field.info.type != ScalarType::float32) return;
  const std::vector<double> values = to_doubles(field);
  FieldInfo info = field.info;
  info.type = ScalarType::float64;
  field = make_field(std::move(info), values.size());
  std::copy(values.begin(), values.end(), field.as<double>().begin());
}

}  // namespace octavo::mesh
