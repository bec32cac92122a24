#include "octavo/base/equal_shares.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "octavo/base/rank_exchange.hpp"

namespace octavo::base {
namespace {

TEST(EqualShares, each_thing_is_in_the_share_that_holds_it_and_shares_differ_by_one) {
  for (const std::int64_t count : {1, 7, 100})
    for (const std::int64_t shares : {1, 3, 7, 13}) {
      std::int64_t next = 0;
      for (std::int64_t s = 0; s < shares; ++s) {
        const auto [first, last] = share(count, s, shares);
        EXPECT_EQ(first, next);
        EXPECT_TRUE(last - first == count / shares || last - first == count / shares + 1);
        for (std::int64_t i = first; i < last; ++i) EXPECT_EQ(owner(i, count, shares), static_cast<std::size_t>(s));
        next = last;
      }
      EXPECT_EQ(next, count);
    }
  const std::int64_t many = std::int64_t{1} << 60;
  EXPECT_EQ(share_begin(many, 1000, 500), many / 2);  // count * i would overflow
}

/// Three holders have keys that repeat and have weights up to three. We find the key at each position by hand.
TEST(EqualShares, a_search_finds_the_keys_that_sorting_all_of_them_finds) {
  std::mt19937 random(3);
  using Item = std::pair<WideKey, std::int64_t>;
  for (const std::size_t counters : {1U, 16U, 4096U}) {
    std::vector<std::vector<Item>> holders(3);
    std::vector<WideKey> all;
    for (auto& keys : holders) {
      for (int i = 0; i < 200; ++i) keys.emplace_back(WideKey{random() % 512} << 63 | random() % 3, 1 + random() % 3);
      std::sort(keys.begin(), keys.end());
      for (const auto& [key, weight] : keys) all.insert(all.end(), static_cast<std::size_t>(weight), key);
    }
    std::sort(all.begin(), all.end());
    const auto positions = KeySearch::cuts(std::ssize(all), 7);
    KeySearch search(positions, 72, counters);
    while (!search.done()) {
      search.begin_round();
      for (const auto& keys : holders)
        search.count(
            keys, [](const Item& item) { return item.first; }, [](const Item& item) { return item.second; });
      search.end_round();
    }
    const std::vector<WideKey> found = search.found();
    ASSERT_EQ(found.size(), 6U);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i] == all[static_cast<std::size_t>(positions[i])]);
  }
}

TEST(EqualShares, a_position_past_all_keys_finds_the_largest_number) {
  const std::vector<WideKey> keys{1, 2};
  KeySearch search(std::vector<std::int64_t>{0, 2}, 9, 4);
  while (!search.done()) {
    search.begin_round();
    search.count(keys, std::identity(), [](WideKey) { return 1; });
    search.end_round();
  }
  EXPECT_TRUE(search.found() == (std::vector<WideKey>{1, 511}));
}

struct Named {
  std::string name;
  std::vector<double> values;
  bool operator==(const Named&) const = default;
};
template <class Way>
void both(Way& way, Named& named) {
  both(way, named.name, named.values);
}

TEST(Pack, values_come_back_and_bytes_that_end_early_or_late_are_refused) {
  const std::vector<Named> given{{"a", {1, 2}}, {"", {}}, {"long name", {3}}};
  const std::string text = packed(given);
  EXPECT_EQ(unpacked<std::vector<Named>>(text), given);
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_THROW(unpacked<std::vector<Named>>(std::string_view(text).substr(0, size)), Error);
  EXPECT_THROW(unpacked<std::vector<Named>>(text + "x"), Error);
}

TEST(Pack, one_process_gathers_reduces_and_sends_to_itself) {
  const Ranks alone;
  EXPECT_EQ(gather(alone, std::vector<std::string>{"a", "b"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sum<int>(alone, {1, 2}), (std::vector<int>{1, 2}));
  EXPECT_EQ(exchange<int>(alone, {{4, 5}}), (std::vector<int>{4, 5}));
  EXPECT_EQ(from_first(alone, std::string("text")), "text");
}

TEST(Pack, ranks_without_an_exchange_reduce_by_what_they_gather) {
  Ranks three{1, 3, [](const std::string& mine) { return std::vector<std::string>(3, mine); }};
  EXPECT_EQ(sum<int>(three, {1, 2}), (std::vector<int>{3, 6}));
  EXPECT_EQ(reduce(three, std::vector<int>{5}, [](int a, int b) { return std::max(a, b); }), (std::vector<int>{5}));
}

}  // namespace
}  // namespace octavo::base
