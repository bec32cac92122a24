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

/// The grid as it is, and others: moved, narrowed, with a common value of either sign.
std::vector<Lattice> some_lattices(double magnitude) {
  std::mt19937_64 random(7);
  const auto phase = [&] { return static_cast<double>(random() >> 16) * 0x1p-48; };
  std::vector<Lattice> all(1);
  for (int i = 0; i < 12; ++i) {
    Lattice lattice{{phase(), phase()}, 0, {}};
    if (i % 2 == 0) lattice.phase[1] = lattice.phase[0];
    if (i % 3 == 0) lattice.narrow = static_cast<unsigned>(random() % 30000);
    if (i % 4 != 0) lattice.common = (i % 4 == 1 ? -1 : 1) * magnitude * (1 + phase());
    all.push_back(lattice);
  }
  return all;
}

std::vector<double> values_of_both_signs(double lowest, double highest) {
  std::mt19937_64 random(2);
  std::vector<double> x(1003);
  for (double& v : x)
    v = (random() % 2 == 0 ? 1 : -1) * std::exp2(std::uniform_real_distribution<double>(lowest, highest)(random));
  return x;
}

TEST(Quantise, four_at_once_give_the_bits_of_one_at_a_time) {
  for (double bound : {1e-11, 1e-6, 2e-3, 0.4})
    for (const Lattice& lattice : some_lattices(1.5)) {
      const LogGrid grid = log_grid(bound, lattice);
      auto x = values_of_both_signs(-960, 1023);
      x[17] = lattice.common.value_or(1);
      std::vector<double> y(x.size()), logarithms(x.size());
      std::vector<std::int64_t> q(x.size()), of_logarithms(x.size());
      std::vector<std::uint8_t> negative(x.size());
      EXPECT_TRUE(signs_of(x.data(), negative.data(), x.size()));
      indices_on(grid, x.data(), q.data(), x.size());
      values_on(grid, q.data(), negative.data(), y.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(q[i], index_on(grid, x[i])) << x[i];
        ASSERT_EQ(std::bit_cast<std::uint64_t>(y[i]), std::bit_cast<std::uint64_t>(value_on(grid, q[i], x[i] < 0)));
      }
      const LogGrid bare = log_grid(bound, {lattice.phase, lattice.narrow, {}});
      logarithms_of(x.data(), logarithms.data(), x.size());
      indices_of(bare, logarithms.data(), negative.data(), of_logarithms.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(of_logarithms[i], index_on(bare, x[i])) << x[i];
    }
}

TEST(Quantise, four_at_once_give_the_bits_of_one_at_a_time_on_a_linear_grid) {
  for (const Lattice& lattice : some_lattices(100)) {
    const LinearGrid grid = linear_grid(0.3, lattice);
    auto x = values_of_both_signs(-20, 40);
    x[3] = 0;
    x[4] = -0.0;
    x[17] = lattice.common.value_or(1);
    std::vector<double> y(x.size());
    std::vector<std::int64_t> q(x.size());
    indices_on(grid, x.data(), q.data(), x.size());
    values_on(grid, q.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(q[i], index_on(grid, x[i])) << x[i];
      ASSERT_EQ(std::bit_cast<std::uint64_t>(y[i]), std::bit_cast<std::uint64_t>(value_on(grid, q[i]))) << q[i];
    }
    const LinearGrid bare = linear_grid(0.3, {lattice.phase, lattice.narrow, {}});
    cells_of(bare, x.data(), q.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(y[i]), std::bit_cast<std::uint64_t>(value_on(bare, q[i]))) << q[i];
      ASSERT_LE(std::abs(y[i] - x[i]), 0.3 * (1 + 1e-9) + 1e-15 * std::abs(x[i]));
      ASSERT_GE(y[i] * x[i], 0) << "the sign stays";
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
  for (Lattice lattice : some_lattices(1.5)) {
    lattice.common.reset();
    const LogGrid log = log_grid(2e-3, lattice);
    const LinearGrid linear = linear_grid(0.1, lattice);
    for (std::int64_t q = -160000; q < 170000; q += 7) {
      ASSERT_EQ(index_on(log, value_on(log, q)), q);
      ASSERT_EQ(index_on(log, -value_on(log, q, true)), q);
      ASSERT_EQ(index_on(linear, value_on(linear, q)), q);
    }
  }
}

// The cell of the common value leaves the order and the values of the cells beside it unchanged.
TEST(Quantise, a_common_value_has_a_cell_of_its_own_in_order) {
  for (Lattice lattice : some_lattices(1.5)) {
    if (!lattice.common) continue;
    const bool negative = *lattice.common < 0;
    const auto check = [&](const auto& grid, const auto& bare, std::int64_t sign, auto&& value) {
      const std::int64_t cell = index_on(grid, *lattice.common) * sign;
      ASSERT_EQ(cell, grid.common.cell);
      ASSERT_EQ(std::abs(value(grid, cell * sign)), std::abs(*lattice.common));
      for (std::int64_t q = cell - 3; q <= cell + 3; ++q) {
        ASSERT_LE(std::abs(value(grid, q * sign)), std::abs(value(grid, (q + 1) * sign)));
        if (q == cell) continue;
        const double of_bare = value(bare, (q > cell ? q - 1 : q) * sign);
        ASSERT_EQ(value(grid, q * sign), of_bare);
      }
    };
    check(log_grid(2e-3, lattice), log_grid(2e-3, {lattice.phase, lattice.narrow, {}}), 1,
          [&](const LogGrid& grid, std::int64_t q) { return value_on(grid, q, negative); });
    check(linear_grid(0.01, lattice), linear_grid(0.01, {lattice.phase, lattice.narrow, {}}), negative ? -1 : 1,
          [&](const LinearGrid& grid, std::int64_t q) { return value_on(grid, q); });
  }
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
