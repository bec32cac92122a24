#include "octavo/mesh/tree/curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using ::testing::ElementsAre;

Coordinate random_cell(testing::Random& random, int bits) {
  Coordinate cell{};
  for (std::uint32_t& x : cell) x = static_cast<std::uint32_t>(random.bits() & ((std::uint64_t{1} << bits) - 1));
  return cell;
}

// Keys as an independent walk of the published RAMSES state diagrams gives them; those of 7, 8 and 9 bits belong to
// leaf cells of real outputs and lie in the key range of the domain that the output names as owner.
TEST(curve, hilbert_3d_is_the_order_of_ramses) {
  const auto key = [](int bits, Coordinate cell) { return curve_key(Curve::hilbert, 3, bits, cell); };
  EXPECT_EQ(key(1, {1, 0, 0}), (CurveKey{0, 7}));
  EXPECT_EQ(key(2, {3, 0, 0}), (CurveKey{0, 63}));
  EXPECT_EQ(key(2, {0, 3, 0}), (CurveKey{0, 25}));
  EXPECT_EQ(key(2, {0, 0, 3}), (CurveKey{0, 11}));
  EXPECT_EQ(key(2, {1, 2, 3}), (CurveKey{0, 18}));
  EXPECT_EQ(key(7, {44, 12, 68}), (CurveKey{0, 298214}));
  EXPECT_EQ(key(7, {76, 4, 52}), (CurveKey{0, 1940436}));
  EXPECT_EQ(key(8, {136, 136, 136}), (CurveKey{0, 12215206}));
  EXPECT_EQ(key(21, {1234567, 7654, 2000001}), (CurveKey{0, 0x6ad2cd074df58130}));
  EXPECT_EQ(key(30, {1073741823, 0, 12345678}), (CurveKey{0x3ffffdf, 0x4d0b207ffcb0b001}));
  EXPECT_EQ(key(32, {4294967295, 2147483648, 3000000001}), (CurveKey{0xbf4af503, 0xcacb20800165965a}));
  EXPECT_EQ(key(32, {0, 4294967295, 4294967295}), (CurveKey{0x534d34d3, 0x4d34d34d34d34d34}));
}

TEST(curve, hilbert_2d_is_the_order_of_ramses) {
  const auto key = [](int bits, Coordinate cell) { return curve_key(Curve::hilbert, 2, bits, cell); };
  EXPECT_EQ(key(1, {1, 0, 0}), (CurveKey{0, 3}));
  EXPECT_EQ(key(2, {3, 0, 0}), (CurveKey{0, 15}));
  EXPECT_EQ(key(2, {0, 3, 0}), (CurveKey{0, 5}));
  EXPECT_EQ(key(2, {1, 2, 0}), (CurveKey{0, 7}));
  EXPECT_EQ(key(8, {60, 164, 0}), (CurveKey{0, 18784}));
  EXPECT_EQ(key(9, {360, 488, 0}), (CurveKey{0, 157824}));
  EXPECT_EQ(key(32, {4294967295, 1, 0}), (CurveKey{0, 18446744073709551612U}));
  EXPECT_EQ(key(32, {123456789, 3987654321, 0}), (CurveKey{0, 6110953252174914712U}));
}

TEST(curve, one_dimension_is_its_own_order) {
  for (Curve curve : {Curve::morton, Curve::hilbert})
    EXPECT_EQ(curve_key(curve, 1, 32, {3000000000, 7, 9}), (CurveKey{0, 3000000000}));
}

TEST(curve, morton_orders_a_family_x_fastest) {
  for (std::uint32_t c = 0; c < 8; ++c)
    EXPECT_EQ(curve_key(Curve::morton, 3, 1, {c & 1, c >> 1 & 1, c >> 2}), (CurveKey{0, c}));
  EXPECT_EQ(curve_key(Curve::morton, 3, 32, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}), (CurveKey{0xFFFFFFFF, ~0ULL}));
  EXPECT_EQ(curve_key(Curve::morton, 2, 4, {0b0101, 0b0011, 0}), (CurveKey{0, 0b00011011}));
}

TEST(curve, every_cell_has_its_own_key_and_hilbert_steps_to_a_neighbour) {
  for (int dim = 1; dim <= 3; ++dim)
    for (int bits = 1; dim * bits <= 12; ++bits)
      for (Curve curve : {Curve::morton, Curve::hilbert}) {
        const std::uint32_t n = 1U << bits;
        std::map<std::uint64_t, Coordinate> cells;
        for (std::uint32_t z = 0; z < (dim > 2 ? n : 1); ++z)
          for (std::uint32_t y = 0; y < (dim > 1 ? n : 1); ++y)
            for (std::uint32_t x = 0; x < n; ++x) cells[curve_key(curve, dim, bits, {x, y, z}).low] = {x, y, z};
        ASSERT_EQ(cells.size(), std::size_t{1} << (dim * bits));
        EXPECT_EQ(cells.rbegin()->first, cells.size() - 1);
        EXPECT_EQ(cells[0], (Coordinate{0, 0, 0}));
        for (std::uint64_t k = 1; curve == Curve::hilbert && k < cells.size(); ++k) {
          int steps = 0;
          for (std::size_t a = 0; a < 3; ++a)
            steps += std::abs(static_cast<int>(cells[k][a]) - static_cast<int>(cells[k - 1][a]));
          ASSERT_EQ(steps, 1) << "dim " << dim << " bits " << bits << " key " << k;
        }
      }
}

TEST(curve, a_coarse_cell_holds_the_keys_of_what_lies_in_it) {
  testing::Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const int dim = 1 + static_cast<int>(random.below(3));
    const int bits = 1 + static_cast<int>(random.below(32));
    const int depth = static_cast<int>(random.below(static_cast<std::uint64_t>(bits) + 1));
    const Curve curve = random.chance(0.5) ? Curve::morton : Curve::hilbert;
    const Coordinate fine = random_cell(random, bits);
    Coordinate coarse = fine;
    for (std::uint32_t& x : coarse) x = static_cast<std::uint32_t>(std::uint64_t{x} >> (bits - depth));
    const CurveKey first = first_key(curve, dim, bits, depth, coarse);
    const CurveKey key = curve_key(curve, dim, bits, fine);
    const CurveKey centre = centre_key(curve, dim, bits, depth, coarse);
    __extension__ using Wide = unsigned __int128;
    const auto wide = [](const CurveKey& k) { return Wide{k.high} << 64 | k.low; };
    const Wide last = wide(first) + ((Wide{1} << (dim * (bits - depth))) - 1);
    EXPECT_TRUE(first <= key && wide(key) <= last);
    EXPECT_TRUE(first <= centre && wide(centre) <= last);
    EXPECT_LT(key, curve_end(dim, bits));
  }
}

TEST(curve, the_centre_of_a_coarse_cell_is_the_lower_corner_of_its_upper_child) {
  EXPECT_EQ(centre_key(Curve::morton, 3, 1, 0, {0, 0, 0}), (CurveKey{0, 7}));
  EXPECT_EQ(centre_key(Curve::morton, 2, 4, 2, {2, 1, 0}), curve_key(Curve::morton, 2, 4, {10, 6, 0}));
  EXPECT_EQ(centre_key(Curve::hilbert, 3, 1, 0, {0, 0, 0}), curve_key(Curve::hilbert, 3, 1, {1, 1, 1}));
  EXPECT_EQ(centre_key(Curve::hilbert, 3, 32, 31, {2147483647, 0, 5}),
            curve_key(Curve::hilbert, 3, 32, {4294967295, 1, 11}));
  EXPECT_EQ(centre_key(Curve::hilbert, 2, 9, 9, {360, 488, 0}), curve_key(Curve::hilbert, 2, 9, {360, 488, 0}));
}

TEST(curve, keys_in_eight_bytes_are_exact_below_2_to_the_53) {
  for (std::uint64_t key : {std::uint64_t{0}, std::uint64_t{388800}, (std::uint64_t{1} << 53) - 1}) {
    EXPECT_EQ(to_double({0, key}), static_cast<double>(key));
    EXPECT_EQ(key_from_double(static_cast<double>(key)), (CurveKey{0, key}));
  }
  EXPECT_EQ(key_from_double(0x1p96), curve_end(3, 32));
  EXPECT_EQ(key_from_double(0x1.8p64), (CurveKey{1, std::uint64_t{1} << 63}));
  EXPECT_EQ(to_double(curve_end(3, 30)), 0x1p90);
  EXPECT_EQ(curve_end(2, 32), (CurveKey{1, 0}));
}

TEST(curve, stored_keys_that_are_none_are_refused) {
  for (double value : {-1.0, 0x1.1p96, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(key_from_double(value), base::Error) << value;
}

bool holds(const std::vector<KeyInterval>& intervals, const CurveKey& key) {
  for (const KeyInterval& i : intervals)
    if (i.begin <= key && key < i.end) return true;
  return false;
}

void expect_apart_and_ascending(const std::vector<KeyInterval>& intervals) {
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_LT(intervals[i].begin, intervals[i].end);
    EXPECT_TRUE(i == 0 || intervals[i - 1].end < intervals[i].begin);
  }
}

struct RandomBox {
  int dim, bits;
  Curve curve;
  Index3 lo{0, 0, 0}, hi{1, 1, 1};
};

RandomBox random_box(testing::Random& random) {
  RandomBox box{1 + static_cast<int>(random.below(3)),
                1 + static_cast<int>(random.below(4)),
                random.chance(0.5) ? Curve::morton : Curve::hilbert,
                {},
                {}};
  const auto n = std::uint64_t{1} << box.bits;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = static_cast<std::int64_t>(random.below(n));
    box.hi[a] = box.lo[a] + 1 + static_cast<std::int64_t>(random.below(n - static_cast<std::uint64_t>(box.lo[a])));
  }
  return box;
}

// Calls f(cell, whether it is in the box) for all cells of the box's grid.
template <class F>
void for_each_cell(const RandomBox& box, F&& f) {
  const std::uint32_t n = 1U << box.bits;
  for (std::uint32_t z = 0; z < (box.dim > 2 ? n : 1); ++z)
    for (std::uint32_t y = 0; y < (box.dim > 1 ? n : 1); ++y)
      for (std::uint32_t x = 0; x < n; ++x) {
        const Coordinate cell{x, y, z};
        bool inside = true;
        for (std::size_t a = 0; a < static_cast<std::size_t>(box.dim); ++a)
          inside = inside && box.lo[a] <= cell[a] && cell[a] < box.hi[a];
        f(cell, inside);
      }
}

TEST(key_intervals, of_a_box_without_limits_are_exactly_its_cells) {
  testing::Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const RandomBox box = random_box(random);
    const auto intervals = key_intervals(box.curve, box.dim, box.bits, box.lo, box.hi);
    expect_apart_and_ascending(intervals);
    for_each_cell(box, [&](const Coordinate& cell, bool inside) {
      ASSERT_EQ(holds(intervals, curve_key(box.curve, box.dim, box.bits, cell)), inside);
    });
  }
}

TEST(key_intervals, within_limits_are_few_and_miss_nothing) {
  testing::Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const RandomBox box = random_box(random);
    const IntervalLimits limits{.depth = static_cast<int>(random.below(5)), .max_cells = 1 + random.below(20)};
    const auto intervals = key_intervals(box.curve, box.dim, box.bits, box.lo, box.hi, limits);
    EXPECT_LE(intervals.size(), limits.max_cells);
    expect_apart_and_ascending(intervals);
    for_each_cell(box, [&](const Coordinate& cell, bool inside) {
      ASSERT_TRUE(!inside || holds(intervals, curve_key(box.curve, box.dim, box.bits, cell)));
    });
  }
}

TEST(key_intervals, of_everything_and_nothing) {
  const Index3 all{0, 0, 0}, end{1 << 20, 1 << 20, 1 << 20};
  EXPECT_THAT(key_intervals(Curve::hilbert, 3, 20, all, end), ElementsAre(KeyInterval{{}, curve_end(3, 20)}));
  EXPECT_TRUE(key_intervals(Curve::hilbert, 3, 20, end, {1 << 21, 1 << 21, 1 << 21}).empty());
}

TEST(key_intervals, to_the_depth_of_the_coarsest_leaf_hold_the_centres_of_all_leaves_touched) {
  testing::Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const RandomBox box = random_box(random);
    const int coarsest = static_cast<int>(random.below(static_cast<std::uint64_t>(box.bits)));
    const auto intervals = key_intervals(box.curve, box.dim, box.bits, box.lo, box.hi, {.depth = coarsest});
    for (int level = coarsest; level <= box.bits; ++level)
      for_each_cell(box, [&](const Coordinate& cell, bool inside) {
        Coordinate leaf = cell;
        for (std::uint32_t& x : leaf) x >>= box.bits - level;
        ASSERT_TRUE(!inside || holds(intervals, centre_key(box.curve, box.dim, box.bits, level, leaf)));
      });
  }
}

TEST(key_intervals, of_32_bits_an_axis_stay_within_their_limits) {
  const Index3 lo{1, 2, 3}, hi{4294967295, 4294967294, 3000000000};
  const auto intervals = key_intervals(Curve::hilbert, 3, 32, lo, hi, {.depth = 32, .max_cells = 500});
  EXPECT_LE(intervals.size(), 500U);
  testing::Random random(5);
  for (int i = 0; i < 2000; ++i) {
    Coordinate cell{};
    for (std::size_t a = 0; a < 3; ++a)
      cell[a] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(lo[a]) +
                                           random.below(static_cast<std::uint64_t>(hi[a] - lo[a])));
    EXPECT_TRUE(holds(intervals, curve_key(Curve::hilbert, 3, 32, cell)));
  }
}

TEST(stretches_touching, names_those_that_share_a_key) {
  const std::vector<CurveKey> bounds{{0, 0}, {0, 10}, {0, 10}, {0, 20}, {0, 30}, {1, 0}};
  const auto touching = [&](std::vector<KeyInterval> intervals) { return stretches_touching(bounds, intervals); };
  EXPECT_THAT(touching({{{0, 0}, {0, 1}}}), ElementsAre(0));
  EXPECT_THAT(touching({{{0, 9}, {0, 11}}}), ElementsAre(0, 2));
  EXPECT_THAT(touching({{{0, 10}, {0, 20}}}), ElementsAre(2));
  EXPECT_THAT(touching({{{0, 5}, {0, 6}}, {{0, 25}, {0, 26}}}), ElementsAre(0, 3));
  EXPECT_THAT(touching({{{0, 0}, {1, 0}}}), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(touching({}), ElementsAre());
}

}  // namespace
}  // namespace octavo::mesh
