#include "octavo/formats/serafin/boundary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/liquid.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using octavo::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<BoundaryPoint> read(const std::string& text, std::int32_t points = 9) {
  const TemporaryFolder folder;
  octavo::testing::put_file(folder / "a.cli", text);
  return read_boundary(folder / "a.cli", points);
}

std::string message(const std::string& text, std::int32_t points = 9) {
  try {
    read(text, points);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SerafinBoundary, lines_of_thirteen_and_of_nine_numbers_are_read) {
  const auto points = read(
      "5 4 4 1.5 0. 0. -3.0D-01 4 0.25 0. 0. 7 1\n\n"
      "2 2 2 0.0 0.0 0.0 0.0 3 2\r\n");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].depth, 5);
  EXPECT_THAT(points[0].values, ElementsAre(1.5, 0, 0, -0.3));
  EXPECT_EQ(points[0].tracer, 4);
  EXPECT_EQ(points[0].tracer_values[0], 0.25);
  EXPECT_EQ(points[0].point, 7);
  EXPECT_EQ(points[1].point, 3);
  EXPECT_EQ(points[1].colour, 2);
}

TEST(SerafinBoundary, values_may_be_repeated_and_words_follow) {
  EXPECT_EQ(read("3*2 4*0. 2 3*0. 7 1 # a wall\n"), read("2 2 2 0 0 0 0 2 0 0 0 7 1\n"));
}

TEST(SerafinBoundary, a_line_read_again_is_the_same) {
  BoundaryPoint p;
  p.depth = 5;
  p.u = p.v = 6;
  p.values = {1.25, -2, 1e5, 0.001};
  p.tracer_values = {0.5, 0, -1};
  p.point = 4;
  p.colour = 17;
  EXPECT_EQ(boundary_line(p).size(), 208U);
  EXPECT_EQ(read(boundary_line(p)).at(0), p);
}

TEST(SerafinBoundary, damage_is_named_at_its_line) {
  EXPECT_THAT(message("2 2 2 0 0 0 0 2 0 0 0 1 1\n2 2 2 0 0\n"), HasSubstr("a.cli, line 2"));
  EXPECT_THAT(message("2 2 2 0 0 0 0 2 0 0 0 10 1\n"), HasSubstr("from 1 to 9, found 10"));
  EXPECT_THAT(message("2 2 2 0 0 0 0 2 0 0 0 0 1\n"), HasSubstr("found 0"));
  EXPECT_THAT(message("2 2 2 0 0 0 0 2 0 0 0 4 1\n2 2 2 0 0 0 0 2 0 0 0 4 2\n"), HasSubstr("has a line already"));
  EXPECT_THAT(message("2 2 -2 0 0 0 0 2 0 0 0 4 1\n"), HasSubstr("boundary code"));
  EXPECT_THAT(message("nonsense\n"), HasSubstr("found 0"));
  EXPECT_THAT(message("2 2 2 0 0 0 nan 2 0 0 0 4 1\n"), HasSubstr("found 6 and nan"));
  EXPECT_THAT(message("2 2 2 0 0 0 1e300 2 0 0 0 4 1\n"), HasSubstr("expected numbers"));
}

TEST(SerafinBoundary, floats_are_written_as_gfortran_lists_them) {
  EXPECT_EQ(list_directed(0.0F), "   0.00000000    ");
  EXPECT_EQ(list_directed(1.5F), "   1.50000000    ");
  EXPECT_EQ(list_directed(-12.25F), "  -12.2500000    ");
  EXPECT_EQ(list_directed(0.125F), "  0.125000000    ");
  EXPECT_EQ(list_directed(123456789.0F), "   123456792.    ");
  EXPECT_EQ(list_directed(1e10F), "   1.00000000E+10");
  EXPECT_EQ(list_directed(0.015625F), "   1.56250000E-02");
  EXPECT_EQ(list_directed(std::int64_t{-7}), "          -7");
}

/// A square of eight points, counter-clockwise from the south-west corner, and which of them are liquid.
std::vector<std::int32_t> numbers(const std::string& codes) {
  std::vector<BoundaryPoint> boundary(codes.size());
  std::vector<std::int32_t> next;
  for (std::size_t k = 0; k < codes.size(); ++k) {
    boundary[k].depth = codes[k] - '0';
    boundary[k].u = boundary[k].depth == 2 ? 2 : 4;
    boundary[k].point = static_cast<std::int32_t>(k + 1);
    next.push_back(static_cast<std::int32_t>((k + 1) % codes.size()));
  }
  const std::vector<double> x{0, 1, 2, 2, 2, 1, 0, 0}, y{0, 0, 0, 1, 2, 2, 2, 1};
  return number_liquid(boundary, next, x, y);
}

TEST(SerafinBoundary, liquid_stretches_are_numbered_along_the_line) {
  EXPECT_THAT(numbers("22222222"), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(numbers("25522442"), ElementsAre(0, 1, 1, 0, 0, 2, 2, 0));
  EXPECT_THAT(numbers("25544222"), ElementsAre(0, 1, 1, 2, 2, 0, 0, 0));
  EXPECT_THAT(numbers("55222225"), ElementsAre(1, 1, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(numbers("55555555"), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(SerafinBoundary, a_point_alone_between_others_is_refused) {
  EXPECT_THROW(numbers("22522222"), Error);
  EXPECT_THROW(numbers("25525522"), Error);
}

}  // namespace
}  // namespace octavo::formats::serafin
