#include <gtest/gtest.h>

#include <random>

#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"

namespace octavo::codec {
namespace {

base::BitArray random_array(std::size_t size, unsigned one_in, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  base::BitArray bits(size);
  for (std::size_t i = 0; i < size; ++i) bits.set(i, random() % one_in == 0);
  return bits;
}

TEST(Bits, come_back_as_they_were) {
  for (std::size_t size : {0u, 1u, 7u, 8u, 9u, 63u, 64u, 65u, 1000u, 100000u})
    for (unsigned one_in : {1u, 2u, 50u, 1000000000u})
      for (Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
        const base::BitArray bits = random_array(size, one_in, size + one_in);
        std::vector<std::byte> chunk;
        encode_bits(bits, effort, chunk);
        base::BitArray back(size);
        ASSERT_EQ(decode_bits(chunk, back), chunk.size());
        ASSERT_EQ(back, bits) << size << " " << one_in;
        ASSERT_LE(chunk.size(), size / 8 + 16);
      }
}

TEST(Bits, families_that_are_all_alike_cost_almost_nothing) {
  base::BitArray bits(80000);
  for (std::size_t i = 0; i < bits.size(); ++i) bits.set(i, (i / 4000) % 2 == 0);
  std::vector<std::byte> chunk;
  encode_bits(bits, Effort::normal, chunk);
  EXPECT_LT(chunk.size(), 120u);
}

TEST(Integers, come_back_as_they_were) {
  std::mt19937_64 random(3);
  for (std::size_t width : {1u, 2u, 4u, 8u})
    for (std::size_t count : {0u, 1u, 8u, 5000u})
      for (int shape = 0; shape < 3; ++shape) {
        std::vector<std::byte> values(width * count);
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint64_t v = shape == 0 ? random() : shape == 1 ? 1000 + 3 * i : std::uint64_t{7};
          for (std::size_t b = 0; b < width; ++b) values[i * width + b] = static_cast<std::byte>(v >> (8 * b));
        }
        for (Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
          std::vector<std::byte> chunk, back(values.size());
          encode_integers(values, width, effort, chunk);
          ASSERT_EQ(decode_integers(chunk, width, back), chunk.size());
          ASSERT_EQ(back, values);
          ASSERT_LE(chunk.size(), values.size() + 16);
          if (shape > 0 && count > 1000) {
            ASSERT_LT(chunk.size(), 200u);
          }
        }
      }
}

TEST(Integers, of_another_width_are_refused) {
  const std::vector<std::byte> values(16);
  std::vector<std::byte> chunk, back(16);
  EXPECT_THROW(encode_integers(values, 3, Effort::normal, chunk), base::Error);
  encode_integers(values, 4, Effort::normal, chunk);
  EXPECT_THROW(decode_integers(chunk, 8, back), base::Error);
}

}  // namespace
}  // namespace octavo::codec
