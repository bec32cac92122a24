#include "octavo/mesh/solids/tetrahedra.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "tests/support/solids_fixture.hpp"

namespace octavo::mesh {
namespace {

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Sides of tetrahedra, by their points, and how many tetrahedra have each.
std::map<std::array<std::int64_t, 3>, int> triangles_of(const Solids& mesh) {
  std::map<std::array<std::int64_t, 3>, int> found;
  for_each_tetrahedron(mesh, [&](std::size_t, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    std::array<std::array<std::int64_t, 3>, 4> sides{{{a, b, c}, {a, b, d}, {a, c, d}, {b, c, d}}};
    for (auto& side : sides) {
      std::sort(side.begin(), side.end());
      ++found[side];
    }
  });
  return found;
}

/// Whether all three points are on one side of the unit cube.
bool is_outside(const Solids& mesh, const std::array<std::int64_t, 3>& side) {
  for (const std::vector<double>* axis : {&mesh.x, &mesh.y, &mesh.z})
    for (const double at : {0.0, 1.0})
      if (std::all_of(side.begin(), side.end(), [&](auto p) { return (*axis)[static_cast<std::size_t>(p)] == at; }))
        return true;
  return false;
}

TEST(tetrahedra, a_cube_has_its_volume_in_whatever_solids) {
  for (const int corners : {0, 4, 5, 6, 8})
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
      Solids mesh = testing::box_of_solids(2, corners);
      testing::shake(mesh, seed, 0);
      const std::vector<double> volumes = volumes_of(mesh);
      EXPECT_NEAR(sum_of(volumes), 1, 1e-14);
      for (const double volume : volumes) EXPECT_GT(volume, 0);
    }
}

TEST(tetrahedra, each_shape_has_its_number_of_them) {
  const std::map<int, std::ptrdiff_t> expected{{4, 1}, {5, 2}, {6, 3}, {8, 6}};
  for (const auto& [corners, count] : expected)
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      Solids mesh = testing::box_of_solids(1, corners);
      testing::shake(mesh, seed, 0.1);
      std::ptrdiff_t found = 0;
      const std::span first(mesh.connectivity.data(), mesh.corners[0]);
      for_each_tetrahedron(mesh, first, [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        ++found;
        EXPECT_GT(six_volumes(mesh, a, b, c, d), 0);
      });
      EXPECT_EQ(found, count);
    }
}

TEST(tetrahedra, neighbours_cut_their_common_side_alike_whatever_the_numbers) {
  for (const int corners : {0, 4, 5, 6, 8})
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      Solids mesh = testing::box_of_solids(3, corners);
      testing::shake(mesh, seed, 0);
      for (const auto& [side, count] : triangles_of(mesh)) ASSERT_EQ(count, is_outside(mesh, side) ? 1 : 2);
    }
}

TEST(tetrahedra, sides_that_are_not_flat_leave_no_gap) {
  // Sides on the cube's surface stay flat: only points inside move.
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    Solids mesh = testing::box_of_solids(3, 0);
    const Solids still = mesh;
    testing::shake(mesh, seed, 0.08);
    for (std::size_t i = 0; i < mesh.x.size(); ++i) {
      const bool inside =
          std::min({still.x[i], still.y[i], still.z[i]}) > 0 && std::max({still.x[i], still.y[i], still.z[i]}) < 1;
      if (!inside) std::tie(mesh.x[i], mesh.y[i], mesh.z[i]) = std::tie(still.x[i], still.y[i], still.z[i]);
    }
    EXPECT_NEAR(sum_of(volumes_of(mesh)), 1, 1e-14);
  }
}

TEST(tetrahedra, a_collapsed_hexahedron_is_the_prism_that_it_stands_for) {
  Solids mesh = testing::box_of_solids(1, 8);
  mesh.connectivity[3] = mesh.connectivity[2];
  mesh.connectivity[7] = mesh.connectivity[6];
  for (std::uint32_t seed = 0; seed <= 20; ++seed) {
    if (seed > 0) testing::shake(mesh, seed, 0);
    EXPECT_NEAR(volumes_of(mesh)[0], 0.5, 1e-15);
  }
}

TEST(tetrahedra, an_inverted_cell_has_a_negative_volume) {
  Solids mesh = testing::box_of_solids(1, 8);
  std::rotate(mesh.connectivity.begin(), mesh.connectivity.begin() + 4, mesh.connectivity.end());
  EXPECT_NEAR(volumes_of(mesh)[0], -1, 1e-15);
}

TEST(tetrahedra, first_corners_are_where_cells_begin) {
  Solids mesh;
  mesh.corners = {4, 8, 5};
  EXPECT_THAT(first_corners(mesh), ::testing::ElementsAre(0, 4, 12, 17));
}

}  // namespace
}  // namespace octavo::mesh
