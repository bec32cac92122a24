#include "octavo/mesh/field.hpp"

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

Field make_field(FieldInfo info, std::size_t size) {
  const std::size_t bytes = size * size_of(info.type);
  return {std::move(info), std::vector<std::byte>(bytes)};
}

}  // namespace octavo::mesh
