#include "octavo/mesh/tree/finer.hpp"

#include <gtest/gtest.h>

#include "octavo/mesh/tree/refine.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using octavo::testing::cells_of_step;
using octavo::testing::same;
using octavo::testing::step_of;

Part random_part(std::uint64_t seed, int dim, std::int64_t side) {
  Part part;
  part.mesh = octavo::testing::random_octree(seed, {.dim = dim,
                                                    .roots = {3, 2, 2},
                                                    .block = {side, dim > 1 ? side : 1, dim > 2 ? side : 1},
                                                    .max_levels = 3,
                                                    .refine = 0.5,
                                                    .max_cells = 60});
  part.fields.push_back(
      octavo::testing::random_field(octree_of(part), {"u", "", ScalarType::float64, Centring::cell, 1, 0}, seed));
  return part;
}

TEST(Finer, a_level_refined_part_by_part_is_that_of_the_whole_to_the_bit) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3), times = 1 + static_cast<int>(seed / 6 % 3);
    const Part whole = random_part(seed, dim, seed % 2 == 0 ? 1 : 2);
    const int level = num_levels(octree_of(whole)) - 1;
    FillOptions how;
    how.periodic = {seed % 4 < 2, true, seed % 4 == 1};
    Part expected = whole;
    for (int l = level; l < level + times; ++l)
      expected = refine_leaves(expected, how, [l](int of, const Coordinate&) { return of == l; });
    for (const int count : {1, 2, 5}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " parts " + std::to_string(count));
      const auto parts = split(std::span(&whole, 1), plan_split(std::span(&whole, 1), count));
      std::vector<Part> refined;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto cells = cells_beside(octree_of(parts[p]), level, how.periodic);
        std::vector<Part> beside;
        for (std::size_t q = 0; q < parts.size(); ++q)
          if (q != p) beside.push_back(only_cells(parts[q], level, cells));
        refined.push_back(refine_level(parts[p], std::move(beside), level, times, how));
      }
      const auto found = cells_of_step(step_of({}, refined), "u"), wanted = cells_of_step(step_of({}, {expected}), "u");
      EXPECT_EQ(found.twice, 0u);
      EXPECT_TRUE(same(found.all, wanted.all));
      EXPECT_TRUE(same(found.leaves, wanted.leaves));
    }
  }
}

TEST(Finer, nothing_is_looked_for_beside_a_part_that_owns_all_or_has_no_leaf_there) {
  const Part whole = random_part(7, 2, 1);
  const Octree& tree = octree_of(whole);
  EXPECT_TRUE(cells_beside(tree, 0, {true, true, true}).empty());
  EXPECT_TRUE(cells_beside(tree, num_levels(tree) + 3, {true, true, true}).empty());
}

}  // namespace
}  // namespace octavo::mesh
