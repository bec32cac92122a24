#include "octavo/engine/step/staging.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

TEST(Staging, blocks_lie_in_one_arena_and_its_memory_is_used_again) {
  Staging staging(1024);
  const auto first = staging.take(600), second = staging.take(300);
  EXPECT_GE(second.bytes.data(), first.bytes.data() + 600);
  EXPECT_LE(second.bytes.data() + 300, first.bytes.data() + 1024);
  staging.give_back(first.bytes);
  EXPECT_EQ(staging.take(550).bytes.data(), first.bytes.data());
}

TEST(Staging, a_block_as_large_as_the_arena_fits_whatever_was_there_before) {
  Staging staging(1000);
  for (std::size_t size : {10U, 990U, 1000U, 1U, 1000U}) {
    const auto block = staging.take(size);
    ASSERT_EQ(block.bytes.size(), size);
    EXPECT_EQ(block.waited, 0);
    std::memset(block.bytes.data(), 1, size);
    staging.give_back(block.bytes);
  }
  EXPECT_EQ(staging.held(), 0u);
}

TEST(Staging, blocks_given_back_out_of_order_are_free_with_the_one_before) {
  Staging staging(256);
  const auto a = staging.take(64), b = staging.take(64), c = staging.take(64);
  staging.give_back(b.bytes);
  staging.give_back(a.bytes);
  EXPECT_EQ(staging.held(), 64u);
  EXPECT_EQ(staging.take(64).waited, 0);
  EXPECT_EQ(staging.take(128).bytes.data(), a.bytes.data());
  (void)c;
}

TEST(Staging, whoever_needs_more_than_is_free_waits_until_it_is) {
  Staging staging(1000);
  const auto block = staging.take(700);
  std::atomic<bool> got = false;
  std::jthread other([&] {
    staging.take(400);
    got = true;
  });
  EXPECT_FALSE(got);
  staging.give_back(block.bytes);
  other.join();
  EXPECT_TRUE(got);
}

std::size_t pages_in_memory(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> there((bytes.size() + page - 1) / page);
  EXPECT_EQ(mincore(const_cast<std::byte*>(bytes.data()), bytes.size(), there.data()), 0);
  return page * static_cast<std::size_t>(std::count_if(there.begin(), there.end(), [](auto b) { return b & 1; }));
}

TEST(Staging, pages_exist_before_a_block_is_given_and_no_sooner) {
  constexpr std::size_t mib = 1 << 20, all = 64 * mib;
  Staging staging(all);
  const auto small = staging.take(mib);
  const std::span<const std::byte> arena(small.bytes.data(), all);
  EXPECT_GE(pages_in_memory(small.bytes), mib);
  EXPECT_LE(pages_in_memory(arena), 4 * mib);
  const auto next = staging.take(9 * mib);
  EXPECT_GE(pages_in_memory(next.bytes), 9 * mib);
  EXPECT_LE(pages_in_memory(arena), 14 * mib);
  staging.give_back(small.bytes);
  staging.give_back(next.bytes);
  EXPECT_GE(pages_in_memory(staging.take(all).bytes), all);
}

TEST(Staging, option_staging_bytes_is_the_size_of_the_arena_and_never_exceeded) {
  EXPECT_THROW(Staging(std::uint64_t{1} << 62), base::Error);
  Staging staging(100000);
  EXPECT_TRUE(staging.fits(100000));
  EXPECT_FALSE(staging.fits(100001));
  const std::byte* const begin = staging.take(1).bytes.data();
  staging.give_back({const_cast<std::byte*>(begin), 1});
  std::atomic<bool> outside = false, mixed = false;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 3000; ++i) {
      const auto block = staging.take(1 + random() % 40000);
      if (block.bytes.data() < begin || block.bytes.data() + block.bytes.size() > begin + 100000) outside = true;
      block.bytes.front() = block.bytes.back() = static_cast<std::byte>(seed);
      if (staging.held() > 100000) outside = true;
      if (block.bytes.front() != static_cast<std::byte>(seed) || block.bytes.back() != block.bytes.front())
        mixed = true;
      staging.give_back(block.bytes);
    }
  };
  { std::jthread a(work, 1U), b(work, 2U); }
  EXPECT_FALSE(outside);
  EXPECT_FALSE(mixed);
  EXPECT_EQ(staging.held(), 0u);
}

}  // namespace
}  // namespace octavo::engine
