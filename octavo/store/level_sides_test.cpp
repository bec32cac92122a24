// The neighbours of families are found from the refinement alone; a search by places judges them.
#include "octavo/store/level_sides.hpp"

#include <gtest/gtest.h>

#include <map>

#include "octavo/mesh/mesh.hpp"
#include "octavo/store/pack.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::store {
namespace {

using SidesOfLevel = std::vector<codec::Sides>;

/// The same by the positions of all cells.
SidesOfLevel by_places(const mesh::Octree& tree, const std::vector<mesh::Coordinate>& above,
                       const std::vector<std::uint32_t>& parents) {
  std::map<mesh::Coordinate, std::uint32_t> cell_at, family_at;
  for (std::uint32_t cell = 0; cell < above.size(); ++cell) cell_at[above[cell]] = cell;
  for (std::uint32_t f = 0; f < parents.size(); ++f) family_at[above[parents[f]]] = f;
  SidesOfLevel sides;
  for (std::uint32_t f = 0; f < parents.size(); ++f) {
    const std::uint32_t parent = parents[f];
    sides.push_back({{parent, parent, parent}, {f, f, f}});
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
      mesh::Coordinate outer = above[parent], upper = above[parent];
      outer[axis] += (parent >> axis & 1) != 0 ? 1u : ~0u;
      upper[axis] += 1;
      if (const auto found = cell_at.find(outer); found != cell_at.end()) sides.back().outer[axis] = found->second;
      if (const auto found = family_at.find(upper); found != family_at.end()) sides.back().upper[axis] = found->second;
    }
  }
  return sides;
}

bool same(const codec::Sides& a, const codec::Sides& b) { return a.outer == b.outer && a.upper == b.upper; }

void expect_as_by_places(const mesh::Octree& tree) {
  LevelSides sides(tree);
  const auto parents = parents_of(tree);
  std::vector<mesh::Coordinate> above = root_coordinates(tree);
  for (std::size_t level = 0; level < parents.size(); ++level) {
    SCOPED_TRACE(level);
    const auto found = sides.of(level);
    if (level < 2) {
      EXPECT_TRUE(found.empty());
    } else {
      const SidesOfLevel expected = by_places(tree, above, parents[level]);
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same));
    }
    if (level > 0) above = child_coordinates(tree, static_cast<int>(level) - 1, above);
  }
}

TEST(LevelSides, are_those_that_stand_at_the_faces) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    testing::TreeOptions options;
    options.max_cells = 4000;
    expect_as_by_places(testing::random_octree(seed, options));
  }
}

TEST(LevelSides, of_pruned_domains) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    const mesh::Octree whole = testing::random_octree(seed, {3, {2, 1, 3}, {1, 1, 1}, 6, 0.3, 4000});
    for (const mesh::Octree& domain : testing::random_domains(whole, 5)) expect_as_by_places(mesh::prune(domain).tree);
  }
}

TEST(LevelSides, no_block_has_any) {
  const mesh::Octree tree = testing::random_octree(3, {2, {2, 2, 0}, {4, 4, 1}, 4, 0, 1000});
  EXPECT_TRUE(LevelSides(tree).of(2).empty());
}

TEST(LevelSides, finer_levels_do_not_change_those_of_coarser_ones) {
  const mesh::Octree tree = testing::random_octree(7, {3, {1, 1, 1}, {1, 1, 1}, 6, 2, 20000});
  const mesh::Octree cut = mesh::truncate(tree, 3).tree;
  LevelSides of_tree(tree), of_cut(cut);
  const auto whole = of_tree.of(3), part = of_cut.of(3);
  EXPECT_FALSE(whole.empty());
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), part.begin(), part.end(), same));
}

}  // namespace
}  // namespace octavo::store
