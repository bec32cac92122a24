#include "octavo/mesh/field.hpp"

#include <gtest/gtest.h>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

TEST(scalar_type, names_and_sizes_belong_together) {
  for (int i = 0; i < 8; ++i) {
    const auto type = static_cast<ScalarType>(i);
    EXPECT_EQ(scalar_type(name_of(type)), type);
    const std::string name(name_of(type));
    EXPECT_EQ(size_of(type) * 8, std::stoul(name.substr(name.find_first_of("0123456789"))));
  }
  EXPECT_EQ(name_of(ScalarType::float64), "float64");
  EXPECT_EQ(name_of(ScalarType::uint8), "uint8");
}

TEST(scalar_type, any_other_name_is_refused) {
  for (const char* name : {"", "float", "float16", "FLOAT64", "float64 "}) try {
      scalar_type(name);
      FAIL() << name << " was accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::corrupt);
    }
}

TEST(field, is_made_of_zeros_and_seen_with_its_type) {
  FieldInfo info;
  info.name = "id";
  info.type = ScalarType::int32;
  Field field = make_field(info, 5);
  EXPECT_EQ(field.size(), 5U);
  EXPECT_EQ(field.bytes.size(), 20U);
  field.as<std::int32_t>()[3] = -7;
  visit_values(field, [](auto values) {
    EXPECT_EQ(sizeof(values[0]), 4U);
    EXPECT_EQ(static_cast<int>(values[3]), -7);
    EXPECT_EQ(static_cast<int>(values[4]), 0);
  });
}

TEST(field, is_visited_with_the_type_it_says) {
  for (int i = 0; i < 8; ++i) {
    FieldInfo info;
    info.type = static_cast<ScalarType>(i);
    visit_values(make_field(info, 3), [&](auto values) {
      using T = std::remove_const_t<typename decltype(values)::element_type>;
      EXPECT_EQ(scalar_type_of<T>(), info.type);
      EXPECT_EQ(values.size(), 3U);
    });
  }
}

}  // namespace
}  // namespace octavo::mesh
