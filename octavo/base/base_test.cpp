#include "octavo/base/base.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <numeric>
#include <stdexcept>

#include "octavo/base/bit_array.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/current_error.hpp"
#include "octavo/base/rank_tree.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/base/vectors.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::base {
namespace {

TEST(Error, names_what_where_and_what_to_do) {
  const Error error = Error(Kind::corrupt, "checksum differs").at("field density").at("data.002").hint("repair it");
  EXPECT_STREQ(error.what(), "checksum differs\n  in data.002, field density\n  try: repair it");
  EXPECT_EQ(exit_code(error.kind()), 3);
}

TEST(Error, a_full_disk_is_no_space) {
  EXPECT_EQ(system_error("write", ENOSPC).kind(), Kind::no_space);
  EXPECT_EQ(system_error("open", ENOENT).kind(), Kind::unreadable);
}

TEST(Error, what_is_being_handled_can_be_told_whatever_it_is) {
  const auto told = [](auto&& thrown) {
    try {
      throw thrown;
    } catch (...) {
      return current_error();
    }
  };
  EXPECT_STREQ(told(Error(Kind::corrupt, "checksum differs").at("a.data")).what(), "checksum differs\n  in a.data");
  EXPECT_EQ(told(std::bad_alloc()).kind(), Kind::no_space);
  EXPECT_EQ(told(std::runtime_error("other")).message(), "other");
  EXPECT_EQ(told(5).kind(), Kind::unreadable);
}

TEST(BitArray, holds_what_was_pushed) {
  BitArray bits;
  for (std::size_t i = 0; i < 200; ++i) bits.push_back(i % 3 == 0);
  EXPECT_EQ(bits.count(), 67u);
  const auto positions = set_positions(bits);
  ASSERT_EQ(positions.size(), 67u);
  for (std::size_t i = 0; i < positions.size(); ++i) EXPECT_EQ(positions[i], 3 * i);
  bits.resize(64);
  EXPECT_EQ(bits.count(), 22u);
  EXPECT_EQ(BitArray(70, true).count(), 70u);
  BitArray most(200, true);
  most.set(150, false);
  const auto all_but_one = set_positions(most);
  ASSERT_EQ(all_but_one.size(), 199u);
  for (std::size_t i = 0; i < 199; ++i) EXPECT_EQ(all_but_one[i], i < 150 ? i : i + 1);
}

TEST(BitArray, finds_the_next_bit_of_either_value) {
  for (const std::size_t size : {1U, 64U, 70U, 200U})
    for (const std::size_t step : {1U, 3U, 67U}) {
      BitArray bits(size);
      for (std::size_t i = 0; i < size; ++i) bits.set(i, i % step == 0);
      for (std::size_t begin = 0; begin <= size; ++begin)
        for (const bool value : {false, true}) {
          std::size_t expected = begin;
          while (expected < size && bits[expected] != value) ++expected;
          EXPECT_EQ(bits.find(value, begin), expected);
        }
    }
}

TEST(ByteOrder, loads_what_was_stored_in_either_order) {
  std::byte bytes[8];
  store<std::uint32_t>(bytes, 0x01020304, std::endian::big);
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_EQ(load<std::uint32_t>(bytes, std::endian::little), 0x04030201u);
  store<double>(bytes, -1.5, std::endian::big);
  EXPECT_EQ(load<double>(bytes, std::endian::big), -1.5);
}

// The instruction sets that this machine has.
std::vector<const Vectors*> instruction_sets() {
  std::vector<const Vectors*> sets{&vectors_plain};
#if defined(__x86_64__)
  if (vectors_avx2.hash != nullptr && __builtin_cpu_supports("avx2")) sets.push_back(&vectors_avx2);
  if (vectors_avx512.hash != nullptr && __builtin_cpu_supports("avx512f")) sets.push_back(&vectors_avx512);
#endif
  return sets;
}

TEST(Vectors, every_instruction_set_copies_the_lines_it_is_told_and_no_more) {
  std::vector<std::byte> from(1027);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * i >> 3);
  for (const Vectors* set : instruction_sets())
    for (const std::size_t at : {0U, 3U}) {
      alignas(64) std::array<std::byte, 1088> to{};
      set->copy_lines(from.data() + at, to.data(), 16);
      EXPECT_TRUE(std::equal(to.begin(), to.begin() + 1024, from.begin() + static_cast<std::ptrdiff_t>(at)));
      EXPECT_TRUE(std::all_of(to.begin() + 1024, to.end(), [](std::byte b) { return b == std::byte{}; }));
    }
}

TEST(Checksum, every_instruction_set_gives_the_same_sums) {
  std::vector<std::byte> bytes(100003);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i >> 3);
  for (const std::size_t size : {0U, 1U, 16U, 200U, 241U, 1024U, 8192U, 100003U}) {
    const auto some = std::span(bytes).first(size);
    RunningChecksum running;  // in pieces, with the instruction set of this machine
    for (std::size_t at = 0; at < size; at += 777) running.add(some.subspan(at, std::min<std::size_t>(777, size - at)));
    for (const Vectors* set : instruction_sets()) EXPECT_EQ(set->hash(some.data(), size), running.value()) << size;
  }
}

TEST(Checksum, is_xxh3) {
  EXPECT_EQ(checksum({}), 0x2d06800538d394c2u);  // the published value for empty input with seed 0
}

TEST(Threads, commits_in_order_whatever_the_number_of_threads) {
  for (int threads : {1, 2, 3, 8}) {
    std::vector<std::size_t> order;
    ordered_for(
        100, threads, [](std::size_t i) { return i * i; },
        [&](std::size_t i, std::size_t square) {
          EXPECT_EQ(square, i * i);
          order.push_back(i);
        });
    std::vector<std::size_t> expected(100);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
  }
}

TEST(Threads, the_first_error_stops_the_rest) {
  for (int threads : {1, 4}) {
    std::atomic<int> done = 0;
    const auto run = [&] {
      parallel_for(1000, threads, [&](std::size_t i) {
        if (i == 10) throw Error(Kind::corrupt, "ten");
        ++done;
      });
    };
    EXPECT_THROW(run(), Error);
    EXPECT_LT(done, 20);
  }
}

TEST(Ranks, every_rank_throws_the_error_of_the_lowest) {
  Ranks ranks{0, 3, [](const std::string& mine) {
                return std::vector<std::string>{mine, std::string("1bad") + '\0' + "fix" + '\0' + "file", mine};
              }};
  try {
    agree(ranks, [] {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unreadable);
    EXPECT_STREQ(error.what(), "bad\n  in rank 1, file\n  try: fix");
  }
  EXPECT_NO_THROW(agree(Ranks{}, [] {}));
}

TEST(Ranks, strings_are_joined_up_a_tree_in_order_of_ranks) {
  for (int size = 1; size < 10; ++size) {
    std::string expected;
    for (int rank = 0; rank < size; ++rank) expected += std::to_string(rank);
    octavo::testing::run_ranks(size, [&](const Ranks& ranks) {
      const std::string all =
          join_ranks(ranks, std::to_string(ranks.rank),
                     [](const std::string& left, const std::string& right) { return left + right; });
      EXPECT_EQ(all, expected);
    });
    octavo::testing::run_ranks(size, [&](const Ranks& ranks) {  // an error on the way up is the error of all
      const auto fails = [](const std::string& left, const std::string& right) -> std::string {
        if (right == "2") throw Error(Kind::corrupt, "no");
        return left;
      };
      const auto join = [&] { join_ranks(ranks, std::to_string(ranks.rank), fails); };
      if (size == 3 || size == 4) {
        EXPECT_THROW(join(), Error);
      } else if (size < 3) {
        EXPECT_NO_THROW(join());
      }
    });
  }
}

}  // namespace
}  // namespace octavo::base
