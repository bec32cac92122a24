#include "octavo/codec/bins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

template <class T>
std::size_t size_after_round_trip(const std::vector<T>& values, bool quick) {
  Bytes payload;
  encode_bins(std::span<const T>(values), quick, payload);
  ChunkReader in(payload);
  std::vector<T> found(values.size());
  decode_bins(in, std::span<T>(found));
  in.finish();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(testing::same_bits(values[i], found[i])) << i;
  return payload.size();
}

template <class T>
void round_trips() {
  for (const auto& c : testing::cases<T>(0.2)) {
    SCOPED_TRACE(c.name);
    if (c.values.empty()) continue;
    size_after_round_trip(c.values, true);
    size_after_round_trip(c.values, false);
  }
}

TEST(Bins, give_every_bit_back) {
  round_trips<double>();
  round_trips<float>();
}

TEST(Bins, of_few_values_are_a_table) {
  std::mt19937_64 random(5);
  std::vector<double> masses(16), values(4000);
  for (double& m : masses)
    m = std::ldexp(1.0 + std::generate_canonical<double, 53>(random), static_cast<int>(random() % 40));
  for (double& x : values) x = masses[random() % masses.size()];
  EXPECT_LT(size_after_round_trip(values, true), 4000 * 4 / 8 * 1.05 + 16 * 12);
}

TEST(Bins, of_differences_follow_polynomials) {
  std::vector<double> values(4000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) / 4096;
    values[i] = std::ldexp(std::floor(std::ldexp(1 + 0.3 * x * x, 40)), -40);  // one binade: differences are exact
  }
  EXPECT_LT(size_after_round_trip(values, true), 4000 * 8 / 12);
}

TEST(Bins, of_random_bits_take_little_more_than_the_bits) {
  const auto values = testing::random_bits<double>(20000, 9);
  EXPECT_LT(size_after_round_trip(values, true), 20000 * 8 * 1.001 + 100);
}

TEST(Bins, refuse_what_is_not_their_payload) {
  const std::vector<double> values{1, 2, 1, 2, 2, 1, 1, 2, 1, 2};
  Bytes payload;
  encode_bins(std::span<const double>(values), false, payload);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    ChunkReader in(std::span<const std::byte>(payload).first(size));
    std::vector<double> found(values.size());
    EXPECT_THROW(decode_bins(in, std::span<double>(found)), base::Error) << size;
  }
}

}  // namespace
}  // namespace octavo::codec
