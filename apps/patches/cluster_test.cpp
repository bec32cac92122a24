#include "apps/patches/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "apps/patches/nesting.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::patches {
namespace {

using testing::Random;

// Balls and single cells, as shocks and noise flag them.
std::vector<Index3> random_flags(Random& random, int dim) {
  std::vector<Index3> flags;
  const IndexBox all = mesh::flat({{0, 0, 0}, {24, 24, 24}}, dim);
  const auto balls = 1 + random.below(3);
  for (std::uint64_t ball = 0; ball < balls; ++ball) {
    const double x = random.uniform() * 24, y = random.uniform() * 24, z = dim > 2 ? random.uniform() * 24 : 0;
    const double radius = random.uniform() * 6;
    for_each_cell(all, [&](const Index3& at) {
      const double dx = static_cast<double>(at[0]) - x, dy = dim > 1 ? static_cast<double>(at[1]) - y : 0,
                   dz = static_cast<double>(at[2]) - z, r = std::sqrt(dx * dx + dy * dy + dz * dz);
      if (std::abs(r - radius) < 1) flags.push_back(at);
    });
  }
  make_set(flags);
  return flags;
}

std::int64_t flags_in(const std::vector<Index3>& flags, const IndexBox& box) {
  return std::count_if(flags.begin(), flags.end(), [&](const Index3& at) {
    return intersection({at, {at[0] + 1, at[1] + 1, at[2] + 1}}, box, 3).has_value();
  });
}

TEST(Cluster, every_flag_is_in_one_box_and_boxes_are_as_full_as_was_asked) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const int dim = static_cast<int>(1 + random.below(3));
    const double efficiency = 0.3 + 0.7 * random.uniform();
    const std::vector<Index3> flags = random_flags(random, dim);
    std::int64_t held = 0;
    const auto boxes = cluster(flags, dim, efficiency, {100, 100, 100});
    for (const IndexBox& box : boxes) {
      const std::int64_t inside = flags_in(flags, box);
      EXPECT_GE(static_cast<double>(inside), efficiency * static_cast<double>(num_cells(box, dim)));
      held += inside;
      for (const IndexBox& other : boxes) EXPECT_TRUE(&box == &other || !intersection(box, other, dim));
    }
    EXPECT_EQ(held, static_cast<std::int64_t>(flags.size()));
  }
}

TEST(Cluster, boxes_do_not_depend_on_the_order_of_flags_and_are_cut_at_multiples) {
  Random random(3);
  std::vector<Index3> flags = random_flags(random, 2);
  const auto boxes = cluster(flags, 2, 0.7, {4, 4, 4});
  std::reverse(flags.begin(), flags.end());
  EXPECT_EQ(cluster(flags, 2, 0.7, {4, 4, 4}), boxes);
  for (const IndexBox& box : boxes)
    for (std::size_t axis = 0; axis < 2; ++axis) EXPECT_LE((box.hi[axis] - 1) / 4, box.lo[axis] / 4);
}

TEST(Cluster, two_flags_far_apart_are_two_boxes_and_none_is_none) {
  EXPECT_EQ(cluster({{0, 0, 0}, {9, 1, 0}}, 2, 0.7, {8, 8, 8}).size(), 2U);
  EXPECT_TRUE(cluster({}, 3, 0.7, {8, 8, 8}).empty());
}

TEST(Nesting, planned_levels_hold_all_flags_surround_each_other_and_are_found_again_from_their_cells) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Shape shape;
    shape.dim = static_cast<int>(1 + random.below(3));
    shape.block = 4;
    shape.max_box = 16;
    shape.max_level = 3;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      shape.cells[axis] = axis < static_cast<std::size_t>(shape.dim) ? 16 : 1;
      shape.boundary[axis] = random.chance(0.5) ? Boundary::periodic : Boundary::outflow;
    }
    std::vector<Blocks> flagged(3);
    for (std::size_t l = 0; l < 3; ++l)
      for (std::uint64_t n = random.below(5); n > 0; --n) {
        Index3 at{0, 0, 0};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
          at[axis] = static_cast<std::int64_t>(random.below(std::uint64_t{4} << l));
        flagged[l].push_back(at);
      }
    auto levels = plan_levels(shape, flagged);
    levels.insert(levels.begin(), base_boxes(shape, 1));
    check_nesting(shape, levels);
    for (std::size_t l = 0; l < 3; ++l)
      for (const Index3& at : flagged[l]) {
        ASSERT_GT(levels.size(), l + 1);
        const Blocks fine = blocks_touching(levels[l + 1], shape);
        EXPECT_TRUE(std::binary_search(fine.begin(), fine.end(), Index3{2 * at[0], 2 * at[1], 2 * at[2]}));
      }
    auto finer = levels;
    finer.erase(finer.begin());
    EXPECT_EQ(regular_boxes(shape, levels), finer);
  }
}

TEST(Nesting, a_level_without_a_block_around_the_next_is_an_error) {
  Shape shape;
  shape.cells = {32, 32, 1};
  std::vector<std::vector<IndexBox>> levels{
      base_boxes(shape, 1), {{{16, 16, 0}, {48, 48, 1}}}, {{{48, 48, 0}, {64, 64, 1}}}};
  check_nesting(shape, levels);
  levels[2] = {{{32, 32, 0}, {48, 48, 1}}};
  EXPECT_ANY_THROW(check_nesting(shape, levels));
  levels[2] = {{{48, 48, 0}, {56, 56, 1}}};
  EXPECT_ANY_THROW(check_nesting(shape, levels));
}

}  // namespace
}  // namespace octavo::patches
