#include "octavo/mesh/field.hpp"

#include <gtest/gtest.h>

#include <utility>

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

TEST(field, is_never_seen_with_another_type) {
  FieldInfo info;
  info.name = "density";
  info.type = ScalarType::float32;
  Field field = make_field(info, 4);
  field.as<float>()[1] = 1.5F;
  const auto expect_refused = [](auto&& look) {
    try {
      look();
      ADD_FAILURE() << "another type was accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::usage);
      EXPECT_NE(std::string(error.what()).find("float32"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("density"), std::string::npos) << error.what();
    }
  };
  expect_refused([&] { field.as<double>(); });
  expect_refused([&] { field.as<std::int32_t>(); });
  expect_refused([&] { std::as_const(field).as<double>(); });
  // Also where it has no values: the program is wrong on every rank.
  expect_refused([&] { make_field(info, 0).as<double>(); });
  EXPECT_EQ(to_doubles(field), (std::vector<double>{0, 1.5, 0, 0}));
}

TEST(field, widens_float32_and_nothing_else) {
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64, ScalarType::int32}) {
    FieldInfo info;
    info.name = "a";
    info.unit = "cm";
    info.type = type;
    Field field = make_field(info, 3);
    const Field before = field;
    widen(field);
    if (type == ScalarType::float32) {
      EXPECT_EQ(field.info.type, ScalarType::float64);
      EXPECT_EQ(field.info.unit, "cm");
      EXPECT_EQ(field.as<double>().size(), 3U);
    } else {
      EXPECT_EQ(field, before);
    }
  }
}

}  // namespace
}  // namespace octavo::mesh
