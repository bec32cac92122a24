#include "octavo/codec/erasure.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace octavo::codec {
namespace {

using Block = std::vector<std::byte>;

std::vector<Block> random_blocks(std::mt19937& random, std::size_t count, std::size_t size) {
  std::vector<Block> blocks(count, Block(size));
  for (Block& block : blocks)
    for (std::byte& byte : block) byte = static_cast<std::byte>(random());
  return blocks;
}

// The definition, one product at a time.
Block parity_of(const std::vector<Block>& blocks, int row) {
  Block parity(blocks[0].size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t at = 0; at < parity.size(); ++at)
      parity[at] ^=
          std::byte{product(erasure_factor(row, static_cast<int>(i)), std::to_integer<std::uint8_t>(blocks[i][at]))};
  return parity;
}

TEST(Erasure, products_are_those_of_a_field) {
  EXPECT_EQ(product(2, 0x80), 0x1d);  // x * x^7 = x^8
  for (unsigned a = 0; a < 256; ++a) {
    const auto x = static_cast<std::uint8_t>(a);
    EXPECT_EQ(product(x, 1), x);
    EXPECT_EQ(product(x, 0), 0);
    int inverses = 0;
    for (unsigned b = 0; b < 256; ++b) {
      const auto y = static_cast<std::uint8_t>(b);
      ASSERT_EQ(product(x, y), product(y, x));
      ASSERT_EQ(product(x, static_cast<std::uint8_t>(y ^ 7)), product(x, y) ^ product(x, 7));
      ASSERT_EQ(product(product(x, y), 0x53), product(x, product(y, 0x53)));
      inverses += product(x, y) == 1 ? 1 : 0;
    }
    EXPECT_EQ(inverses, a == 0 ? 0 : 1);
  }
}

TEST(Erasure, the_first_row_is_xor) {
  for (int block = 0; block < most_erasure_blocks; ++block) {
    EXPECT_EQ(erasure_factor(0, block), 1);
    for (int row = 1; row < most_parity_rows; ++row) EXPECT_NE(erasure_factor(row, block), 0);
  }
}

TEST(Erasure, sums_of_any_length_follow_the_definition) {
  std::mt19937 random(1);
  for (std::size_t size : {0u, 1u, 7u, 8u, 9u, 100u, 4099u}) {
    const auto blocks = random_blocks(random, 5, size);
    for (int row : {0, 1, 2, 15}) {
      Block sum(size);
      for (std::size_t i = 0; i < blocks.size(); ++i)
        add_product(sum, erasure_factor(row, static_cast<int>(i)), blocks[i]);
      EXPECT_EQ(sum, parity_of(blocks, row)) << size << " bytes, row " << row;
    }
  }
}

// Loses some blocks, and takes other parity rows than the first ones.
void expect_recovery(std::mt19937& random, std::size_t count, std::size_t e) {
  const auto blocks = random_blocks(random, count, 33);
  std::vector<int> lost(count), rows(most_parity_rows);
  std::iota(lost.begin(), lost.end(), 0);
  std::iota(rows.begin(), rows.end(), 0);
  std::shuffle(lost.begin(), lost.end(), random);
  std::shuffle(rows.begin(), rows.end(), random);
  lost.resize(e);
  rows.resize(e);
  std::vector<Block> sums;
  for (int row : rows) {
    sums.push_back(parity_of(blocks, row));
    for (std::size_t i = 0; i < count; ++i)
      if (std::find(lost.begin(), lost.end(), static_cast<int>(i)) == lost.end())
        add_product(sums.back(), erasure_factor(row, static_cast<int>(i)), blocks[i]);
  }
  const auto factors = recovery_factors(rows, lost);
  for (std::size_t l = 0; l < e; ++l) {
    Block found(33);
    for (std::size_t k = 0; k < e; ++k) add_product(found, factors[l * e + k], sums[k]);
    ASSERT_EQ(found, blocks[static_cast<std::size_t>(lost[l])]) << count << " blocks, " << e << " lost";
  }
}

TEST(Erasure, any_lost_blocks_come_back_from_as_many_rows) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const std::size_t e = 1 + random() % 6;
    expect_recovery(random, e + random() % 40, e);
  }
  expect_recovery(random, most_erasure_blocks, most_parity_rows);
}

TEST(Erasure, every_pair_of_a_large_group_comes_back_from_two_rows) {
  const std::vector<int> rows{0, 1};
  for (int a = 0; a < most_erasure_blocks; ++a)
    for (int b = a + 1; b < most_erasure_blocks; ++b) {
      const auto inverted = recovery_factors(rows, std::vector<int>{a, b});
      // The first column of the product of both matrices.
      ASSERT_EQ(inverted[0] ^ product(inverted[1], erasure_factor(1, a)), 1) << a << " " << b;
      ASSERT_EQ(inverted[2] ^ product(inverted[3], erasure_factor(1, a)), 0) << a << " " << b;
    }
}

}  // namespace
}  // namespace octavo::codec
