#include "octavo/parallel/staging.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace octavo::parallel {
namespace {

TEST(Staging, a_buffer_given_back_is_used_again) {
  Staging staging(1000);
  staging.reserve(600);
  auto first = staging.take(600);
  const auto* memory = first.data();
  staging.give_back(std::move(first));
  staging.reserve(550);
  auto second = staging.take(550);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 550u);
  EXPECT_EQ(staging.held(), 600u);
}

TEST(Staging, buffers_kept_for_use_again_give_way) {
  Staging staging(1000);
  staging.reserve(600);
  staging.give_back(staging.take(600));
  EXPECT_EQ(staging.held(), 600u);
  EXPECT_EQ(staging.reserve(900), 0);
  auto larger = staging.take(900);
  EXPECT_EQ(staging.held(), 900u);
}

TEST(Staging, whoever_needs_more_than_is_free_waits_until_it_is) {
  Staging staging(1000);
  staging.reserve(700);
  auto buffer = staging.take(700);
  std::atomic<bool> got = false;
  double waited = 0;
  std::jthread other([&] {
    waited = staging.reserve(400);
    got = true;
  });
  EXPECT_FALSE(got);
  staging.give_back(std::move(buffer));
  other.join();
  EXPECT_TRUE(got);
  EXPECT_LE(staging.held(), 1000u);
}

TEST(Staging, option_staging_bytes_is_never_exceeded) {
  Staging staging(100000);
  EXPECT_TRUE(staging.fits(100000));
  EXPECT_FALSE(staging.fits(100001));
  std::atomic<std::uint64_t> most = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 3000; ++i) {
      const std::size_t size = random() % 30000;
      staging.reserve(2 * size + 10);
      auto a = staging.take(size), b = staging.take(size);
      std::uint64_t held = staging.held(), seen = most;
      while (held > seen && !most.compare_exchange_weak(seen, held)) {
      }
      staging.give_back(std::move(b));
      staging.release(10);
      staging.give_back(std::move(a));
    }
  };
  { std::jthread one(work, 1), two(work, 2), three(work, 3); }
  EXPECT_LE(most, 100000u);
  EXPECT_GT(most, 60000u);
  EXPECT_EQ(staging.reserve(100000), 0);  // nothing has leaked
}

}  // namespace
}  // namespace octavo::parallel
