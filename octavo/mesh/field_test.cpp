#include "octavo/mesh/field.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

TEST(scalar_type, names_and_sizes_belong_together) {
  for (int i = 0; i < 12; ++i) {
    const auto type = static_cast<ScalarType>(i);
    EXPECT_EQ(scalar_type(name_of(type)), type);
    if (type == ScalarType::boolean) continue;
    const std::string name(name_of(type));
    EXPECT_EQ(size_of(type) * 8, std::stoul(name.substr(name.find_first_of("0123456789"))));
  }
  EXPECT_EQ(name_of(ScalarType::float64), "float64");
  EXPECT_EQ(name_of(ScalarType::uint8), "uint8");
}

TEST(scalar_type, any_other_name_is_refused) {
  for (const char* name : {"", "float", "float8", "FLOAT64", "float64 "}) try {
      scalar_type(name);
      FAIL() << name << " was accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::unsupported);
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

TEST(field, floats_of_16_bits_widen_exactly) {
  struct Case {
    ScalarType type;
    std::uint16_t bits;
    float value;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // Numbers of binary16: the largest, the least normal and subnormal numbers, as IEEE 754-2008 has them.
  for (const auto& [type, bits, value] :
       {Case{ScalarType::float16, 0x3C00, 1.0F}, Case{ScalarType::float16, 0xC000, -2.0F},
        Case{ScalarType::float16, 0x7BFF, 65504.0F}, Case{ScalarType::float16, 0x0400, 0x1p-14F},
        Case{ScalarType::float16, 0x0001, 0x1p-24F}, Case{ScalarType::float16, 0x8001, -0x1p-24F},
        Case{ScalarType::float16, 0xFC00, -infinity}, Case{ScalarType::float16, 0x3555, 0x1.554p-2F},
        Case{ScalarType::bfloat16, 0x3F80, 1.0F}, Case{ScalarType::bfloat16, 0xC049, -3.140625F},
        Case{ScalarType::bfloat16, 0x7F80, infinity}}) {
    Field field = make_field({"x", "", type, Centring::cell, 1, 0}, 1);
    std::memcpy(field.bytes.data(), &bits, sizeof bits);
    EXPECT_EQ(half_values(field).at(0), value) << bits;
    EXPECT_EQ(to_doubles(field).at(0), static_cast<double>(value));
    EXPECT_THROW(field.as<float>(), base::Error);
  }
  Field nan = make_field({"x", "", ScalarType::float16, Centring::cell, 1, 0}, 2);
  for (const std::size_t byte : {1U, 3U}) nan.bytes[byte] = std::byte{0x7E};
  EXPECT_TRUE(std::isnan(half_values(nan)[0]));
}

TEST(field, booleans_are_bytes) {
  Field field = make_field({"x", "", ScalarType::boolean, Centring::cell, 1, 0}, 3);
  field.as<std::uint8_t>()[1] = 1;
  EXPECT_EQ(to_doubles(field), (std::vector<double>{0, 1, 0}));
  EXPECT_THROW(field.as<std::int8_t>(), base::Error);
}

TEST(field, is_visited_with_the_type_it_says) {
  for (int i = 0; i < 12; ++i) {
    FieldInfo info;
    info.type = static_cast<ScalarType>(i);
    visit_values(make_field(info, 3), [&](auto values) {
      using T = std::remove_const_t<typename decltype(values)::element_type>;
      EXPECT_EQ(scalar_type_of<T>(), i < 9 ? info.type : i == 9 ? ScalarType::uint8 : ScalarType::float32);
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
  // Throws even if there are no values: the program is wrong on every rank.
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
