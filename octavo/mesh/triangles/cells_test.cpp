#include "octavo/mesh/triangles/cells.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace octavo::mesh {
namespace {

using Corners = std::vector<std::int64_t>;

double twice_area(const Unstructured& mesh, const Corners& cell) {
  double sum = 0;
  for (std::size_t k = 0; k < cell.size(); ++k) {
    const auto a = static_cast<std::size_t>(cell[k]), b = static_cast<std::size_t>(cell[(k + 1) % cell.size()]);
    sum += mesh.x[a] * mesh.y[b] - mesh.x[b] * mesh.y[a];
  }
  return sum;
}

/// Starts with the smallest number.
Corners turned(Corners cell) {
  std::rotate(cell.begin(), std::min_element(cell.begin(), cell.end()), cell.end());
  return cell;
}

std::vector<Corners> cells_in(const Unstructured& mesh) {
  std::vector<Corners> out;
  const auto first = first_triangles(mesh.connectivity);
  for (std::size_t c = 0; c + 1 < first.size(); ++c)
    out.push_back(turned(corners_of(mesh.connectivity, first[c], first[c + 1])));
  return out;
}

/// A grid of squares with shaken points; each is a quadrangle, two triangles, or together with its neighbour a cell of
/// six corners. Cells begin with any corner.
struct Mixed {
  Unstructured mesh;
  std::vector<Corners> cells;
};
Mixed mixed(std::uint32_t seed, std::int64_t n, double shake) {
  std::mt19937 random(seed);
  Mixed out;
  const auto shaken = [&] { return shake * (static_cast<double>(random() % 1024) / 512 - 1); };
  for (std::int64_t i = 0; i < (n + 1) * (n + 1); ++i) {
    out.mesh.x.push_back(static_cast<double>(i % (n + 1)) + shaken());
    out.mesh.y.push_back(static_cast<double>(i / (n + 1)) + shaken());
  }
  const auto point = [&](std::int64_t i, std::int64_t j) { return i + j * (n + 1); };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t a = point(i, j), b = point(i + 1, j), c = point(i + 1, j + 1), d = point(i, j + 1);
      const auto kind = random() % 3;
      if (kind == 0 && i + 1 < n) {
        out.cells.push_back({a, b, point(i + 2, j), point(i + 2, j + 1), c, d});
        ++i;
      } else if (kind == 1) {
        out.cells.push_back({a, b, c});
        out.cells.push_back({a, c, d});  // looks like a quadrangle
      } else {
        out.cells.push_back({a, b, c, d});
      }
    }
  for (Corners& cell : out.cells)
    std::rotate(cell.begin(), cell.begin() + static_cast<std::ptrdiff_t>(random() % cell.size()), cell.end());
  return out;
}

TEST(Cells, any_mesh_of_cells_comes_back_from_its_triangles) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Mixed m = mixed(seed, 9, seed % 2 == 0 ? 0 : 0.2);
    std::vector<std::int64_t> by_corners;
    for (std::size_t c = 0; c < m.cells.size(); ++c) {
      add_cell(m.cells[c], static_cast<std::int64_t>(c), m.mesh);
      count_cell(m.cells[c].size(), by_corners);
    }
    validate(m.mesh);
    std::vector<Corners> expected;
    for (const Corners& cell : m.cells) expected.push_back(turned(cell));
    EXPECT_EQ(cells_in(m.mesh), expected) << seed;
    EXPECT_EQ(num_cells(by_corners), std::ssize(m.cells));
    EXPECT_EQ(num_triangles(by_corners), std::ssize(m.mesh.connectivity) / 3);
    const CellAreas places = areas_of_cells(m.mesh);
    for (std::size_t c = 0; c < m.cells.size(); ++c)
      EXPECT_NEAR(2 * places.area[c], twice_area(m.mesh, m.cells[c]), 1e-12);
    for (std::size_t t = 0; t < m.mesh.connectivity.size(); t += 3)  // no triangle lies on another
      EXPECT_GE(twice_area(m.mesh, {m.mesh.connectivity[t], m.mesh.connectivity[t + 1], m.mesh.connectivity[t + 2]}),
                0);
    EXPECT_EQ(cells_of_triangles(m.mesh.connectivity).back(), std::ssize(m.cells) - 1);
  }
}

TEST(Cells, added_again_they_give_the_same_triangles) {
  Mixed m = mixed(3, 6, 0.2);
  for (std::size_t c = 0; c < m.cells.size(); ++c) add_cell(m.cells[c], static_cast<std::int64_t>(c), m.mesh);
  Unstructured again{m.mesh.x, m.mesh.y, {}, 1, {}};
  const auto first = first_triangles(m.mesh.connectivity);
  for (std::size_t c = 0; c + 1 < first.size(); ++c)
    add_cell(corners_of(m.mesh.connectivity, first[c], first[c + 1]), static_cast<std::int64_t>(c), again);
  EXPECT_EQ(again, m.mesh);
}

TEST(Cells, a_quadrangle_with_a_corner_inside_is_cut_at_that_corner) {
  Unstructured dart{{0, 2, 0.5, 0}, {0, 0, 0.5, 2}, {}, 1, {}};  // point 2 is inside of the hull
  for (std::size_t begin = 0; begin < 4; ++begin) {
    Corners cell{0, 1, 2, 3};
    std::rotate(cell.begin(), cell.begin() + static_cast<std::ptrdiff_t>(begin), cell.end());
    dart.connectivity.clear();
    add_cell(cell, 0, dart);
    const CellAreas places = areas_of_cells(dart);
    EXPECT_DOUBLE_EQ(places.area[0], 1);
    EXPECT_DOUBLE_EQ(places.x[0], 0.5);  // of two triangles of area 1/2 each
    for (std::size_t t = 0; t < 6; t += 3)
      EXPECT_GT(twice_area(dart, {dart.connectivity[t], dart.connectivity[t + 1], dart.connectivity[t + 2]}), 0);
  }
}

TEST(Cells, clockwise_ones_are_turned_round) {
  Unstructured mesh{{0, 1, 1, 0}, {0, 0, 1, 1}, {}, 1, {}};
  add_cell(Corners{0, 3, 2, 1}, 0, mesh);
  EXPECT_THAT(cells_in(mesh), ::testing::ElementsAre(Corners{0, 1, 2, 3}));
}

TEST(Cells, bad_ones_are_named) {
  const Unstructured square{{0, 1, 1, 0}, {0, 0, 1, 1}, {}, 1, {}};
  const auto added = [&](Corners cell) {
    Unstructured mesh = square;
    return testing::message_of([&] { add_cell(cell, 17, mesh); });
  };
  EXPECT_THAT(added({0, 1}), ::testing::HasSubstr("2 corners: expected 3 or more"));
  EXPECT_THAT(added({0, 1, 4}), ::testing::HasSubstr("expected 0 to 3, found 4"));
  EXPECT_THAT(added({0, 1, -1}), ::testing::HasSubstr("found -1"));
  EXPECT_THAT(added({0, 1, 2, 1}), ::testing::AllOf(::testing::HasSubstr("1 twice"), ::testing::HasSubstr("cell 17")));
  // No corner of a U sees all of it.
  Unstructured u{{0, 3, 3, 2, 2, 1, 1, 0}, {0, 0, 3, 3, 1, 1, 3, 3}, {}, 1, {}};
  EXPECT_EQ(testing::kind_of([&] { add_cell(Corners{0, 1, 2, 3, 4, 5, 6, 7}, 0, u); }), base::Kind::unsupported);
}

TEST(Cells, apart_each_triangle_has_points_of_its_own) {
  Mixed m = mixed(5, 4, 0.1);
  for (std::size_t c = 0; c < m.cells.size(); ++c) add_cell(m.cells[c], static_cast<std::int64_t>(c), m.mesh);
  const Unstructured own = apart(m.mesh);
  validate(own);
  EXPECT_EQ(own.x.size(), m.mesh.connectivity.size());
  EXPECT_EQ(std::set<std::int64_t>(own.connectivity.begin(), own.connectivity.end()).size(), own.x.size());
  for (std::size_t i = 0; i < own.x.size(); ++i)
    EXPECT_EQ(own.x[i], m.mesh.x[static_cast<std::size_t>(m.mesh.connectivity[i])]);
}

}  // namespace
}  // namespace octavo::mesh
