#include "octavo/mesh/tree/listed_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using ::testing::HasSubstr;

/// The owned cells of a tree, in no order.
std::vector<ListedBlock> list_of(const Octree& tree, testing::Random& random) {
  std::vector<ListedBlock> list;
  auto at = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    if (level > 0) at = child_coordinates(tree, level - 1, at);
    tree.owned[l].for_each_set([&](std::size_t i) { list.push_back({level, at[i], tree.refined[l][i]}); });
  }
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  return list;
}

TEST(ListedBlocks, the_tree_of_owned_blocks_is_the_pruned_one_whatever_their_order) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::Random random(seed);
    Octree whole = testing::random_octree(seed, {.block = {1, 1, 1}, .max_cells = 3000});
    // A few blocks of the whole; all of them; none.
    const double share = seed % 10 == 0 ? 0 : seed % 10 == 1 ? 1 : 0.1 * random.uniform();
    for (base::BitArray& owned : whole.owned)
      for (std::size_t i = 0; i < owned.size(); ++i) owned.set(i, random.chance(share));
    const std::vector<ListedBlock> list = list_of(whole, random);
    const ListedTree found = tree_of_blocks(whole.dim, whole.roots, whole.block, list);
    validate(found.tree);
    EXPECT_EQ(found.tree, prune(whole).tree) << "seed " << seed;
    // Each block once, at its place.
    std::vector<int> times(list.size());
    std::size_t cell = 0;
    auto at = root_coordinates(found.tree);
    for (int level = 0; level < num_levels(found.tree); ++level) {
      const auto l = static_cast<std::size_t>(level);
      if (level > 0) at = child_coordinates(found.tree, level - 1, at);
      for (std::size_t i = 0; i < at.size(); ++i, ++cell) {
        EXPECT_EQ(found.place[cell] != ListedTree::nowhere, found.tree.owned[l][i]);
        if (found.place[cell] == ListedTree::nowhere) continue;
        EXPECT_EQ(list[found.place[cell]].at, at[i]);
        EXPECT_EQ(list[found.place[cell]].level, level);
        ++times[found.place[cell]];
      }
    }
    EXPECT_EQ(cell, found.place.size());
    EXPECT_EQ(times, std::vector<int>(list.size(), 1));
  }
}

void expect_refused(const std::vector<ListedBlock>& blocks, const char* text) {
  try {
    tree_of_blocks(2, {2, 1, 1}, {4, 4, 1}, blocks);
    ADD_FAILURE() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(ListedBlocks, a_list_that_is_no_tree_is_refused_with_the_blocks_number) {
  expect_refused({{0, {0, 0, 0}, false}, {0, {2, 0, 0}, false}}, "block 1 (level index 0, position 2 0 0)");
  expect_refused({{1, {3, 2, 0}, false}}, "is not in the domain");
  expect_refused({{-1, {0, 0, 0}, false}}, "is not in the domain");
  expect_refused({{32, {0, 0, 0}, false}}, "is not in the domain");
  expect_refused({{0, {0, 0, 1}, false}}, "is not in the domain");
  expect_refused({{1, {1, 1, 0}, false}, {0, {1, 0, 0}, false}, {1, {1, 1, 0}, false}},
                 "block 2 (level index 1, position 1 1 0) stands where block 0 is");
  expect_refused({{0, {1, 0, 0}, false}, {2, {4, 0, 0}, false}},
                 "block 0 (level index 0, position 1 0 0) has children");
}

}  // namespace
}  // namespace octavo::mesh
