#include "octavo/mesh/tree/hyper_trees.hpp"

#include <gmock/gmock.h>

#include "octavo/mesh/tree/tree_index.hpp"
#include "octavo/mesh/tree/walk.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

TEST(HyperTrees, only_blocks_of_the_same_power_of_two_unfold) {
  Octree tree = testing::random_octree(1, {.dim = 2});
  EXPECT_EQ(levels_in_block(tree), 0);
  EXPECT_EQ(unfold_blocks(tree), tree);
  tree.block = {8, 8, 1};
  EXPECT_EQ(levels_in_block(tree), 3);
  tree.block = {8, 4, 1};
  EXPECT_EQ(levels_in_block(tree), std::nullopt);
  tree.block = {12, 12, 1};
  EXPECT_EQ(levels_in_block(tree), std::nullopt);
}

TEST(HyperTrees, each_cell_of_a_block_is_where_its_position_says) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const int dim = static_cast<int>(seed % 3) + 1;
    Index3 block{1, 1, 1};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) block[axis] = seed % 2 == 0 ? 4 : 2;
    const Octree tree = testing::random_octree(seed, {.dim = dim, .block = block, .max_levels = 4, .max_cells = 600});
    const Octree cells = unfold_blocks(tree);
    validate(cells);
    const TreeIndex index(cells);
    const std::vector<std::uint32_t> order = unfolded_order(tree);
    const int more = levels_in_block(tree).value();
    ASSERT_EQ(num_levels(cells), num_levels(tree) + more);
    walk(tree, [&](int level, std::size_t cell, const Coordinate& at) {
      for (std::size_t c = 0; c < order.size(); ++c) {
        const std::int64_t x = order[c] % block[0], y = order[c] / block[0] % block[1],
                           z = order[c] / block[0] / block[1];
        const Index3 place{at[0] * block[0] + x, at[1] * block[1] + y, at[2] * block[2] + z};
        EXPECT_EQ(index.find(level + more, place), cell * order.size() + c) << "seed " << seed;
        EXPECT_EQ(cells.refined[static_cast<std::size_t>(level + more)][cell * order.size() + c],
                  tree.refined[static_cast<std::size_t>(level)][cell]);
      }
      return true;
    });
  }
}

TEST(HyperTrees, root_by_root_every_place_is_taken_once_and_a_root_is_breadth_first) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Octree tree = testing::random_octree(seed);
    const RootByRoot order(tree);
    ASSERT_EQ(order.num_cells(), num_cells(tree));
    std::vector<std::pair<int, std::uint64_t>> at(order.num_cells(), {-1, 0});
    for (int level = 0; level < num_levels(tree); ++level)
      order.for_each_stretch(level, 0, num_cells(tree, level),
                             [&](std::uint64_t place, std::uint64_t first, auto count) {
                               for (std::uint64_t i = 0; i < count; ++i) {
                                 EXPECT_EQ(at[place + i].first, -1);
                                 at[place + i] = {level, first + i};
                               }
                             });
    // Read in order, a root's levels follow one another, and its cells on a level are those below it.
    std::size_t place = 0;
    for (std::size_t root = 0; root < order.num_roots(); ++root)
      for (int level = 0; level < order.depth(root); ++level)
        for (std::uint64_t cell = order.begin(level, root); cell < order.begin(level, root + 1); ++cell, ++place)
          EXPECT_EQ(at[place], std::pair(level, cell)) << "seed " << seed;
    EXPECT_EQ(place, at.size());
  }
}

}  // namespace
}  // namespace octavo::mesh
