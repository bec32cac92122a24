#include "octavo/formats/serafin/number_list.hpp"

#include <gmock/gmock.h>

namespace octavo::formats::serafin {
namespace {

using ::testing::ElementsAre;

NumberList read_list(std::vector<std::string> lines, std::size_t most) {
  NumberList list;
  for (const std::string& line : lines)
    if (list.odd.empty()) read_numbers(line, most, list);
  return list;
}

// gfortran 12 reads these values from the same lines.
TEST(NumberList, numbers_are_those_of_a_list_directed_read) {
  EXPECT_THAT(read_list({"2 2*0. 3"}, 4).values, ElementsAre(2, 0, 0, 3));
  EXPECT_THAT(read_list({" 1.5D0,2.5d+1\t,3E-2 , 1.5+3 -4.-1 1q2\r"}, 6).values,
              ElementsAre(1.5, 25, 0.03, 1500, -0.4, 100));
  EXPECT_THAT(read_list({"+3 .5 5. -.5e1"}, 4).values, ElementsAre(3, 0.5, 5, -5));
  EXPECT_THAT(read_list({"1,", ", 2"}, 2).odd, ",");
  EXPECT_THAT(read_list({"1", ", 2"}, 2).values, ElementsAre(1, 2));
  EXPECT_THAT(read_list({"2*1", "2*2"}, 3).values, ElementsAre(1, 1, 2));
  EXPECT_THAT(read_list({"1000000000000*7"}, 2).values, ElementsAre(7, 7));
  EXPECT_THAT(read_list({"1e-999"}, 1).values, ElementsAre(0));
}

TEST(NumberList, what_is_behind_the_last_one_is_not_looked_at) {
  const NumberList list = read_list({"1 2 # a comment"}, 2);
  EXPECT_THAT(list.values, ElementsAre(1, 2));
  EXPECT_EQ(list.odd, "");
}

TEST(NumberList, what_is_no_number_stops_and_is_named) {
  for (const std::string odd :
       {"x",  "1x",  "0x10", "nan",   "inf", "1e", "1e999", "--1", "1.2.3", ".",
        "2*", "0*1", "-2*1", "2*3*4", "*1",  "/",  ",",     "1+",  "e5",    "99999999999999999999999*1"}) {
    const NumberList list = read_list({"4 , " + odd + " 5"}, 3);
    EXPECT_EQ(list.odd, odd);
    EXPECT_THAT(list.values, ElementsAre(4));
  }
  EXPECT_EQ(read_list({"1/2"}, 2).odd, "/");
  EXPECT_EQ(read_list({",1"}, 2).odd, ",");
}

}  // namespace
}  // namespace octavo::formats::serafin
