#include "octavo/store/pack.hpp"

#include <gmock/gmock.h>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::store {
namespace {

using mesh::RootIntervals;

constexpr std::uint64_t huge = ~std::uint64_t{0};

using Numbers = std::vector<std::uint64_t>;

TEST(numbers_of_roots, gives_gaps_and_lengths) {
  EXPECT_EQ(numbers_of_roots({{0, 8}}), (Numbers{0, 8}));
  EXPECT_EQ(numbers_of_roots({{3, 5}, {6, 7}, {100, 200}}), (Numbers{3, 2, 1, 1, 93, 100}));
  EXPECT_TRUE(numbers_of_roots({}).empty());
}

TEST(roots_of_numbers, is_the_inverse) {
  testing::Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    RootIntervals held;
    std::int64_t end = 0;
    for (std::uint64_t n = random.below(20); n > 0; --n) {
      const std::int64_t begin = end + static_cast<std::int64_t>(random.below(1000) + (held.empty() ? 0 : 1));
      held.push_back({begin, end = begin + 1 + static_cast<std::int64_t>(random.below(1000))});
    }
    EXPECT_EQ(roots_of_numbers(numbers_of_roots(held), count_roots(held), static_cast<std::uint64_t>(end)), held);
  }
}

struct Hostile {
  const char* name;
  Numbers numbers;
  std::uint64_t count;
  const char* message;
};

// Gaps and lengths, so that no list descends or overlaps but by an overflow. The domain has 100 roots.
TEST(roots_of_numbers, refuses_lists_that_cannot_be) {
  const std::vector<Hostile> all{
      {"an empty interval", {3, 0}, 0, "interval 0"},
      {"intervals that touch", {3, 2, 0, 5}, 7, "interval 1"},
      {"beyond the domain", {99, 2}, 2, "expected roots from 0 to 100, found a gap of 99 and 2 roots"},
      {"a begin beyond the domain", {101, 1}, 1, "interval 0"},
      {"beyond it later", {0, 50, 50, 1}, 51, "expected roots from 50 to 100, found a gap of 50 and 1 roots"},
      {"a length that comes back to before", {10, 5, 20, huge - 20}, 5, "interval 1"},
      {"a gap that comes back to before", {10, 5, huge - 10, 5}, 10, "interval 1"},
      {"the largest numbers", {huge, huge}, huge, "interval 0"},
      {"fewer roots than cells", {0, 4}, 5, "expected 5, found 4"},
      {"more roots than cells", {0, 4, 1, 3}, 5, "expected 5, found 7"},
  };
  for (const Hostile& hostile : all) try {
      roots_of_numbers(hostile.numbers, hostile.count, 100);
      ADD_FAILURE() << "accepted: " << hostile.name;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::corrupt) << hostile.name;
      EXPECT_THAT(error.what(), ::testing::HasSubstr(hostile.message)) << hostile.name;
    }
}

TEST(roots_of_numbers, never_gives_a_list_that_validate_refuses) {
  testing::Random random(2);
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Numbers numbers;
    for (std::uint64_t n = 2 * random.below(4); n > 0; --n)
      numbers.push_back(random.chance(0.02) ? random.bits() : random.below(12));
    mesh::Octree tree;
    tree.roots = {5, 4, 2};
    const std::size_t count = static_cast<std::size_t>(random.below(30));
    tree.refined = tree.owned = {base::BitArray(count)};
    try {
      hold(tree, roots_of_numbers(numbers, count, 40));
    } catch (const base::Error&) {
      continue;
    }
    ++accepted;
    EXPECT_NO_THROW(validate(tree));
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace octavo::store
