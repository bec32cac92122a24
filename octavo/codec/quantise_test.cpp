#include "octavo/codec/quantise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace octavo::codec {
namespace {

TEST(Quantise, our_logarithm_and_exponential_are_as_good_as_the_library_s) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double y = std::uniform_real_distribution<double>(-960, 1023)(random);
    const double x = std::exp2(y);
    ASSERT_NEAR(log2_of(x), static_cast<double>(std::log2(static_cast<long double>(x))), 3e-13);
    const long double exact = std::exp2(static_cast<long double>(y));
    ASSERT_LT(std::fabs(static_cast<long double>(exp2_of(y)) - exact), 2e-15L * exact);
  }
  EXPECT_EQ(log2_of(1.0), 0.0);
  EXPECT_EQ(log2_of(-8.0), 3.0);
  EXPECT_EQ(exp2_of(10.0), 1024.0);
}

TEST(Quantise, four_at_once_give_the_bits_of_one_at_a_time) {
  std::mt19937_64 random(2);
  for (double bound : {1e-11, 1e-6, 2e-3, 0.4}) {
    const LogGrid grid = log_grid(bound);
    std::vector<double> x(1003), y(1003), one(1003);
    std::vector<std::int64_t> q(1003);
    for (double& v : x) v = std::exp2(std::uniform_real_distribution<double>(-960, 1023)(random));
    indices_on(grid, x.data(), q.data(), x.size());
    values_on(grid, q.data(), y.data(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(q[i], index_on(grid, x[i]));
      ASSERT_EQ(std::bit_cast<std::uint64_t>(y[i]), std::bit_cast<std::uint64_t>(value_on(grid, q[i])));
    }
  }
}

TEST(Quantise, a_grid_uses_the_whole_bound) {
  for (double bound : {1e-6, 2e-3, 0.4}) {
    const LogGrid grid = log_grid(bound);
    EXPECT_NEAR(grid.step, std::log2((1 + bound) / (1 - bound)), 1e-5 * grid.step);
    double largest = 0;
    for (int i = 0; i < 100000; ++i) {
      const double x = 1 + 1e-5 * i;
      const double error = std::abs(value_on(grid, index_on(grid, x)) - x) / x;
      largest = std::max(largest, error);
      ASSERT_LE(error, bound);
    }
    EXPECT_GT(largest, bound < 1e-5 ? 0.8 * bound : 0.99 * bound);
  }
}

TEST(Quantise, a_decoded_value_lies_in_its_own_cell) {
  const LogGrid log = log_grid(2e-3);
  const LinearGrid linear = linear_grid(0.1);
  for (std::int64_t q = -160000; q < 170000; q += 7) ASSERT_EQ(index_on(log, value_on(log, q)), q);
  for (std::int64_t q = -160000; q < 170000; q += 7) ASSERT_EQ(index_on(linear, value_on(linear, q)), q);
}

TEST(Quantise, floor_is_the_library_s) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const double y = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), static_cast<int>(random() % 50));
    ASSERT_EQ(static_cast<double>(floor_of(y)), std::floor(y));
    ASSERT_EQ(static_cast<double>(floor_of(std::floor(y))), std::floor(y));
  }
}

// Known results, so that another compiler, machine or option that changes a bit is found out.
TEST(Quantise, gives_the_same_bits_everywhere) {
  std::uint64_t hash = 0;
  for (int i = 1; i < 20000; ++i) {
    hash = hash * 0x100000001b3ULL ^ std::bit_cast<std::uint64_t>(log2_of(i * 0.37));
    hash = hash * 0x100000001b3ULL ^ std::bit_cast<std::uint64_t>(exp2_of(i * 0.051 - 500));
  }
  EXPECT_EQ(hash, 0x1a3aa31e1535a1b5ULL);
}

}  // namespace
}  // namespace octavo::codec
