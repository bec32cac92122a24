#include "octavo/mesh/solids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/dataset.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/solids_fixture.hpp"

namespace octavo::mesh {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Solids& mesh) {
  try {
    validate(mesh);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    return error.what();
  }
  return "accepted";
}

TEST(solids, good_ones_are_accepted) {
  EXPECT_EQ(refusal(Solids{}), "accepted");
  for (const int corners : {0, 4, 5, 6, 8}) EXPECT_EQ(refusal(testing::box_of_solids(2, corners)), "accepted");
}

TEST(solids, a_collapsed_or_inverted_cell_is_accepted) {
  Solids mesh = testing::box_of_solids(1, 8);
  mesh.connectivity[2] = mesh.connectivity[1];
  mesh.connectivity[6] = mesh.connectivity[5];
  EXPECT_EQ(refusal(mesh), "accepted");
  std::reverse(mesh.connectivity.begin(), mesh.connectivity.end());
  EXPECT_EQ(refusal(mesh), "accepted");
}

TEST(solids, every_kind_of_damage_is_refused_by_name) {
  const std::vector<std::pair<std::function<void(Solids&)>, const char*>> damages{
      {[](Solids& m) { m.z.pop_back(); }, "9 x, 9 y and 8 z, expected as many"},
      {[](Solids& m) { m.y[3] = std::numeric_limits<double>::quiet_NaN(); }, "expected a finite number, found"},
      {[](Solids& m) { m.y[3] = std::numeric_limits<double>::infinity(); }, "point 3"},
      {[](Solids& m) { m.corners[1] = 7; }, "corners: expected 4, 5, 6 or 8, found 7"},
      {[](Solids& m) { m.corners[1] = 0; }, "cell 1"},
      {[](Solids& m) { m.corners[1] = 8; }, "expected 33 entries, the corners of 6 cells, found 30"},
      {[](Solids& m) { m.connectivity.pop_back(); }, "expected 30 entries"},
      {[](Solids& m) { m.connectivity[7] = 9; }, "expected 0 to 8, found 9"},
      {[](Solids& m) { m.connectivity[7] = -1; }, "cell 1"},
      {[](Solids& m) {
         m.global_point = {1, 2};
       },
       "global point numbers: expected none or 9, found 2"},
      {[](Solids& m) { m.global_point.assign(9, 4); }, "global point number 4 is given to two points"},
  };
  for (const auto& [damage, message] : damages) {
    Solids mesh = testing::box_of_solids(1, 5);
    damage(mesh);
    EXPECT_THAT(refusal(mesh), HasSubstr(message));
  }
}

TEST(solids, a_header_counts_them_and_a_verb_that_has_no_place_for_them_says_so) {
  Header header;
  EXPECT_FALSE(holds_solids(header));
  header.attributes[solids_attribute] = count_solids(testing::box_of_solids(2, 0));
  EXPECT_TRUE(holds_solids(header));
  EXPECT_EQ(count_solids(header), (std::vector<std::int64_t>{0, 12, 8, 2}));
  EXPECT_EQ(describe_solids(count_solids(header)), "12 pyramids, 8 prisms, 2 hexahedra");
  EXPECT_EQ(describe_solids({1, 0, 0, 1}), "1 tetrahedron, 1 hexahedron");
  const Dataset dataset = of_one_part("x", "x.y", header, 0, 22, 29);
  EXPECT_TRUE(dataset.unstructured);
  EXPECT_EQ(dataset.part_sizes(0).mesh, 29 * 24 + 22 + 8 * (12 * 5 + 8 * 6 + 2 * 8));
  EXPECT_THAT(testing::error_of([&] { refuse_solids(dataset, "a camera sees cells"); }).what(),
              HasSubstr("a camera sees cells: this mesh is of solids (12 pyramids, 8 prisms, 2 hexahedra)"));
  header.attributes[solids_attribute] = std::string("wood");
  EXPECT_FALSE(holds_solids(header));
}

}  // namespace
}  // namespace octavo::mesh
