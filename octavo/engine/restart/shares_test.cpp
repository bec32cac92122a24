#include "octavo/engine/restart/shares.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_octree.hpp"

namespace octavo::engine {
namespace {

using mesh::CurveKey;

std::vector<KeyRange> stretches_of(const std::vector<CurveKey>& keys, std::size_t most) {
  std::vector<KeyRange> ranges;
  for (const CurveKey& key : keys) ranges.push_back({key, key});
  return engine::stretches_of(std::move(ranges), most);
}

bool holds(const std::vector<KeyRange>& stretches, const CurveKey& key) {
  return touches(stretches, key, {key.high, key.low + 1});
}

TEST(Stretches, hold_every_key_and_are_cut_at_the_widest_gaps) {
  const std::vector<CurveKey> keys{{0, 10}, {5, 0}, {0, 11}, {0, 14}, {0, 40}, {5, 1}};
  const auto three = stretches_of(keys, 3);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].first.low, 10u);
  EXPECT_EQ(three[0].last.low, 14u);
  EXPECT_EQ(three[1].first, (CurveKey{0, 40}));
  EXPECT_EQ(three[1].last, (CurveKey{0, 40}));
  EXPECT_EQ(three[2].first, (CurveKey{5, 0}));
  EXPECT_EQ(three[2].last, (CurveKey{5, 1}));
  EXPECT_FALSE(holds(three, {0, 15}));
  EXPECT_TRUE(holds(stretches_of(keys, 1), {0, 15}));
  for (const std::size_t most : {1u, 2u, 4u, 6u, 9u})
    for (const CurveKey& key : keys) EXPECT_TRUE(holds(stretches_of(keys, most), key));
}

TEST(Stretches, no_keys_touch_nothing) {
  EXPECT_FALSE(touches(stretches_of(std::vector<CurveKey>{}, 4), {}, {~std::uint64_t{0}, ~std::uint64_t{0}}));
}

TEST(Stretches, are_sorted_and_no_more_than_asked_for_random_keys) {
  testing::Random random(7);
  for (std::size_t most = 1; most < 80; most += 13) {
    std::vector<CurveKey> keys;
    for (int i = 0; i < 500; ++i) keys.push_back({random.below(3), random.below(1 << 20)});
    const auto stretches = stretches_of(keys, most);
    ASSERT_EQ(stretches.size(), most);
    for (const CurveKey& key : keys) ASSERT_TRUE(holds(stretches, key));
    for (std::size_t s = 1; s < most; ++s) EXPECT_LT(stretches[s - 1].last, stretches[s].first);
  }
}

// One of 64 parts, to which runs of 16 cells were dealt out in turn, as codes on AMReX do with boxes: the ranks of 16
// that read it.
std::vector<int> readers_of_interleaved(std::uint64_t part, std::size_t stretches) {
  std::vector<ranks::KeyOwner> owners;
  for (int rank = 0; rank < 16; ++rank)
    owners.push_back({rank, base::WideKey(256 * rank), base::WideKey(256 * (rank + 1))});
  std::vector<CurveKey> keys;
  for (std::uint64_t key = 0; key < 4096; ++key)
    if (key / 16 % 64 == part) keys.push_back({0, key});
  return ranks_touched(owners, stretches_of(keys, stretches));
}

TEST(Shares, of_interleaved_parts_only_those_with_cells_of_the_share_are_read) {
  std::size_t read = 0, read_by_one_stretch = 0;
  for (int part = 0; part < 64; ++part) {
    const auto readers = readers_of_interleaved(static_cast<std::uint64_t>(part), 64);
    for (std::size_t i = 0; i < readers.size(); ++i) EXPECT_EQ(readers[i], part / 16 + 4 * static_cast<int>(i));
    read += readers.size();
    read_by_one_stretch += readers_of_interleaved(static_cast<std::uint64_t>(part), 1).size();
  }
  EXPECT_EQ(read, 16u * 16u);
  EXPECT_EQ(read_by_one_stretch, 832u);  // 3.25 times what is needed
}

TEST(Shares, stretches_touch_the_shares_that_touches_names) {
  const std::vector<ranks::KeyOwner> owners{{0, 0, 4}, {2, 4, 9}, {3, 9, 20}};  // share 1 is empty
  for (std::uint64_t first = 0; first < 20; ++first)
    for (std::uint64_t last = first; last < 20; ++last) {
      const std::vector<KeyRange> stretch{{{0, first}, {0, last}}, {}};
      std::vector<int> expected;
      for (const ranks::KeyOwner& owner : owners)
        if (touches(stretch, {0, static_cast<std::uint64_t>(owner.begin)}, {0, static_cast<std::uint64_t>(owner.end)}))
          expected.push_back(owner.rank);
      ASSERT_EQ(ranks_touched(owners, stretch), expected) << first << " to " << last;
    }
}

}  // namespace
}  // namespace octavo::engine
