#include "octavo/formats/amrex/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Kind;
using mesh::Index3;
using mesh::IndexBox;
using ::testing::HasSubstr;

/// A tree of which every cell is owned: `refine(level, cell position)` says what is refined.
template <class Refine>
mesh::Octree tree_of(int dim, const Index3& roots, const Index3& block, int levels, Refine&& refine) {
  mesh::Octree tree;
  tree.dim = dim;
  tree.roots = roots;
  tree.block = block;
  auto at = mesh::root_coordinates(tree);
  for (int level = 0; level < levels; ++level) {
    base::BitArray refined(at.size()), owned(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      owned.set(i);
      if (level + 1 < levels && refine(level, at[i])) refined.set(i);
    }
    tree.refined.push_back(refined);
    tree.owned.push_back(owned);
    if (level + 1 < levels) at = mesh::child_coordinates(tree, level, at);
  }
  return tree;
}

/// 2-D, 16 x 16 cells, of which those from (4, 4) to (12, 12) are refined: 16 x 16 cells from (8, 8) on.
mesh::Octree square() {
  return tree_of(2, {16, 16, 1}, {1, 1, 1}, 2,
                 [](int, const mesh::Coordinate& c) { return c[0] >= 4 && c[0] < 12 && c[1] >= 4 && c[1] < 12; });
}

mesh::Header header_2d() {
  mesh::Header header;
  header.dim = 2;
  header.roots = {16, 16, 1};
  return header;
}

std::int64_t cells_of(const std::vector<IndexBox>& boxes) {
  std::int64_t cells = 0;
  for (const IndexBox& box : boxes) cells += mesh::num_cells(box, 2);
  return cells;
}

void expect_multiples(const BoxLayout& layout, std::int64_t factor, std::int64_t most) {
  for (const auto& boxes : layout.patches.boxes)
    for (const IndexBox& box : boxes)
      for (std::size_t axis = 0; axis < 2; ++axis) {
        EXPECT_EQ(box.lo[axis] % factor, 0);
        EXPECT_EQ(box.hi[axis] % factor, 0);
        EXPECT_LE(box.hi[axis] - box.lo[axis], most);
      }
}

TEST(layout, boxes_are_runs_of_cubes_of_the_largest_factor_that_fits) {
  // An octree of blocks of 8 cells would want all 32 x 32 of the finer level.
  const BoxLayout eight = plan_layout(header_2d(), square(), {});
  EXPECT_EQ(eight.blocking_factor, 8);
  EXPECT_EQ(eight.patches.boxes[1], (std::vector<IndexBox>{{{8, 8, 0}, {24, 24, 1}}}));
  expect_multiples(eight, 8, 64);
  const BoxLayout small = plan_layout(header_2d(), square(), {.max_box = 12});
  EXPECT_EQ(small.blocking_factor, 4);
  expect_multiples(small, 4, 12);
  EXPECT_EQ(cells_of(small.patches.boxes[0]), 256);
  EXPECT_EQ(cells_of(small.patches.boxes[1]), 256);
  mesh::validate(small.patches);
}

TEST(layout, of_blocks_too_also_where_the_factor_is_another) {
  for (const std::int64_t side : {4, 6, 12, 16}) {
    const mesh::Octree tree =
        tree_of(2, {4, 2, 1}, {side, side, 1}, 2, [](int, const mesh::Coordinate& c) { return c[0] < 2; });
    mesh::Header header = header_2d();
    header.roots = {4, 2, 1};
    for (const std::int64_t factor : {1, 2, 4, 8}) {
      const LayoutOptions options{.max_box = 16, .blocking_factor = factor};
      if (2 * side % factor != 0) {
        EXPECT_THROW(plan_layout(header, tree, options), base::Error) << side << " " << factor;
        continue;
      }
      const BoxLayout layout = plan_layout(header, tree, options);
      expect_multiples(layout, factor, 16);
      EXPECT_EQ(cells_of(layout.patches.boxes[1]), 4 * 4 * side * side);
    }
  }
}

TEST(layout, a_factor_that_does_not_fit_is_refused_with_the_first_places) {
  const mesh::Octree tree = tree_of(2, {16, 16, 1}, {1, 1, 1}, 2, [](int, const mesh::Coordinate& c) {
    return c[0] >= 6 && c[0] < 12 && c[1] >= 4 && c[1] < 12;
  });
  try {
    plan_layout(header_2d(), tree, {.blocking_factor = 8});
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), Kind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("level 1 is not made of cubes of 8 cells: of 2 a part is there only: "
                                        "[8,8 to 16,16), [8,16 to 16,24)"));
  }
  EXPECT_EQ(plan_layout(header_2d(), tree, {}).blocking_factor, 4);
  EXPECT_THROW(plan_layout(header_2d(), tree, {.max_box = 10, .blocking_factor = 4}), base::Error);
  EXPECT_THROW(plan_layout(header_2d(), tree, {.max_box = 0}), base::Error);
}

TEST(layout, ratios_and_origin_stay_where_boxes_are_new) {
  // Level 1 of the tree is not a level of AMReX.
  const mesh::Octree tree = tree_of(2, {16, 16, 1}, {1, 1, 1}, 4, [](int level, const mesh::Coordinate& c) {
    const std::uint32_t edge = 4U << level;
    return level == 2 ? c[0] < 16 : c[0] < edge && c[1] < edge;
  });
  mesh::Header header = header_2d();
  header.attributes["patches/corner"] = std::vector<std::int64_t>{-8, 16};
  header.attributes["patches/ratio"] = std::vector<std::int64_t>{4};
  const BoxLayout layout = plan_layout(header, tree, {.keep_boxes = false});
  EXPECT_EQ(layout.index, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(layout.patches.ratio, (std::vector<int>{4, 2}));
  EXPECT_EQ(layout.patches.domain[0].lo, (Index3{-8, 16, 0}));
  EXPECT_EQ(layout.patches.domain[1].lo, (Index3{-32, 64, 0}));
  EXPECT_EQ(layout.patches.boxes[1][0].lo, (Index3{-32, 64, 0}));
  mesh::validate(layout.patches);
  // With leaves on the level between, every level of the tree is a level of AMReX.
  const mesh::Octree other =
      tree_of(2, {16, 16, 1}, {1, 1, 1}, 3, [](int, const mesh::Coordinate& c) { return c[0] < 4; });
  EXPECT_EQ(plan_layout(header, other, {}).index, (std::vector<int>{0, 1, 2}));
}

TEST(layout, the_boxes_it_had_are_kept_where_they_fit) {
  mesh::Header header = header_2d();
  mesh::Patches patches;
  patches.dim = 2;
  patches.domain = {{{0, 0, 0}, {16, 16, 1}}, {{0, 0, 0}, {32, 32, 1}}};
  patches.ratio = {2};
  patches.boxes = {{{{0, 0, 0}, {10, 16, 1}}, {{10, 0, 0}, {16, 16, 1}}}, {{{8, 8, 0}, {24, 24, 1}}}};
  keep_layout(patches, header.attributes);
  const BoxLayout kept = plan_layout(header, square(), {});
  EXPECT_TRUE(kept.kept);
  EXPECT_EQ(kept.patches, patches);
  EXPECT_FALSE(plan_layout(header, square(), {.keep_boxes = false}).kept);
  const mesh::Octree other =
      tree_of(2, {16, 16, 1}, {1, 1, 1}, 2, [](int, const mesh::Coordinate& c) { return c[0] < 8; });
  EXPECT_FALSE(plan_layout(header, other, {}).kept);
}

}  // namespace
}  // namespace octavo::formats::amrex
