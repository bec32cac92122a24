#include "octavo/mesh/clip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "octavo/mesh/tree/prune.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

Header header_of(const Octree& tree, bool periodic) {
  Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  for (std::size_t a = 0; a < 3; ++a) {
    header.hi[a] = static_cast<double>(tree.roots[a]) / static_cast<double>(tree.roots[0]);
    header.periodic[a] = periodic;
  }
  return header;
}

/// Owned cells of all levels whose box shares volume with the region, by brute force.
std::size_t count_touching(const Octree& tree, const Header& header, const Region& region) {
  std::size_t count = 0;
  auto coordinates = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    Point3 size{1, 1, 1};
    for (std::size_t a = 0; a < 3; ++a)
      size[a] =
          header.hi[a] / static_cast<double>(tree.roots[a]) / (static_cast<int>(a) < tree.dim ? std::exp2(level) : 1.0);
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      Point3 lo, hi;
      for (std::size_t a = 0; a < 3; ++a) {
        lo[a] = coordinates[i][a] * size[a];
        hi[a] = (coordinates[i][a] + 1) * size[a];
      }
      if (tree.owned[static_cast<std::size_t>(level)][i] && touches(region, domain_of(header), lo, hi)) ++count;
    }
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
  return count;
}

std::size_t count_owned(const Octree& tree) {
  std::size_t count = 0;
  for (int level = 0; level < num_levels(tree); ++level) count += num_owned(tree, level);
  return count;
}

TEST(Clip, keeps_exactly_the_owned_cells_that_touch_the_region) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Octree tree = testing::random_octree(seed);
    const Header header = header_of(tree, seed % 2 == 0);
    for (const Region& region : {Region{Box{{0.2, 0.1, 0.0}, {0.5, 0.7, 0.4}}}, Region{Sphere{{0.1, 0.2, 0.3}, 0.25}},
                                 Region{Box{{-0.1, 0, 0}, {0.1, 1, 1}}}}) {
      Octree clipped = tree;
      clip(clipped, header, region);
      EXPECT_EQ(clipped.refined, tree.refined);
      EXPECT_EQ(count_owned(clipped), count_touching(tree, header, region)) << "seed " << seed;
      EXPECT_NO_THROW(validate(prune(clipped).tree));
    }
  }
}

TEST(Clip, a_region_that_holds_all_takes_nothing) {
  const Octree tree = testing::random_octree(3);
  Octree clipped = tree;
  clip(clipped, header_of(tree, false), Box{{0, 0, 0}, {10, 10, 10}});
  EXPECT_EQ(clipped, tree);
}

}  // namespace
}  // namespace octavo::mesh
