#include "octavo/mesh/octree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>

#include "octavo/base/error.hpp"
#include "octavo/mesh/mesh.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::BitArray bits(std::initializer_list<int> values) {
  base::BitArray out;
  for (int v : values) out.push_back(v != 0);
  return out;
}

// The 2-D example that LightAMR readers show: 1, 4, 16, 20 and 8 cells a level.
Octree lightamr_example() {
  Octree tree;
  tree.dim = 2;
  tree.refined = {bits({1}), bits({1, 1, 1, 1}), bits({0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}),
                  bits({0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}), base::BitArray(8)};
  for (const auto& level : tree.refined) tree.owned.emplace_back(level.size(), true);
  return tree;
}

std::string refusal(const Octree& tree) {
  try {
    validate(tree);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    return error.what();
  }
  return "accepted";
}

TEST(octree, lightamr_example_has_its_cells_per_level) {
  const Octree tree = lightamr_example();
  validate(tree);
  std::vector<std::size_t> cells;
  for (int level = 0; level < num_levels(tree); ++level) cells.push_back(num_cells(tree, level));
  EXPECT_THAT(cells, ElementsAre(1, 4, 16, 20, 8));
  EXPECT_EQ(num_cells(tree), 49U);
  EXPECT_THAT(level_offsets(tree), ElementsAre(0, 1, 5, 21, 41, 49));
  EXPECT_EQ(num_owned(tree, 2), 16U);
  EXPECT_EQ(num_owned_leaves(tree, 2), 11U);
  EXPECT_EQ(num_owned_leaves(tree, 4), 8U);
}

TEST(octree, lightamr_example_has_its_cells_where_they_belong) {
  const Octree tree = lightamr_example();
  auto positions = root_coordinates(tree);
  for (int level = 0; level < 3; ++level) positions = child_coordinates(tree, level, positions);
  ASSERT_EQ(positions.size(), 20U);
  // The refined cells of level index 2 lie at (1,1), (2,1), (1,2), (2,2) and (3,3).
  EXPECT_EQ(positions[0], (Coordinate{2, 2, 0}));
  EXPECT_EQ(positions[1], (Coordinate{3, 2, 0}));
  EXPECT_EQ(positions[2], (Coordinate{2, 3, 0}));
  EXPECT_EQ(positions[3], (Coordinate{3, 3, 0}));
  EXPECT_EQ(positions[4], (Coordinate{4, 2, 0}));
  EXPECT_EQ(positions[8], (Coordinate{2, 4, 0}));
  EXPECT_EQ(positions[12], (Coordinate{4, 4, 0}));
  EXPECT_EQ(positions[19], (Coordinate{7, 7, 0}));
}

TEST(octree, roots_run_x_fastest) {
  Octree tree;
  tree.roots = {2, 1, 3};
  EXPECT_THAT(root_coordinates(tree), ElementsAre(Coordinate{0, 0, 0}, Coordinate{1, 0, 0}, Coordinate{0, 0, 1},
                                                  Coordinate{1, 0, 1}, Coordinate{0, 0, 2}, Coordinate{1, 0, 2}));
}

TEST(octree, children_run_x_fastest_in_each_dimension) {
  Octree tree;
  tree.refined = {base::BitArray(1, true), base::BitArray(8)};
  for (int dim = 1; dim <= 3; ++dim) {
    tree.dim = dim;
    const auto cells = child_coordinates(tree, 0, {{5, 6, 7}});
    ASSERT_EQ(cells.size(), family_size(tree));
    for (std::uint32_t c = 0; c < cells.size(); ++c) {
      EXPECT_EQ(cells[c][0], 10 + (c & 1));
      EXPECT_EQ(cells[c][1], dim > 1 ? 12 + (c >> 1 & 1) : 0U);
      EXPECT_EQ(cells[c][2], dim > 2 ? 14 + (c >> 2) : 0U);
    }
  }
}

TEST(octree, random_trees_are_accepted_and_fill_their_domain) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Octree tree = testing::random_octree(seed);
    EXPECT_EQ(refusal(tree), "accepted") << seed;
    double volume = 0;
    for (int level = 0; level < num_levels(tree); ++level)
      volume += std::ldexp(static_cast<double>(num_owned_leaves(tree, level)), -tree.dim * level);
    EXPECT_EQ(volume, static_cast<double>(tree.roots[0] * tree.roots[1] * tree.roots[2])) << seed;
  }
}

TEST(octree, cells_of_a_level_stand_at_different_places_within_the_domain) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Octree tree = testing::random_octree(seed);
    auto positions = root_coordinates(tree);
    for (int level = 0; level < num_levels(tree); ++level) {
      if (level > 0) positions = child_coordinates(tree, level - 1, positions);
      ASSERT_EQ(positions.size(), num_cells(tree, level));
      auto sorted = positions;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
      for (const Coordinate& cell : positions)
        for (std::size_t axis = 0; axis < 3; ++axis)
          EXPECT_LT(cell[axis], axis < static_cast<std::size_t>(tree.dim) ? tree.roots[axis] << level : 1);
    }
  }
}

TEST(octree, a_single_level_is_valid) {
  Octree tree;
  tree.refined = {base::BitArray(1)};
  tree.owned = {base::BitArray(1, true)};
  EXPECT_EQ(refusal(tree), "accepted");
}

struct Mutation {
  const char* name;
  std::function<void(Octree&)> apply;
  const char* message;
};

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all{
      {"no dimension", [](Octree& t) { t.dim = 0; }, "dimensions of a tree: expected 1 to 3, found 0"},
      {"four dimensions", [](Octree& t) { t.dim = 4; }, "expected 1 to 3, found 4"},
      {"no roots", [](Octree& t) { t.roots[0] = 0; }, "roots along axis 0: expected a positive number, found 0"},
      {"negative roots", [](Octree& t) { t.roots[1] = -2; }, "roots along axis 1"},
      {"roots beyond dim", [](Octree& t) { t.roots[2] = 2; }, "roots along axis 2: expected 1 (the axis is not used)"},
      {"roots of 2^32", [](Octree& t) { t.roots[0] = std::int64_t{1} << 32; }, "less than 2^32"},
      {"roots whose product overflows",
       [](Octree& t) {
         t.dim = 3, t.roots = {4294967295, 4294967295, 4294967295};
       },
       "their product does not fit"},
      {"other roots than cells", [](Octree& t) { t.roots[0] = 2; }, "number of cells: expected 2, found 1"},
      {"an empty block", [](Octree& t) { t.block[0] = 0; }, "block cells along axis 0"},
      {"block beyond dim", [](Octree& t) { t.block[2] = 16; }, "block cells along axis 2: expected 1"},
      {"no levels", [](Octree& t) { t.refined.clear(), t.owned.clear(); }, "a tree without levels"},
      {"a level of ownership too few", [](Octree& t) { t.owned.pop_back(); },
       "levels of ownership bits: expected 5, found 4"},
      {"a cell too few", [](Octree& t) { t.refined[3].resize(19); }, "number of cells: expected 20, found 19"},
      {"an ownership bit too many", [](Octree& t) { t.owned[2].push_back(true); },
       "number of ownership bits: expected 16, found 17"},
      {"one refined cell more", [](Octree& t) { t.refined[2].set(0); }, "number of cells: expected 24, found 20"},
      {"one refined cell fewer", [](Octree& t) { t.refined[2].set(3, false); },
       "number of cells: expected 16, found 20"},
      {"refined on the deepest level", [](Octree& t) { t.refined[4].set(7); },
       "refined cells on the deepest level: expected 0, found 1"},
      {"an empty level", [](Octree& t) { t.refined.emplace_back(), t.owned.emplace_back(); }, "a level without cells"},
      {"bits past the end", [](Octree& t) { t.refined[3].words()[0] |= std::uint64_t{1} << 20; },
       "refinement bits: set bits past the last cell"},
      {"ownership past the end", [](Octree& t) { t.owned[4].words()[0] |= std::uint64_t{1} << 63; },
       "ownership bits: set bits past the last cell"},
      {"a word too few", [](Octree& t) { t.owned[4].words().clear(); }, "words of storage expected 1, found 0"},
  };
  return all;
}

TEST(octree, every_kind_of_damage_is_refused_by_name) {
  for (const Mutation& mutation : mutations()) {
    Octree tree = lightamr_example();
    mutation.apply(tree);
    EXPECT_THAT(refusal(tree), HasSubstr(mutation.message)) << mutation.name;
  }
}

TEST(octree, a_tree_holds_the_roots_that_it_lists) {
  Octree tree;
  tree.dim = 2;
  tree.roots = {4, 3, 1};
  hold(tree, {{1, 3}, {7, 9}, {11, 12}});
  tree.refined = tree.owned = {base::BitArray(5)};
  tree.refined[0].set(2);
  tree.refined.emplace_back(4);
  tree.owned.emplace_back(4, true);
  EXPECT_EQ(refusal(tree), "accepted");
  const auto at = root_coordinates(tree);
  EXPECT_EQ(at, (std::vector<Coordinate>{{1, 0, 0}, {2, 0, 0}, {3, 1, 0}, {0, 2, 0}, {3, 2, 0}}));
  EXPECT_EQ(child_coordinates(tree, 0, at).front(), (Coordinate{6, 2, 0}));
  const RootIndex index(held_roots(tree));
  std::vector<std::int64_t> found;
  for (std::int64_t root = -1; root < 14; ++root)
    if (const auto place = index.find(root)) {
      EXPECT_EQ(*place, found.size());
      found.push_back(root);
    }
  EXPECT_EQ(found, (std::vector<std::int64_t>{1, 2, 7, 8, 11}));
}

TEST(octree, all_roots_and_no_root_are_both_an_empty_list) {
  Octree tree;
  tree.roots = {2, 2, 2};
  tree.refined = tree.owned = {base::BitArray(8)};
  hold(tree, {{0, 8}});
  EXPECT_TRUE(tree.held.empty());
  EXPECT_EQ(refusal(tree), "accepted");
  EXPECT_EQ(held_roots(tree), (RootIntervals{{0, 8}}));
  tree.refined = tree.owned = {base::BitArray()};
  hold(tree, {});
  EXPECT_EQ(refusal(tree), "accepted");
  EXPECT_TRUE(held_roots(tree).empty());
  EXPECT_TRUE(root_coordinates(tree).empty());
}

TEST(octree, held_roots_that_cannot_be_are_refused) {
  Octree tree;
  tree.roots = {4, 2, 1};
  tree.refined = tree.owned = {base::BitArray(3)};
  const auto refused = [&](RootIntervals held) {
    tree.held = std::move(held);
    return refusal(tree);
  };
  EXPECT_EQ(refused({{1, 4}}), "accepted");
  EXPECT_THAT(refused({{2, 4}, {0, 1}}), HasSubstr("found [0, 1) after one up to 4"));
  EXPECT_THAT(refused({{0, 2}, {1, 3}}), HasSubstr("found [1, 3) after one up to 2"));
  EXPECT_THAT(refused({{0, 2}, {2, 3}}), HasSubstr("that do not touch"));
  EXPECT_THAT(refused({{2, 2}}), HasSubstr("found [2, 2)"));
  EXPECT_THAT(refused({{-1, 2}}), HasSubstr("found [-1, 2)"));
  EXPECT_THAT(refused({{6, 9}}), HasSubstr("below 8, found [6, 9)"));
  EXPECT_THAT(refused({{0, std::int64_t{1} << 62}}), HasSubstr("held roots"));
  EXPECT_THAT(refused({{0, 8}}), HasSubstr("expected an empty list"));
  EXPECT_THAT(refused({{0, 4}}), HasSubstr("number of cells: expected 4, found 3"));
  EXPECT_THAT(refused({}), HasSubstr("number of cells: expected 8, found 3"));
}

TEST(octree, joined_lists_have_what_either_has) {
  testing::Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::array<RootIntervals, 2> lists;
    std::array<bool, 40> either{};
    for (RootIntervals& list : lists)
      for (std::int64_t root = 0; root < 40; ++root)
        if (random.chance(0.4)) {
          append(list, {root, root + 1});
          either[static_cast<std::size_t>(root)] = true;
        }
    RootIntervals expected;
    for (std::int64_t root = 0; root < 40; ++root)
      if (either[static_cast<std::size_t>(root)]) append(expected, {root, root + 1});
    EXPECT_EQ(join(lists[0], lists[1]), expected);
  }
}

TEST(octree, damage_names_its_level) {
  Octree tree = lightamr_example();
  tree.owned[2].push_back(true);
  EXPECT_THAT(refusal(tree), HasSubstr("level index 2"));
}

TEST(octree, more_levels_than_positions_have_bits_are_refused) {
  Octree tree;
  tree.dim = 1;
  tree.roots = {3, 1, 1};  // two bits: 30 more levels fit
  const auto deepen = [&](int levels) {
    tree.refined.assign(1, bits({1, 0, 0}));
    for (int l = 1; l + 1 < levels; ++l) tree.refined.push_back(bits({1, 0}));
    tree.refined.push_back(bits({0, 0}));
    tree.owned = tree.refined;
  };
  deepen(31);
  EXPECT_EQ(refusal(tree), "accepted");
  deepen(32);
  EXPECT_THAT(refusal(tree), HasSubstr("more levels than 32-bit positions can reach"));
}

TEST(octree, any_flipped_refinement_bit_is_found) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Octree tree = testing::random_octree(seed, {.max_cells = 200});
    for (std::size_t level = 0; level < tree.refined.size(); ++level)
      for (std::size_t i = 0; i < tree.refined[level].size(); ++i) {
        Octree damaged = tree;
        damaged.refined[level].set(i, !damaged.refined[level][i]);
        EXPECT_NE(refusal(damaged), "accepted") << seed << " level " << level << " cell " << i;
      }
  }
}

}  // namespace
}  // namespace octavo::mesh
