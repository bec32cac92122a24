#include "octavo/mesh/units.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

TEST(Units, text_is_read_and_written_again) {
  for (const char* text : {"g/cm**3", "code_mass/code_length/code_time**2", "M**2/S", "1/cm", "Msun"})
    EXPECT_EQ(to_string(parse_unit(text)), text);
  EXPECT_EQ(parse_unit("g cm^-3"), parse_unit("g/cm/cm/cm"));
  EXPECT_EQ(parse_unit(" km / s "), parse_unit("km/s"));
  EXPECT_TRUE(parse_unit("km/km").empty());
  EXPECT_EQ(to_string(product({}, parse_unit("cm"), 0.5)), "");
  for (const char* text : {"", " ", "furlong", "g^1.5", "3", "g/", "g**", "cm-3", "g^99999999999"})
    EXPECT_THROW(parse_unit(text), base::Error) << text;
}

TEST(Units, sizes_are_known_as_far_as_the_code_says_them) {
  const CodeUnits code{3e21, 2e43, 1e13}, none{NAN, NAN, NAN};
  EXPECT_DOUBLE_EQ(size_in_cgs(parse_unit("code_length/code_time"), code), 3e8);
  EXPECT_DOUBLE_EQ(size_in_code_units(parse_unit("km/s"), code), 1e5 / 3e8);
  EXPECT_EQ(size_in_code_units(parse_unit("code_density"), none), 1);
  EXPECT_EQ(size_in_code_units(parse_unit("K"), none), 1);
  EXPECT_TRUE(std::isnan(size_in_code_units(parse_unit("km"), none)));
  EXPECT_TRUE(std::isnan(size_in_cgs(parse_unit("code_mass"), none)));
}

TEST(Units, kinds_and_examples_are_in_words) {
  EXPECT_EQ(kind_of_unit(powers_of(parse_unit("g/cm**3"))), "a length^-3 mass");
  EXPECT_EQ(kind_of_unit({}), "without dimension");
  EXPECT_EQ(example_of_unit(powers_of(parse_unit("H/cc"))), "g/cm**3");
  EXPECT_EQ(example_of_unit(powers_of(parse_unit("1/yr"))), "1/s");
}

}  // namespace
}  // namespace octavo::mesh
