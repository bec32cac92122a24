#include "octavo/mesh/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Header with_fields(const std::vector<std::string>& names) {
  Header header;
  for (const std::string& name : names) {
    header.fields.emplace_back();
    header.fields.back().name = name;
  }
  return header;
}

const Header ramses =
    with_fields({"density", "velocity_x", "velocity_y", "velocity_z", "pressure", "B_x_left", "B_x_right"});

using Names = std::vector<std::string>;

std::string advice(const Header& header, const std::string& name) {
  try {
    select_fields(header, Names{name});
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
    EXPECT_EQ(error.message(), "unknown field \"" + name + "\"");
    return error.advice();
  }
  return "accepted";
}

TEST(select_fields, keeps_the_headers_order) {
  EXPECT_THAT(select_fields(ramses, std::nullopt), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(select_fields(ramses, Names{"pressure", "density", "pressure"}), ElementsAre(0, 4));
  EXPECT_THAT(select_fields(ramses, Names{}), ElementsAre());
}

TEST(select_fields, near_matches_are_named_best_first) {
  EXPECT_EQ(advice(ramses, "densty"), "did you mean density?");
  EXPECT_EQ(advice(ramses, "Density"), "did you mean density?");
  EXPECT_EQ(advice(ramses, "rho_density_old"), "did you mean density?");
  EXPECT_EQ(advice(ramses, "velocity"), "did you mean velocity_x, velocity_y, velocity_z?");
  EXPECT_THAT(advice(ramses, "velocity_yy"), HasSubstr("did you mean velocity_y, "));
  EXPECT_THAT(advice(ramses, "b_x_lef"), AllOf(HasSubstr("did you mean B_x_left"), Not(HasSubstr("pressure"))));
}

TEST(select_fields, without_near_matches_all_are_named) {
  EXPECT_THAT(advice(ramses, "temperature"),
              AllOf(HasSubstr("the fields are density, velocity_x"), HasSubstr("B_x_right")));
  EXPECT_EQ(advice(Header{}, "density"), "there are no fields here");
  EXPECT_THAT(advice(ramses, ""), HasSubstr("the fields are"));
}

TEST(header, domain_is_measured_in_x_extents) {
  Header header;
  header.dim = 2;
  header.lo = {-1, 0, 0};
  header.hi = {3, 2, 7};
  header.periodic = {true, false, true};
  const Domain domain = domain_of(header);
  EXPECT_EQ(domain.dim, 2);
  EXPECT_EQ(domain.extent, (Point3{1, 0.5, 1}));
  EXPECT_EQ(domain.periodic, header.periodic);
}

TEST(header, cell_size_halves_with_each_level_and_counts_the_block) {
  Header header;
  header.dim = 2;
  header.roots = {2, 3, 1};
  header.block = {4, 1, 1};
  header.hi = {16, 12, 5};
  EXPECT_EQ(cell_size(header, 0), (Point3{2, 4, 5}));
  EXPECT_EQ(cell_size(header, 3), (Point3{0.25, 0.5, 5}));
}

TEST(header, levels_are_the_codes_own) {
  Header header;
  header.level_origin = 1;
  header.unfolded = 4;
  EXPECT_EQ(code_level(header, 4), 1);
  EXPECT_EQ(level_index(header, 3), 6);
}

TEST(code_level, counts_tree_levels_and_patch_levels_where_a_ratio_is_4) {
  Header header;
  header.unfolded = 2;
  header.level_origin = 1;
  for (int index = -3; index < 9; ++index) {
    EXPECT_EQ(code_level(header, index), index - 1);
    EXPECT_EQ(level_index(header, index - 1), index);
    EXPECT_FALSE(is_between_levels(header, index));
  }
  header.level_origin = 0;
  header.attributes["patches/ratio"] = std::vector<std::int64_t>{2, 4, 4};
  //                         above,  0, 1,    2,    3, finer
  const std::vector<int> own{0, 1, 2, 3, 5, 7, 8, 9};
  for (std::size_t i = 0; i < own.size(); ++i) {
    const int number = static_cast<int>(i) - 2;
    EXPECT_EQ(level_index(header, number), own[i]);
    EXPECT_EQ(code_level(header, own[i]), number);
    EXPECT_FALSE(is_between_levels(header, own[i]));
  }
  for (const int index : {4, 6}) {
    EXPECT_TRUE(is_between_levels(header, index));
    EXPECT_EQ(code_level(header, index), code_level(header, index - 1));
  }
  EXPECT_EQ(level_index(header, std::numeric_limits<int>::max()), std::numeric_limits<int>::max());
  forget_levels(header);
  EXPECT_FALSE(is_between_levels(header, 4));
}

}  // namespace
}  // namespace octavo::mesh
