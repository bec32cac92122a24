#include "octavo/store/durable.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/store_fixture.hpp"

namespace octavo::store {
namespace {

using testing::TemporaryDirectory;

std::set<std::uint64_t> all_of(const DurableMark& mark) {
  std::set<std::uint64_t> orders;
  for (const OrderRange& range : mark.orders)
    for (std::uint64_t order = range.first; order <= range.last; ++order) orders.insert(order);
  return orders;
}

TEST(Durable, a_mark_is_a_set_of_orders_however_they_come_and_go) {
  testing::Random random(3);
  for (int turn = 0; turn < 50; ++turn) {
    DurableMark mark;
    std::set<std::uint64_t> expected;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t order = 1 + random.below(20);
      if (random.chance(0.1)) {
        drop_up_to(mark, order);
        std::erase_if(expected, [&](std::uint64_t other) { return other <= order; });
      } else if (random.chance(0.6)) {
        add(mark, order, static_cast<std::int64_t>(order));
        expected.insert(order);
      } else {
        drop(mark, order);
        expected.erase(order);
      }
      ASSERT_EQ(all_of(mark), expected);
      for (std::size_t r = 1; r < mark.orders.size(); ++r)
        ASSERT_GT(mark.orders[r].first, mark.orders[r - 1].last + 1) << "ranges that adjoin are one";
      for (std::uint64_t o = 0; o < 22; ++o) ASSERT_EQ(contains(mark, o), expected.contains(o));
    }
  }
}

TEST(Durable, what_is_written_is_read_again) {
  const TemporaryDirectory dir;
  EXPECT_EQ(read_mark(dir.path(), Flow::checkpoint), DurableMark{});
  for (const std::vector<std::uint64_t>& orders : {std::vector<std::uint64_t>{1}, {1, 2, 3, 7, 9, 10}, {5}}) {
    DurableMark mark;
    for (std::uint64_t order : orders) add(mark, order, -static_cast<std::int64_t>(10 * order));
    for (Flow flow : {Flow::checkpoint, Flow::analysis}) {
      write_mark(dir.path(), flow, mark, true);
      EXPECT_EQ(read_mark(dir.path(), flow), mark);
      EXPECT_EQ(std::filesystem::file_size(durable_mark(dir.path(), flow)), 512u);
    }
  }
  DurableMark failed;
  add(failed, 3, 30);
  note_failed(failed, 5);
  write_mark(dir.path(), Flow::checkpoint, failed, true);
  EXPECT_EQ(read_mark(dir.path(), Flow::checkpoint), failed);
  failed.kept = 2;
  write_mark(dir.path(), Flow::checkpoint, failed, true);
  EXPECT_EQ(read_mark(dir.path(), Flow::checkpoint), failed);
  EXPECT_FALSE(is_given_up(failed, 3, {3, 4}));
  EXPECT_TRUE(is_given_up(failed, 3, {4, 6}));
  note_durable(dir.path(), Flow::analysis, 6, 60);
  EXPECT_EQ(read_mark(dir.path(), Flow::analysis).orders, (std::vector<OrderRange>{{5, 6}}));
  EXPECT_EQ(read_mark(dir.path(), Flow::analysis).newest_step, 60);
}

TEST(Durable, of_too_many_ranges_the_newest_stay) {
  const TemporaryDirectory dir;
  DurableMark mark;
  for (std::uint64_t order = 1000; order < 3000; order += 2) add(mark, order, 1);
  write_mark(dir.path(), Flow::checkpoint, mark, true);
  const DurableMark read = read_mark(dir.path(), Flow::checkpoint);
  EXPECT_TRUE(read.is_whole);
  EXPECT_GT(read.orders.size(), 40u);
  EXPECT_EQ(read.orders.back(), (OrderRange{2998, 2998}));
}

TEST(Durable, a_flipped_bit_is_damage_and_an_empty_mark_is_one_that_lists_nothing) {
  const TemporaryDirectory dir;
  note_durable(dir.path(), Flow::checkpoint, 1, 1);
  const auto path = durable_mark(dir.path(), Flow::checkpoint);
  const auto sound = testing::file_bytes(path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    auto flipped = sound;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    testing::write_file(path, flipped);
    const DurableMark mark = read_mark(dir.path(), Flow::checkpoint);
    EXPECT_TRUE(mark.is_there && mark.is_damaged && !mark.is_whole) << i;
  }
  for (const std::size_t size : {0u, 512u}) {
    testing::write_file(path, std::vector<char>(size, '\0'));
    const DurableMark mark = read_mark(dir.path(), Flow::checkpoint);
    EXPECT_TRUE(mark.is_there && !mark.is_damaged && !mark.is_whole) << size;
  }
}

}  // namespace
}  // namespace octavo::store
