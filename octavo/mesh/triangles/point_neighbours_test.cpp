#include "octavo/mesh/triangles/point_neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/peak_memory.hpp"

namespace octavo::mesh {
namespace {

/// Squares cut in two, `columns` x `rows` of them, corners a little moved.
Unstructured squares(std::int64_t columns, std::int64_t rows, double moved) {
  std::mt19937_64 random(static_cast<std::uint64_t>(columns * 100 + rows));
  std::uniform_real_distribution<double> by(-moved, moved);
  Unstructured mesh;
  for (std::int64_t i = 0; i < (columns + 1) * (rows + 1); ++i) {
    mesh.x.push_back(static_cast<double>(i % (columns + 1)) + by(random));
    mesh.y.push_back(static_cast<double>(i / (columns + 1)) + by(random));
  }
  for (std::int64_t i = 0; i < columns * rows; ++i) {
    const std::int64_t a = i / columns * (columns + 1) + i % columns, b = a + 1, c = b + columns + 1, d = c - 1;
    const bool other = random() % 2 == 0;
    for (const std::int64_t point : other ? std::array{a, b, c, a, c, d} : std::array{a, b, d, b, c, d})
      mesh.connectivity.push_back(point);
  }
  return mesh;
}

std::vector<std::uint32_t> shuffled(std::size_t points) {
  std::vector<std::uint32_t> along(points);
  std::iota(along.begin(), along.end(), 0u);
  std::shuffle(along.begin(), along.end(), std::mt19937_64(points));
  return along;
}

/// How many visits have three different points; all come before, and the order has each place once.
std::size_t check(const PointNeighbours& found, std::size_t points) {
  std::vector<std::size_t> visit(points, points);
  EXPECT_EQ(found.order.size(), points);
  EXPECT_EQ(found.near.size(), points);
  std::size_t three = 0;
  for (std::size_t k = 0; k < points; ++k) {
    EXPECT_EQ(visit.at(found.order[k]), points) << "visited twice";
    for (const std::uint32_t near : found.near[k]) EXPECT_TRUE(k == 0 || visit.at(near) < k) << "visit " << k;
    visit[found.order[k]] = k;
    three += std::set<std::uint32_t>(found.near[k].begin(), found.near[k].end()).size() == 3 ? 1u : 0u;
  }
  EXPECT_EQ(found.near[0], (std::array{found.order[0], found.order[0], found.order[0]}));
  return three;
}

TEST(PointNeighbours, come_before_in_an_order_that_has_every_point_once) {
  for (const double moved : {0.0, 0.3})
    for (const auto& [columns, rows] : {std::pair{1, 1}, {1, 9}, {7, 5}, {20, 31}}) {
      const Unstructured mesh = squares(columns, rows, moved);
      const std::size_t three = check(neighbours_along(mesh, shuffled(mesh.x.size())), mesh.x.size());
      EXPECT_GE(three + static_cast<std::size_t>(3 * (columns + rows)), mesh.x.size());
    }
}

TEST(PointNeighbours, complete_a_parallelogram_of_two_triangles_that_share_an_edge) {
  const Unstructured mesh = squares(12, 9, 0.2);
  const auto along = shuffled(mesh.x.size());
  const PointNeighbours found = neighbours_along(mesh, along);
  std::set<std::set<std::int64_t>> triangles;
  for (std::size_t i = 0; i < mesh.connectivity.size(); i += 3)
    triangles.insert({mesh.connectivity[i], mesh.connectivity[i + 1], mesh.connectivity[i + 2]});
  for (std::size_t k = 1; k < along.size(); ++k) {
    const std::int64_t p = along[found.order[k]], a = along[found.near[k][0]], b = along[found.near[k][1]],
                       c = along[found.near[k][2]];
    if (a == b) continue;
    EXPECT_TRUE(triangles.count({p, a, b}) == 1 && triangles.count({a, b, c}) == 1) << "visit " << k;
  }
}

TEST(PointNeighbours, of_points_without_triangles_and_of_islands_are_the_ones_before) {
  Unstructured mesh;
  mesh.x = {0, 1, 0, 10, 11, 10, 5};
  mesh.y = {0, 0, 1, 0, 0, 1, 5};
  mesh.connectivity = {0, 1, 2, 3, 4, 5};
  const std::vector<std::uint32_t> along{0, 1, 2, 3, 4, 5, 6};
  const PointNeighbours found = neighbours_along(mesh, along);
  EXPECT_EQ(check(found, 7), 0u);
  EXPECT_EQ(found.order, along);
  EXPECT_EQ(found.near[3][0], 2u);
  EXPECT_EQ(found.near[6][0], 5u);
  EXPECT_EQ(found.near[5], (std::array{3u, 3u, 3u}));
  EXPECT_TRUE(neighbours_along({}, {}).order.empty());
}

/// Triangles of point 0 with each two that follow one another on a circle, `repeats` times.
Unstructured fan(std::int64_t triangles, int repeats) {
  Unstructured mesh;
  mesh.x = {0};
  mesh.y = {0};
  for (std::int64_t i = 0; i <= triangles; ++i) {
    mesh.x.push_back(std::cos(0.001 * static_cast<double>(i)));
    mesh.y.push_back(std::sin(0.001 * static_cast<double>(i)));
    for (int repeat = 0; i > 0 && repeat < repeats; ++repeat)
      for (const std::int64_t point : {std::int64_t{0}, i, i + 1}) mesh.connectivity.push_back(point);
  }
  return mesh;
}

// Each pair of triangles would be 4e10 of them.
TEST(PointNeighbours, of_a_hub_and_of_repeated_triangles_are_found_without_looking_at_every_pair) {
  const Unstructured hub = fan(200'000, 1), repeated = fan(2, 100'000);
  std::vector<std::uint32_t> along(hub.x.size());
  std::iota(along.begin(), along.end(), 0u);
  EXPECT_GT(check(neighbours_along(hub, along), along.size()), 199'000u);
  along.resize(4);
  EXPECT_EQ(check(neighbours_along(repeated, along), 4), 1u);
}

TEST(PointNeighbours, of_a_mesh_made_to_take_long_are_not_looked_for) {
  Unstructured book;  // all triangles have one edge
  for (std::int64_t i = 0; i < 20'000; ++i) {
    book.x.push_back(static_cast<double>(i % 150));
    book.y.push_back(static_cast<double>(i / 150));
    for (const std::int64_t point : {std::int64_t{0}, std::int64_t{1}, i})
      if (i > 1) book.connectivity.push_back(point);
  }
  std::vector<std::uint32_t> along(book.x.size());
  std::iota(along.begin(), along.end(), 0u);
  EXPECT_TRUE(neighbours_along(book, along).order.empty());
}

TEST(PointNeighbours, take_no_more_memory_than_is_said) {
  const Unstructured mesh = squares(500, 400, 0.2);
  const auto along = shuffled(mesh.x.size());
  if (!testing::reset_peak()) GTEST_SKIP() << "the peak of memory cannot be reset here";
  const std::int64_t before = testing::peak_memory();
  const PointNeighbours found = neighbours_along(mesh, along);
  const auto points = static_cast<std::int64_t>(found.order.size());
  const auto triangles = static_cast<std::int64_t>(mesh.connectivity.size() / 3);
  EXPECT_LT(testing::peak_memory() - before, (16 + 28) * points + 24 * triangles + (std::int64_t{2} << 20));
}

TEST(PointNeighbours, do_not_depend_on_how_points_and_triangles_are_numbered) {
  const Unstructured mesh = squares(8, 8, 0.3);
  const auto along = shuffled(mesh.x.size()), number = shuffled(mesh.x.size());
  Unstructured other = mesh;
  std::vector<std::uint32_t> other_along(along.size());
  for (std::size_t i = 0; i < number.size(); ++i) {
    other.x[number[i]] = mesh.x[i];
    other.y[number[i]] = mesh.y[i];
  }
  for (std::size_t k = 0; k < along.size(); ++k) other_along[k] = number[along[k]];
  other.connectivity.clear();
  for (std::size_t t = mesh.connectivity.size(); t > 0; t -= 3)
    for (const std::size_t corner : {t - 2, t - 1, t - 3})
      other.connectivity.push_back(number[static_cast<std::size_t>(mesh.connectivity[corner])]);
  const PointNeighbours a = neighbours_along(mesh, along), b = neighbours_along(other, other_along);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.near, b.near);
}

}  // namespace
}  // namespace octavo::mesh
