#include "octavo/mesh/tree/slopes.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

Header slope_header(const Octree& tree, bool periodic) {
  Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    header.lo[axis] = 0.3;
    header.hi[axis] = 0.3 + 1.7 * static_cast<double>(tree.roots[axis] * tree.block[axis]);
    header.periodic[axis] = periodic;
  }
  return header;
}

/// A tree with at least two cells along each axis; every third has blocks.
Octree tree_of(std::uint64_t seed) {
  const Index3 block = seed % 3 == 0 ? Index3{3, 2, 4} : Index3{1, 1, 1};
  testing::TreeOptions options;
  options.dim = 1 + static_cast<int>(seed % 3 + seed / 3) % 3;
  options.max_levels = 5;
  options.max_cells = 3000;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool there = axis < static_cast<std::size_t>(options.dim);
    options.roots[axis] = there ? 2 + static_cast<std::int64_t>((seed + axis) % 2) : 1;
    options.block[axis] = there ? block[axis] : 1;
  }
  return testing::random_octree(seed, options);
}

/// Values of f(x, y, z) at the middle of the leaves; nothing good on refined cells.
template <class F>
std::vector<double> values_of(const Octree& tree, const Header& header, F&& f) {
  std::vector<double> values(num_cells(tree) * block_size(tree), 1e300);
  const LeafTable leaves = leaf_table(tree, {values});
  for (const LeafTable::Leaf& leaf : leaves.leaves) {
    const Point3 size = cell_size(header, leaf.cell.level);
    Point3 middle{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      middle[axis] = header.lo[axis] + (leaf.cell.at[axis] + 0.5) * size[axis];
    values[leaf.place] = f(middle);
  }
  return values;
}

std::vector<SlopeOf> along_all(int dim) {
  std::vector<SlopeOf> all;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) all.push_back({0, axis});
  return all;
}

LeafTable nothing(const std::vector<LevelCell>& /*cells*/, bool /*own*/) { return {{}, {{}}}; }

/// The leaves of some parts at the cells.
LeafTable found_in(const std::vector<LeafTable>& parts, const Header& header, const std::vector<LevelCell>& cells) {
  LeafTable all{{}, {{}}};
  for (const LeafTable& part : parts) {
    const LeafTable some = leaves_at(part, header, cells);
    for (LeafTable::Leaf leaf : some.leaves) {
      leaf.place += static_cast<std::uint32_t>(all.values[0].size());
      all.leaves.push_back(leaf);
    }
    all.values[0].insert(all.values[0].end(), some.values[0].begin(), some.values[0].end());
  }
  return all;
}

double wave(const Point3& at) { return std::sin(3 * at[0]) + std::cos(2 * at[1]) * std::exp(0.3 * at[2]); }

TEST(Slopes, OfALinearFunctionAreItsOwnWhereverLevelsMeet) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Octree tree = tree_of(seed);
    const Header header = slope_header(tree, false);
    const Point3 rise{3, -2, 0.5};
    const auto values = values_of(
        tree, header, [&](const Point3& at) { return 7 + rise[0] * at[0] + rise[1] * at[1] + rise[2] * at[2]; });
    const LeafTable table = leaf_table(tree, {values});
    const auto found = slopes(table, header, along_all(tree.dim), nothing);
    for (std::size_t axis = 0; axis < found.size(); ++axis)
      for (const LeafTable::Leaf& leaf : table.leaves)
        EXPECT_NEAR(found[axis][leaf.place], rise[axis], 1e-9) << "seed " << seed << ", axis " << axis;
  }
}

TEST(Slopes, HaveTheSameBitsWhateverThePartsAre) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Octree tree = tree_of(seed);
    const Header header = slope_header(tree, seed % 2 == 0);
    const auto values = values_of(tree, header, wave);
    const auto wanted = along_all(tree.dim);
    const auto whole = slopes(leaf_table(tree, {values}), header, wanted, nothing);
    const auto domains = testing::random_domains(tree, 2 + seed % 5);
    for (std::size_t d = 0; d < domains.size(); ++d) {
      std::vector<LeafTable> others;
      for (std::size_t o = 0; o < domains.size(); ++o)
        if (o != d) others.push_back(compact(leaf_table(domains[o], {values})));
      const LeafTable own = leaf_table(domains[d], {values});
      const auto found = slopes(own, header, wanted, [&](const std::vector<LevelCell>& cells, bool again) {
        EXPECT_FALSE(again);
        return found_in(others, header, cells);
      });
      for (std::size_t axis = 0; axis < found.size(); ++axis)
        for (const LeafTable::Leaf& leaf : own.leaves)
          EXPECT_EQ(std::bit_cast<std::uint64_t>(found[axis][leaf.place]),
                    std::bit_cast<std::uint64_t>(whole[axis][leaf.place]))
              << "seed " << seed << ", domain " << d;
    }
  }
}

TEST(Slopes, AskThePartItselfForCellsThatASelectionTookAway) {
  const Octree tree = tree_of(5);
  const Header header = slope_header(tree, true);
  const auto values = values_of(tree, header, wave);
  const auto wanted = along_all(tree.dim);
  const auto whole = slopes(leaf_table(tree, {values}), header, wanted, nothing);
  Octree some = tree;
  testing::own_randomly(some, 0.3, 1);
  const std::vector<LeafTable> all{compact(leaf_table(tree, {values}))};
  const LeafTable own = leaf_table(some, {values});
  const auto found = slopes(own, header, wanted, [&](const std::vector<LevelCell>& cells, bool again) {
    return again ? found_in(all, header, cells) : LeafTable{{}, {{}}};
  });
  ASSERT_FALSE(own.leaves.empty());
  for (const LeafTable::Leaf& leaf : own.leaves) EXPECT_EQ(found[0][leaf.place], whole[0][leaf.place]);
}

TEST(Slopes, BesideNothingAreThoseOfTheOtherSide) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Octree tree = tree_of(seed);
    const Header header = slope_header(tree, false);
    const auto values = values_of(tree, header, [](const Point3& at) { return 2 * at[0]; });
    testing::own_randomly(tree, 0.6, seed);
    const LeafTable own = leaf_table(tree, {values});
    const auto found = slopes(own, header, along_all(tree.dim), nothing);
    for (const LeafTable::Leaf& leaf : own.leaves)
      if (!std::isnan(found[0][leaf.place])) {
        EXPECT_NEAR(found[0][leaf.place], 2, 1e-9);
      }
  }
}

TEST(Slopes, FewBoxesMeetAllCells) {
  const Octree tree = tree_of(7);
  const Header header = slope_header(tree, false);
  std::vector<LevelCell> cells;
  const LeafTable table = leaf_table(tree, {values_of(tree, header, wave)});
  for (const LeafTable::Leaf& leaf : table.leaves) cells.push_back(leaf.cell);
  const auto boxes = boxes_around(header, cells, 40);
  EXPECT_LE(boxes.size(), 64U);
  const Domain domain = domain_of(header);
  for (const LevelCell& cell : cells) {
    Point3 lo{}, hi{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
      const double size = cell_size(header, cell.level)[axis] / (header.hi[0] - header.lo[0]);
      lo[axis] = cell.at[axis] * size;
      hi[axis] = (cell.at[axis] + 1) * size;
    }
    EXPECT_TRUE(std::any_of(boxes.begin(), boxes.end(),
                            [&](const Box& box) { return meets(Region(box), domain, lo, hi) != Overlap::none; }));
  }
}

}  // namespace
}  // namespace octavo::mesh
