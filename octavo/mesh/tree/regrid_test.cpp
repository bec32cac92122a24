#include "octavo/mesh/tree/regrid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/walk.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;
using octavo::testing::AllCells;
using octavo::testing::CellAt;
using octavo::testing::cells_of_step;
using octavo::testing::same;
using ::testing::HasSubstr;

/// Whole numbers: their sums and means of 2^dim equal ones are exact.
Part part_of(const Octree& tree, std::uint64_t seed) {
  Part part;
  part.mesh = tree;
  Field field = make_field({"u", "", ScalarType::float64, Centring::cell, 1, 0}, num_cells(tree) * block_size(tree));
  octavo::testing::Random random(seed);
  for (double& value : field.as<double>()) value = static_cast<double>(random.below(1 << 20));
  part.fields.push_back(std::move(field));
  return part;
}

/// The whole new tree with its values.
AllCells regridded(const Part& source, const Regrid& plan) {
  Part out;
  out.mesh = plan.tree;
  const std::size_t values = num_cells(plan.tree) * block_size(plan.tree);
  out.fields.push_back(make_field(source.fields[0].info, values));
  BitArray known(values);
  scatter(source, plan, plan.tree, out.fields, known);
  complete(plan, plan.tree, out.fields, known);
  return cells_of_step(octavo::testing::step_of({}, {out}), "u");
}

AllCells cells(const Part& source) { return cells_of_step(octavo::testing::step_of({}, {source}), "u"); }

double integral(const AllCells& cells, int dim) {
  double sum = 0;
  for (const auto& [at, value] : cells.leaves) sum += value * std::pow(static_cast<double>(at[0]), -dim);
  return sum;
}

Octree random_tree(std::uint64_t seed, int dim, const Index3& block, int levels = 5) {
  return octavo::testing::random_octree(
      seed, {.dim = dim, .roots = {2, 2, 2}, .block = block, .max_levels = levels, .refine = 0.4, .max_cells = 500});
}

std::string message_of(const std::function<void()>& work, Kind kind) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(TreeIndex, finds_every_cell_and_no_other) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Octree tree = octavo::testing::random_octree(seed, {.max_cells = 300});
    const TreeIndex index(tree);
    std::vector<Coordinate> at = root_coordinates(tree);
    for (int level = 0; level < num_levels(tree); ++level) {
      if (level > 0) at = child_coordinates(tree, level - 1, at);
      std::size_t found = 0;
      Index3 extent{1, 1, 1};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
        extent[axis] = tree.roots[axis] << level;
      for (std::size_t i = 0; i < at.size(); ++i) {
        ASSERT_EQ(index.find(level, {at[i][0], at[i][1], at[i][2]}), i);
        ++found;
      }
      if (extent[0] * extent[1] * extent[2] > 20000) continue;
      std::size_t all = 0;
      for (std::int64_t z = 0; z < extent[2]; ++z)
        for (std::int64_t y = 0; y < extent[1]; ++y)
          for (std::int64_t x = 0; x < extent[0]; ++x) all += index.find(level, {x, y, z}).has_value();
      EXPECT_EQ(all, found);
    }
    EXPECT_FALSE(index.find(0, {-1, 0, 0}));
    EXPECT_FALSE(index.find(num_levels(tree), {0, 0, 0}));
  }
}

// A random tree, or the piece of it that one part would hold.
Octree some_tree(std::uint64_t seed) {
  Octree tree = octavo::testing::random_octree(seed, {.max_cells = 300});
  if (seed % 2 == 0) return tree;
  octavo::testing::Random random(seed);
  for (BitArray& level : tree.owned)
    for (std::size_t i = 0; i < level.size(); ++i) level.set(i, random.chance(0.1));
  return prune(tree).tree;
}

TEST(LevelCells, has_the_positions_of_every_level) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Octree tree = some_tree(seed);
    std::vector<Coordinate> at = root_coordinates(tree);
    LevelCells cells(tree);
    for (int level = 0; level < num_levels(tree); ++level, cells.next()) {
      if (level > 0) at = child_coordinates(tree, level - 1, at);
      EXPECT_EQ(cells.level(), level);
      ASSERT_EQ(cells.size(), at.size());
      std::size_t next = 0;
      cells.for_each([&](std::size_t cell, const Coordinate& position) {
        EXPECT_EQ(cell, next++);
        EXPECT_EQ(position, at[cell]);
      });
      EXPECT_EQ(next, at.size());
    }
  }
}

TEST(TreeIndex, a_cut_of_the_walk_counts_what_it_has_visited) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Octree tree = some_tree(seed);
    const TreeIndex index(tree);
    std::vector<std::size_t> visited(tree.refined.size());
    std::size_t n = 0;
    EXPECT_EQ(cut_walk(index, 0), visited);
    walk(tree, [&](int level, std::size_t cell, const Coordinate&) {
      EXPECT_EQ(cell, visited[static_cast<std::size_t>(level)]++);
      EXPECT_EQ(cut_walk(index, ++n), visited);
      return true;
    });
    EXPECT_EQ(n, num_cells(tree));
  }
}

TEST(TreeIndex, roots_between_have_what_lies_below_them) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Octree tree = some_tree(seed);
    const TreeIndex index(tree);
    const std::size_t roots = num_cells(tree, 0);
    for (const std::size_t first : {std::size_t{0}, roots / 3, roots})
      for (const std::size_t last : {first, first + (roots - first) / 2, roots}) {
        const Octree piece = roots_between(index, first, last);
        EXPECT_NO_THROW(validate(piece));
        Octree mine = tree;  // what prune leaves of a tree whose cells below these roots are owned
        std::vector<std::size_t> begin = cells_before(index, first), end = cells_before(index, last);
        for (std::size_t l = 0; l < mine.owned.size(); ++l)
          for (std::size_t i = 0; i < mine.owned[l].size(); ++i) mine.owned[l].set(i, i >= begin[l] && i < end[l]);
        Octree all = piece;
        for (BitArray& level : all.owned) level = BitArray(level.size(), true);
        EXPECT_EQ(all, prune(mine).tree);
      }
  }
}

TEST(Regrid, blocks_unfold_into_cells_and_fold_back_to_the_bit) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const std::int64_t side = seed % 2 == 0 ? 4 : 6;
    const Index3 block{side, dim > 1 ? side : 1, dim > 2 ? side : 1};
    const Part source = part_of(random_tree(seed, dim, block, 4), seed);
    const Regrid unfolded = plan_regrid(std::get<Octree>(source.mesh), {});
    EXPECT_EQ(unfolded.fills, 0);
    EXPECT_EQ(unfolded.means, 0);
    const AllCells as_cells = regridded(source, unfolded);
    EXPECT_TRUE(same(as_cells.all, cells(source).all));
    EXPECT_TRUE(same(as_cells.leaves, cells(source).leaves));
    RegridOptions back;
    back.block = block;
    const Regrid folded = plan_regrid(unfolded.tree, back);
    EXPECT_EQ(folded.tree.refined, std::get<Octree>(source.mesh).refined);
    EXPECT_EQ(folded.fills, 0);
  }
}

TEST(Regrid, levels_above_the_roots_get_means_and_nothing_else_changes) {
  const Part source = part_of(random_tree(5, 2, {8, 8, 1}, 3), 5);
  RegridOptions options;
  options.root = -2;
  const Regrid plan = plan_regrid(std::get<Octree>(source.mesh), options);
  EXPECT_EQ(plan.shift, -2);
  EXPECT_EQ(plan.means, 4 * 4 + 8 * 8);
  const AllCells before = cells(source), after = regridded(source, plan);
  EXPECT_TRUE(same(after.leaves, before.leaves));
  double mean = 0;
  for (std::int64_t y = 0; y < 2; ++y)
    for (std::int64_t x = 0; x < 2; ++x) mean += before.all.at({16, 6 + x, 2 + y, 0}) / 4;
  EXPECT_EQ(after.all.at({8, 3, 1, 0}), mean);
}

TEST(Regrid, incomplete_blocks_are_listed_or_filled_and_every_value_stays) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const Part source = part_of(random_tree(seed + 100, dim, {1, 1, 1}, 6), seed);
    RegridOptions options;
    options.block = {4, dim > 1 ? 4 : 1, dim > 2 ? 4 : 1};
    try {
      EXPECT_EQ(plan_regrid(std::get<Octree>(source.mesh), options).fills, 0);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), Kind::unsupported);
      EXPECT_THAT(error.what(), HasSubstr("blocks are missing"));
    }
    options.fill = true;
    options.by = FillBy::constant;
    const Regrid plan = plan_regrid(std::get<Octree>(source.mesh), options);
    const AllCells before = cells(source), after = regridded(source, plan);
    std::int64_t made = 0;
    for (const auto& [at, value] : after.all) {
      CellAt up = at;
      if (const auto kept = before.all.find(at); kept != before.all.end()) {
        ASSERT_EQ(value, kept->second);
        continue;
      }
      while (before.all.count(up) == 0) up = {up[0] / 2, up[1] / 2, up[2] / 2, up[3] / 2};
      ASSERT_EQ(value, before.all.at(up));
      ++made;
    }
    EXPECT_EQ(plan.fills, made);
    EXPECT_NEAR(integral(after, dim), integral(before, dim), 1e-9 * std::abs(integral(before, dim)));
  }
  EXPECT_GT(refused, 3);
}

TEST(Regrid, a_linear_fill_keeps_every_value_and_all_integrals_and_makes_no_extremum) {
  int sloped = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const Part source = part_of(random_tree(seed + 100, dim, {1, 1, 1}, 6), seed);
    RegridOptions options;
    options.block = {4, dim > 1 ? 4 : 1, dim > 2 ? 4 : 1};
    options.fill = true;
    options.periodic = {seed % 2 == 0, true, false};
    const Regrid plan = plan_regrid(std::get<Octree>(source.mesh), options);
    const AllCells before = cells(source), after = regridded(source, plan);
    double low = before.all.begin()->second, high = low;
    for (const auto& [at, value] : before.all) low = std::min(low, value), high = std::max(high, value);
    for (const auto& [at, value] : after.all) {
      if (const auto kept = before.all.find(at); kept != before.all.end()) {
        ASSERT_EQ(value, kept->second);
        continue;
      }
      ASSERT_GE(value, low);
      ASSERT_LE(value, high);
      const auto up = after.all.find({at[0] / 2, at[1] / 2, at[2] / 2, at[3] / 2});
      sloped += up != after.all.end() && up->second != value;
    }
    EXPECT_NEAR(integral(after, dim), integral(before, dim), 1e-12 * std::abs(integral(before, dim)));
  }
  EXPECT_GT(sloped, 100);
}

TEST(Regrid, unbalanced_neighbours_are_refused_or_refined_until_none_is_left) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const int dim = 2 + static_cast<int>(seed % 2);
    const Part source = part_of(random_tree(seed + 40, dim, {1, 1, 1}, 6), seed);
    RegridOptions options;
    options.balance = Balance::corners;
    options.periodic = {true, false, true};
    try {
      plan_regrid(std::get<Octree>(source.mesh), options);
    } catch (const Error& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("more than one level"));
    }
    options.fill = true;
    const Regrid plan = plan_regrid(std::get<Octree>(source.mesh), options);
    const AllCells after = regridded(source, plan);
    std::set<CellAt> all;
    for (const auto& [at, value] : after.all) all.insert(at);
    for (const auto& [at, value] : after.all) {
      if (after.leaves.count(at) != 0) continue;
      for (std::int64_t dz = dim > 2 ? -1 : 0; dz <= (dim > 2 ? 1 : 0); ++dz)
        for (std::int64_t dy = -1; dy <= 1; ++dy)
          for (std::int64_t dx = -1; dx <= 1; ++dx) {
            const std::int64_t n = at[0];
            const CellAt to{n, (at[1] + dx + n) % n, at[2] + dy, dim > 2 ? (at[3] + dz + n) % n : 0};
            ASSERT_TRUE(to[2] < 0 || to[2] >= n || all.count(to) != 0) << "beside a refined cell";
          }
    }
    EXPECT_NEAR(integral(after, dim), integral(cells(source), dim), 1e-9 * std::abs(integral(after, dim)));
  }
  EXPECT_GT(refused, 3);
}

TEST(Regrid, a_domain_that_no_level_divides_into_blocks_is_refused) {
  const Octree tree = octavo::testing::random_octree(1, {.dim = 2, .roots = {3, 2, 1}, .max_levels = 2, .refine = 1});
  RegridOptions options;
  options.block = {5, 4, 1};
  EXPECT_THAT(message_of([&] { plan_regrid(tree, options); }, Kind::unsupported), HasSubstr("cannot be divided"));
}

}  // namespace
}  // namespace octavo::mesh
