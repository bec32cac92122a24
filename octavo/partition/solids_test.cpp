#include "octavo/partition/solids.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "octavo/partition/axis.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/solids_fixture.hpp"

namespace octavo::partition {
namespace {

TEST(SideGraph, cells_that_share_a_side_are_neighbours_and_others_are_not) {
  for (const int n : {1, 2, 4}) {
    const CellGraph graph = side_graph(testing::box_of_solids(n, 8));
    EXPECT_EQ(graph.first.size(), static_cast<std::size_t>(n * n * n + 1));
    EXPECT_EQ(graph.neighbours.size(), static_cast<std::size_t>(2 * 3 * n * n * (n - 1)));
  }
  // 6 pyramids in a cube have 12 sides between them; 5 tetrahedra 4; 2 prisms 1.
  EXPECT_EQ(side_graph(testing::box_of_solids(1, 5)).neighbours.size(), 24U);
  EXPECT_EQ(side_graph(testing::box_of_solids(1, 4)).neighbours.size(), 8U);
  EXPECT_EQ(side_graph(testing::box_of_solids(1, 6)).neighbours.size(), 2U);
}

TEST(SideGraph, a_hexahedron_that_stands_for_a_prism_has_a_triangle_for_a_neighbour) {
  mesh::Solids mesh = testing::box_of_solids(1, 6);
  ASSERT_EQ(mesh.corners.size(), 2U);
  // The second prism as a hexahedron with two edges of no length.
  const std::vector<std::int64_t> p(mesh.connectivity.begin() + 6, mesh.connectivity.end());
  mesh.corners[1] = 8;
  mesh.connectivity.resize(6);
  for (const unsigned k : {0U, 1U, 2U, 2U, 3U, 4U, 5U, 5U}) mesh.connectivity.push_back(p[k]);
  EXPECT_EQ(side_graph(mesh).neighbours.size(), 2U);
}

class CutSolids : public ::testing::TestWithParam<CutMethod> {};
INSTANTIATE_TEST_SUITE_P(methods, CutSolids,
                         ::testing::Values(CutMethod::metis, CutMethod::scotch, CutMethod::hilbert,
                                           CutMethod::inertial));

TEST_P(CutSolids, parts_are_even_and_cut_fewer_sides_than_slabs) {
  if (!has(GetParam())) GTEST_SKIP() << "this build does not have it";
  for (const int corners : {0, 4, 8}) {
    const mesh::Solids mesh = testing::box_of_solids(8, corners);
    const std::int32_t parts = 8;
    const SolidCut cut = cut_solids(mesh, GetParam(), parts);
    EXPECT_EQ(cut.filled, 0);
    const Quality quality = quality_of(mesh, cut.part_of, parts);
    EXPECT_LE(static_cast<double>(quality.most), 1.05 * static_cast<double>(mesh.corners.size()) / parts);
    PartVector slabs;  // cells stand plane after plane
    for (std::size_t c = 0; c < mesh.corners.size(); ++c)
      slabs.push_back(static_cast<std::int32_t>(c * static_cast<std::size_t>(parts) / mesh.corners.size()));
    // The columns of the mixed mesh pull the axis of inertia into a diagonal.
    if (corners > 0 || GetParam() != CutMethod::inertial) {
      EXPECT_LT(quality.cut_edges, quality_of(mesh, slabs, parts).cut_edges);
    }
    EXPECT_EQ(cut_solids(mesh, GetParam(), parts).part_of, cut.part_of);  // the same each time
  }
}

TEST_P(CutSolids, no_part_stays_empty_if_there_are_as_many_as_cells) {
  if (!has(GetParam())) GTEST_SKIP() << "this build does not have it";
  const mesh::Solids mesh = testing::box_of_solids(2, 5);
  const auto cells = static_cast<std::int32_t>(mesh.corners.size());
  for (const std::int32_t parts : {1, 3, cells - 1, cells}) {
    PartVector part_of = cut_solids(mesh, GetParam(), parts).part_of;
    EXPECT_EQ(std::set(part_of.begin(), part_of.end()).size(), static_cast<std::size_t>(parts));
  }
  EXPECT_EQ(testing::kind_of([&] { cut_solids(mesh, GetParam(), cells + 1); }), base::Kind::usage);
  EXPECT_EQ(testing::kind_of([&] { cut_solids(mesh, GetParam(), 0); }), base::Kind::usage);
}

TEST(PrincipalAxis, is_the_direction_in_which_places_vary_most) {
  struct Place {
    double x, y, z;
  };
  std::vector<Place> places;
  for (int i = -9; i <= 9; ++i)
    for (const double side : {-0.3, 0.3}) places.push_back({2.0 * i + side, 1.0 * i - side, 5 - 2.0 * i + side / 2});
  const auto axis = principal_axis_in_space(places);
  EXPECT_NEAR(std::abs(axis[0] * 2 + axis[1] - axis[2] * 2) / 3, 1, 1e-3);
  EXPECT_NEAR(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2], 1, 1e-12);
  EXPECT_THAT(principal_axis_in_space(std::vector<Place>(3, {1, 2, 3})), ::testing::ElementsAre(1, 0, 0));
}

}  // namespace
}  // namespace octavo::partition
