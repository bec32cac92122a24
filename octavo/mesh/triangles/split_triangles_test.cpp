#include "octavo/mesh/triangles/split_triangles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/serafin_fixture.hpp"

namespace octavo::mesh {
namespace {

double area(const std::vector<double>& x, const std::vector<double>& y, const std::int32_t* t) {
  const auto p = [&](int k) { return static_cast<std::size_t>(t[k]); };
  return ((x[p(1)] - x[p(0)]) * (y[p(2)] - y[p(0)]) - (x[p(2)] - x[p(0)]) * (y[p(1)] - y[p(0)])) / 2;
}

TEST(SplitTriangles, four_quarters_stand_in_the_place_of_each_and_turn_as_it_did) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    auto mesh = octavo::testing::random_triangles(seed, 6, 5, seed % 2 == 0);
    const auto points = static_cast<std::int32_t>(mesh.x.size());
    const SplitTriangles split = split_triangles(mesh.connectivity, points);
    for (const auto& [a, b] : split.edges) {
      ASSERT_LT(a, b);
      mesh.x.push_back((mesh.x[static_cast<std::size_t>(a)] + mesh.x[static_cast<std::size_t>(b)]) / 2);
      mesh.y.push_back((mesh.y[static_cast<std::size_t>(a)] + mesh.y[static_cast<std::size_t>(b)]) / 2);
    }
    ASSERT_EQ(split.connectivity.size(), 4 * mesh.connectivity.size());
    for (std::size_t e = 0; e < mesh.connectivity.size(); e += 3)
      for (std::size_t child = 0; child < 4; ++child)
        EXPECT_EQ(4 * area(mesh.x, mesh.y, &split.connectivity[4 * e + 3 * child]),
                  area(mesh.x, mesh.y, &mesh.connectivity[e]));
  }
}

TEST(SplitTriangles, an_edge_has_one_middle) {
  const auto mesh = octavo::testing::random_triangles(3, 6, 5, true);
  const SplitTriangles split = split_triangles(mesh.connectivity, static_cast<std::int32_t>(mesh.x.size()));
  const std::set<std::array<std::int32_t, 2>> once(split.edges.begin(), split.edges.end());
  EXPECT_EQ(once.size(), split.edges.size());
  EXPECT_TRUE(std::is_sorted(split.edges.begin(), split.edges.end()));
  // Euler: points - edges + triangles = 1 - holes.
  EXPECT_EQ(
      static_cast<int>(mesh.x.size()) - static_cast<int>(once.size()) + static_cast<int>(mesh.connectivity.size() / 3),
      0);
}

}  // namespace
}  // namespace octavo::mesh
