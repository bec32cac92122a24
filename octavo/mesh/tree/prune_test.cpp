#include "octavo/mesh/tree/prune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

// A tree as pointers, to prune it slowly and obviously. `id` is the cell's index over all levels of the old tree.
struct Cell {
  std::size_t id = 0;
  bool owned = false;
  std::vector<Cell> children;
};

Cell grow(const Octree& tree, const std::vector<std::size_t>& offsets, std::size_t level, std::size_t i) {
  Cell cell{offsets[level] + i, tree.owned[level][i], {}};
  if (!tree.refined[level][i]) return cell;
  std::size_t rank = 0;
  for (std::size_t before = 0; before < i; ++before) rank += tree.refined[level][before] ? 1U : 0U;
  for (std::size_t c = 0; c < family_size(tree); ++c)
    cell.children.push_back(grow(tree, offsets, level + 1, rank * family_size(tree) + c));
  return cell;
}

std::vector<Cell> grow(const Octree& tree) {
  std::vector<Cell> roots;
  for (std::size_t i = 0; i < num_cells(tree, 0); ++i) roots.push_back(grow(tree, level_offsets(tree), 0, i));
  return roots;
}

bool any_owned(const Cell& cell) {
  for (const Cell& child : cell.children)
    if (child.owned || any_owned(child)) return true;
  return false;
}

void prune_slowly(Cell& cell) {
  if (!cell.owned && !any_owned(cell)) cell.children.clear();
  for (Cell& child : cell.children) prune_slowly(child);
}

void truncate_slowly(Cell& cell, int levels_below) {
  if (levels_below == 0) cell.children.clear();
  for (Cell& child : cell.children) truncate_slowly(child, levels_below - 1);
}

struct Flat {
  Octree tree;
  std::vector<std::size_t> ids;  // over all levels
};

Flat flatten(const Octree& shape, const std::vector<Cell>& roots) {
  Flat flat{shape, {}};
  flat.tree.refined.clear();
  flat.tree.owned.clear();
  std::vector<const Cell*> level;
  for (const Cell& root : roots) level.push_back(&root);
  while (!level.empty() || flat.tree.refined.empty()) {
    std::vector<const Cell*> below;
    base::BitArray refined, owned;
    for (const Cell* cell : level) {
      refined.push_back(!cell->children.empty());
      owned.push_back(cell->owned);
      flat.ids.push_back(cell->id);
      for (const Cell& child : cell->children) below.push_back(&child);
    }
    flat.tree.refined.push_back(refined);
    flat.tree.owned.push_back(owned);
    level = below;
  }
  return flat;
}

Flat pruned_slowly(const Octree& tree) {
  auto roots = grow(tree);
  for (Cell& root : roots) prune_slowly(root);
  std::vector<std::int64_t> numbers;
  for (const RootInterval& held : held_roots(tree))
    for (std::int64_t root = held.begin; root < held.end; ++root) numbers.push_back(root);
  RootIntervals kept;
  for (const Cell& root : roots)
    if (root.owned || !root.children.empty()) append(kept, {numbers[root.id], numbers[root.id] + 1});
  std::erase_if(roots, [](const Cell& root) { return !root.owned && root.children.empty(); });
  Flat flat = flatten(tree, roots);
  hold(flat.tree, kept);
  return flat;
}

Flat truncated_slowly(const Octree& tree, int deepest) {
  auto roots = grow(tree);
  for (Cell& root : roots) truncate_slowly(root, deepest);
  return flatten(tree, roots);
}

std::vector<std::size_t> source_ids(const Octree& old_tree, const Extract& extract) {
  const auto offsets = level_offsets(old_tree);
  std::vector<std::size_t> ids;
  for (std::size_t level = 0; level < extract.source.size(); ++level)
    for (std::uint32_t i : extract.source[level]) ids.push_back(offsets[level] + i);
  return ids;
}

double owned_leaf_volume(const Octree& tree) {
  double volume = 0;
  for (int level = 0; level < num_levels(tree); ++level)
    volume += std::ldexp(static_cast<double>(num_owned_leaves(tree, level)), -tree.dim * level);
  return volume;
}

std::size_t num_owned(const Octree& tree) {
  std::size_t n = 0;
  for (int level = 0; level < num_levels(tree); ++level) n += num_owned(tree, level);
  return n;
}

// Trees owned in all the ways that happen: by stretches of a curve, by chance (sparse, half, dense), all, not at all;
// and some that hold a part of the roots, of which they own less than before.
std::vector<Octree> trees(std::uint64_t seed) {
  const Octree whole = testing::random_octree(seed, {.max_cells = 3000});
  std::vector<Octree> all = testing::random_domains(whole, 1 + seed % 5);
  for (double share : {0.0, 0.002, 0.05, 0.5, 1.0}) {
    all.push_back(whole);
    testing::own_randomly(all.back(), share, seed + 1000);
    if (share == 0.05 || share == 0.5) {
      all.push_back(prune(all.back()).tree);
      testing::own_randomly(all.back(), 0.3, seed + 2000);
    }
  }
  return all;
}

constexpr std::uint64_t num_seeds = 500;

TEST(prune, does_what_the_slow_reference_does) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed)
    for (const Octree& tree : trees(seed)) {
      const Extract extract = prune(tree);
      const Flat expected = pruned_slowly(tree);
      ASSERT_NO_THROW(validate(extract.tree)) << seed;
      ASSERT_EQ(extract.tree, expected.tree) << seed;
      ASSERT_EQ(source_ids(tree, extract), expected.ids) << seed;
    }
}

TEST(prune, twice_changes_nothing) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed)
    for (const Octree& tree : trees(seed)) {
      const Octree once = prune(tree).tree;
      EXPECT_EQ(prune(once).tree, once) << seed;
    }
}

TEST(prune, keeps_every_owned_cell_and_the_volume_of_owned_leaves) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed)
    for (const Octree& tree : trees(seed)) {
      const Octree small = prune(tree).tree;
      EXPECT_EQ(num_owned(small), num_owned(tree)) << seed;
      EXPECT_EQ(owned_leaf_volume(small), owned_leaf_volume(tree)) << seed;
      EXPECT_LE(num_cells(small), num_cells(tree));
    }
}

TEST(prune, removes_cells_from_domains_of_a_curve) {
  const Octree whole = testing::random_octree(7, {.dim = 3, .max_levels = 6, .refine = 0.5});
  for (const Octree& domain : testing::random_domains(whole, 8))
    EXPECT_LT(num_cells(prune(domain).tree), num_cells(domain) / 2);
}

TEST(prune, never_turns_an_owned_refined_cell_into_a_leaf) {
  Octree tree;
  tree.dim = 2;
  tree.refined = {
      base::BitArray(1, true),
      base::BitArray(4),
  };
  tree.owned = {base::BitArray(1, true), base::BitArray(4)};
  EXPECT_EQ(prune(tree).tree, tree);
  EXPECT_EQ(num_owned_leaves(prune(tree).tree, 0), 0U);
}

TEST(prune, a_part_that_owns_nothing_holds_no_root) {
  Octree tree = testing::random_octree(3, {.dim = 3, .roots = {2, 3, 1}, .max_levels = 4, .refine = 0.7});
  testing::own_randomly(tree, 0, 1);
  const Extract extract = prune(tree);
  EXPECT_EQ(num_levels(extract.tree), 1);
  EXPECT_EQ(num_cells(extract.tree), 0U);
  EXPECT_TRUE(held_roots(extract.tree).empty());
  EXPECT_NO_THROW(validate(extract.tree));
}

TEST(prune, a_root_of_many_costs_one_cell) {
  Octree tree;
  tree.roots = {1 << 10, 1 << 10, 1 << 10};
  hold(tree, {{77, 80}, {1 << 29, (1 << 29) + 1}});
  tree.refined = {base::BitArray(4)};
  tree.owned = {base::BitArray(4)};
  tree.owned[0].set(1);
  tree.owned[0].set(3);
  const Octree small = prune(tree).tree;
  EXPECT_EQ(small.held, (RootIntervals{{78, 79}, {1 << 29, (1 << 29) + 1}}));
  EXPECT_EQ(root_coordinates(small), (std::vector<Coordinate>{{78, 0, 0}, {0, 0, 512}}));
}

TEST(hold_all_roots, puts_zeros_where_no_root_was_held) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Octree tree = testing::random_octree(seed, {.roots = {3, 3, 3}, .max_cells = 2000});
    testing::own_randomly(tree, 0.03, seed);
    const Field field = testing::random_field(tree, {.name = "a", .unit = "", .type = ScalarType::uint64}, seed);
    const Extract extract = prune(tree);
    Part part{0, extract.tree, {{field.info, gather(tree, extract, field.bytes, 8)}}, {}};
    hold_all_roots(part);
    const auto& whole = std::get<Octree>(part.mesh);
    ASSERT_NO_THROW(validate(whole));
    ASSERT_EQ(num_cells(whole, 0), num_cells(tree, 0));
    ASSERT_EQ(part.fields[0].bytes.size(), 8 * num_cells(whole));
    ASSERT_EQ(prune(whole).tree, extract.tree);
    EXPECT_EQ(gather(whole, prune(whole), part.fields[0].bytes, 8), gather(tree, extract, field.bytes, 8));
    const auto values = part.fields[0].as<std::uint64_t>();
    for (std::size_t i = 0; i < num_cells(whole, 0); ++i)
      EXPECT_TRUE(whole.owned[0][i] || whole.refined[0][i] || values[i] == 0);
  }
}

TEST(truncate, equals_dropping_all_that_lies_below) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    Octree tree = testing::random_octree(seed, {.max_cells = 3000});
    testing::own_randomly(tree, 0.5, seed);
    for (int deepest = 0; deepest <= num_levels(tree); ++deepest) {
      const Extract extract = truncate(tree, deepest);
      const Flat expected = truncated_slowly(tree, deepest);
      ASSERT_NO_THROW(validate(extract.tree));
      ASSERT_EQ(extract.tree, expected.tree) << seed << " to level index " << deepest;
      ASSERT_EQ(source_ids(tree, extract), expected.ids) << seed;
    }
  }
}

TEST(truncate, domains_still_cover_everything_once) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Octree whole = testing::random_octree(seed, {.max_cells = 3000});
    for (int deepest = 0; deepest < num_levels(whole); ++deepest) {
      double volume = 0;
      for (const Octree& domain : testing::random_domains(whole, 4))
        volume += owned_leaf_volume(truncate(prune(domain).tree, deepest).tree);
      EXPECT_EQ(volume, static_cast<double>(num_cells(whole, 0))) << seed;
    }
  }
}

TEST(truncate, a_level_above_the_roots_is_refused) {
  try {
    truncate(testing::random_octree(1), -1);
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
  }
}

TEST(gather, gives_every_cell_the_value_it_had) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (std::size_t width : {1U, 2U, 4U, 8U, 24U, 130U}) {
      Octree tree = testing::random_octree(seed, {.max_cells = 2000});
      testing::own_randomly(tree, 0.1, seed);
      FieldInfo info{.name = "bytes", .unit = "", .type = ScalarType::uint8};
      info.components = static_cast<int>(width);
      const Field field = testing::random_field(tree, info, seed);
      for (const Extract& extract : {prune(tree), truncate(tree, 2)}) {
        const auto out = gather(tree, extract, field.bytes, width);
        const auto ids = source_ids(tree, extract);
        ASSERT_EQ(out.size(), ids.size() * width);
        for (std::size_t i = 0; i < ids.size(); ++i)
          ASSERT_EQ(std::memcmp(&out[i * width], &field.bytes[ids[i] * width], width), 0) << seed << " cell " << i;
      }
    }
}

TEST(gather, values_that_do_not_fit_the_tree_are_refused) {
  const Octree tree = testing::random_octree(5);
  const std::vector<std::byte> values(num_cells(tree) * 8 - 1);
  try {
    gather(tree, prune(tree), values, 8);
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("expected " + std::to_string(num_cells(tree) * 8)));
  }
}

}  // namespace
}  // namespace octavo::mesh
