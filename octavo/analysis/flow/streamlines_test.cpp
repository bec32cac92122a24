#include "octavo/analysis/flow/streamlines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "octavo/analysis/triangles.hpp"
#include "tests/support/serafin_fixture.hpp"

namespace octavo::analysis {
namespace {

/// A square of 12 x 12 from -6 to 6.
mesh::Unstructured square(std::uint32_t seed) {
  const testing::Triangles made = testing::random_triangles(seed, 12, 12);
  mesh::Unstructured mesh{made.x, made.y, {made.connectivity.begin(), made.connectivity.end()}, 1, {}};
  for (double& x : mesh.x) x -= 6;
  for (double& y : mesh.y) y -= 6;
  return mesh;
}

template <class Velocity>
std::array<std::vector<double>, 2> at_points(const mesh::Unstructured& mesh, Velocity&& velocity) {
  std::array<std::vector<double>, 2> out;
  for (std::size_t i = 0; i < mesh.x.size(); ++i)
    for (std::size_t axis = 0; axis < 2; ++axis) out[axis].push_back(velocity(mesh.x[i], mesh.y[i])[axis]);
  return out;
}

Way seeded(const mesh::Unstructured& mesh, std::array<double, 2> at, double time = 0) {
  Way way;
  way.at = {at};
  way.time = {time};
  way.triangle = locate(mesh, {&at, 1})[0].value().triangle;
  return way;
}

using Pair = std::array<double, 2>;

TEST(Streamlines, a_rotation_carries_round_and_back) {
  // Linear in x and y, so it is linear in triangles and the circle is the exact way.
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const mesh::Unstructured mesh = square(seed);
    const auto flow = at_points(mesh, [](double x, double y) { return Pair{-y, x}; });
    const auto beyond = triangles_beyond(mesh);
    for (const double until : {2 * std::numbers::pi, -2 * std::numbers::pi}) {
      Way way = seeded(mesh, {3, 1});
      const FlowBetween steady{0, 0, {flow[0], flow[1]}, {flow[0], flow[1]}};
      EXPECT_TRUE(follow(mesh, beyond, steady, until, {}, way));
      EXPECT_EQ(way.time.back(), until);
      EXPECT_NEAR(way.at.back()[0], 3, 1e-4);
      EXPECT_NEAR(way.at.back()[1], 1, 1e-4);
      for (std::size_t i = 0; i < way.at.size(); ++i) {
        EXPECT_NEAR(std::hypot(way.at[i][0], way.at[i][1]), std::hypot(3, 1), 1e-4);
        EXPECT_NEAR(way.at[i][0], 3 * std::cos(way.time[i]) - std::sin(way.time[i]), 1e-4);
      }
    }
  }
}

TEST(Streamlines, a_smaller_tolerance_comes_nearer) {
  const mesh::Unstructured mesh = square(2);
  const auto flow = at_points(mesh, [](double x, double y) { return Pair{-y, x}; });
  const auto beyond = triangles_beyond(mesh);
  double before = 1;
  for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
    Way way = seeded(mesh, {3, 1});
    follow(mesh, beyond, {0, 0, {flow[0], flow[1]}, {flow[0], flow[1]}}, 6, {tolerance, 100000, 1e9}, way);
    const double error = std::hypot(way.at.back()[0] - (3 * std::cos(6.0) - std::sin(6.0)),
                                    way.at.back()[1] - (3 * std::sin(6.0) + std::cos(6.0)));
    EXPECT_LT(error, before / 10);
    before = error;
  }
}

TEST(Streamlines, a_way_ends_at_the_border_and_where_nothing_moves) {
  const mesh::Unstructured mesh = square(1);
  const auto beyond = triangles_beyond(mesh);
  const auto out = at_points(mesh, [](double, double) { return Pair{2, 0.5}; });
  Way way = seeded(mesh, {-1, 0});
  EXPECT_FALSE(follow(mesh, beyond, {0, 0, {out[0], out[1]}, {out[0], out[1]}}, 100, {}, way));
  EXPECT_EQ(way.end, WayEnd::border);
  EXPECT_NEAR(way.at.back()[0], 6, 1e-5);
  EXPECT_NEAR(way.at.back()[1], 7.0 / 4, 1e-5);
  EXPECT_NEAR(way.time.back(), 3.5, 1e-5);
  const auto nothing = at_points(mesh, [](double, double) { return Pair{0, 0}; });
  way = seeded(mesh, {-1, 0});
  EXPECT_FALSE(follow(mesh, beyond, {0, 0, {nothing[0], nothing[1]}, {nothing[0], nothing[1]}}, 1, {}, way));
  EXPECT_EQ(way.end, WayEnd::standing);
  EXPECT_EQ(way.at.size(), 1u);
  const auto none = at_points(mesh, [](double, double) { return Pair{std::nan(""), 1}; });
  way = seeded(mesh, {-1, 0});
  EXPECT_FALSE(follow(mesh, beyond, {0, 0, {none[0], none[1]}, {none[0], none[1]}}, 1, {}, way));
  EXPECT_EQ(way.end, WayEnd::standing);
  way = seeded(mesh, {-1, 0});
  EXPECT_FALSE(follow(mesh, beyond, {0, 0, {out[0], out[1]}, {out[0], out[1]}}, 100, {1e-6, 3, 1e9}, way));
  EXPECT_EQ(way.end, WayEnd::steps);
  way = seeded(mesh, {-1, 0});
  EXPECT_FALSE(follow(mesh, beyond, {0, 0, {out[0], out[1]}, {out[0], out[1]}}, 100, {1e-6, 100000, 2}, way));
  EXPECT_EQ(way.end, WayEnd::length);
  EXPECT_NEAR(way.at.back()[0], 1, 1.5);
}

TEST(Streamlines, a_flow_that_grows_with_time_carries_by_its_integral) {
  const mesh::Unstructured mesh = square(3);
  const auto beyond = triangles_beyond(mesh);
  const auto begin = at_points(mesh, [](double, double) { return Pair{0.5, 0}; });
  const auto end = at_points(mesh, [](double, double) { return Pair{0.5, 1}; });
  Way way = seeded(mesh, {-2, -3}, 10);
  EXPECT_TRUE(follow(mesh, beyond, {10, 12, {begin[0], begin[1]}, {end[0], end[1]}}, 12, {}, way));
  EXPECT_NEAR(way.at.back()[0], -1, 1e-9);
  EXPECT_NEAR(way.at.back()[1], -2, 1e-5);  // the integral of (t - 10) / 2
}

TEST(Streamlines, a_particle_at_rest_waits_for_the_flow) {
  const mesh::Unstructured mesh = square(3);
  const auto beyond = triangles_beyond(mesh);
  const auto rest = at_points(mesh, [](double, double) { return Pair{0, 0}; });
  const auto moving = at_points(mesh, [](double, double) { return Pair{1, 0}; });
  Way way = seeded(mesh, {-2, -3}, 8);
  EXPECT_TRUE(follow(mesh, beyond, {8, 10, {rest[0], rest[1]}, {rest[0], rest[1]}}, 10, {}, way));
  EXPECT_EQ(way.at.back(), (Pair{-2, -3}));
  EXPECT_EQ(way.time.back(), 10);
  EXPECT_TRUE(follow(mesh, beyond, {10, 12, {rest[0], rest[1]}, {moving[0], moving[1]}}, 12, {}, way));
  EXPECT_NEAR(way.at.back()[0], -1, 1e-5);
  EXPECT_TRUE(follow(mesh, beyond, {12, 14, {moving[0], moving[1]}, {rest[0], rest[1]}}, 14, {}, way));
  EXPECT_NEAR(way.at.back()[0], 0, 1e-5);
}

TEST(Streamlines, triangles_beyond_edges_know_each_other) {
  const testing::Triangles made = testing::random_triangles(4, 6, 5, true);
  const mesh::Unstructured mesh{made.x, made.y, {made.connectivity.begin(), made.connectivity.end()}, 1, {}};
  const auto beyond = triangles_beyond(mesh);
  std::size_t border = 0;
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    if (beyond[i] < 0) {
      ++border;
      continue;
    }
    const auto other = static_cast<std::size_t>(beyond[i]);
    int back = 0;
    for (std::size_t k = 0; k < 3; ++k) back += beyond[3 * other + k] == static_cast<std::int64_t>(i / 3) ? 1 : 0;
    EXPECT_EQ(back, 1);
  }
  EXPECT_EQ(border, 2u * (6 + 5) + 4);
}

}  // namespace
}  // namespace octavo::analysis
