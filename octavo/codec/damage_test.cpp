#include <gtest/gtest.h>

#include <random>

#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

/// Runs the decoder on bytes that may be anything: it returns or throws Error(corrupt), or Error(unsupported) where the
/// version is another.
template <class F>
bool refused(F&& decoder) {
  try {
    decoder();
    return false;
  } catch (const base::Error& error) {
    EXPECT_TRUE(error.kind() == base::Kind::corrupt || error.kind() == base::Kind::unsupported) << error.what();
    EXPECT_FALSE(error.places().empty());
    return true;
  }
}

std::vector<Settings> forms() {
  return {{{}, Effort::normal, Method::automatic},
          {{}, Effort::fast, Method::automatic},
          {{BoundKind::pointwise_relative, 2e-3}, Effort::fast, Method::automatic},
          {{}, Effort::normal, Method::zstd},
          {{}, Effort::normal, Method::tree},
          {{}, Effort::normal, Method::delta},
          {{}, Effort::normal, Method::pcp},
          {{BoundKind::pointwise_relative, 1e-3}, Effort::normal, Method::tree},
          {{BoundKind::absolute, 1e-3}, Effort::normal, Method::tree},
          {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::automatic},
          {{BoundKind::absolute, 1e-2}, Effort::normal, Method::automatic}};
}

TEST(Damage, every_truncated_chunk_is_refused) {
  for (const auto& c : testing::cases<double>())
    for (const Settings& settings : forms()) {
      std::vector<double> values(c.values.size());
      std::vector<std::byte> chunk;
      encode(c.values, c.context(), settings, values, chunk);
      const std::size_t step = std::max<std::size_t>(1, chunk.size() / 40);
      for (std::size_t size = 0; size < chunk.size(); size += step)
        EXPECT_TRUE(refused([&] { decode(std::span(chunk).first(size), c.context(), std::span<double>(values)); }));
    }
}

TEST(Damage, flipped_bits_give_an_error_or_other_values_but_never_a_crash) {
  std::mt19937_64 random(1);
  std::size_t num_refused = 0, tried = 0;
  for (const auto& c : testing::cases<double>())
    for (const Settings& settings : forms()) {
      std::vector<double> values(c.values.size());
      std::vector<std::byte> chunk;
      encode(c.values, c.context(), settings, values, chunk);
      for (int trial = 0; trial < 60; ++trial, ++tried) {
        std::vector<std::byte> damaged = chunk;
        for (int flips = 0; flips <= trial % 3; ++flips) {
          const std::size_t at =
              trial < 30 ? random() % std::min<std::size_t>(damaged.size(), 64) : random() % damaged.size();
          damaged[at] ^= static_cast<std::byte>(1u << random() % 8);
        }
        num_refused += refused([&] { decode(damaged, c.context(), std::span<double>(values)); }) ? 1u : 0u;
      }
    }
  EXPECT_GT(num_refused, tried / 4);
}

TEST(Damage, bits_and_integers_survive_it_too) {
  std::mt19937_64 random(2);
  base::BitArray bits(3000);
  std::vector<std::byte> integers(4000);
  for (std::size_t i = 0; i < bits.size(); ++i) bits.set(i, random() % 5 == 0);
  for (std::size_t i = 0; i < integers.size(); ++i)
    integers[i] = static_cast<std::byte>(i % 4 == 0 ? random() % 50 : 0);
  std::vector<std::byte> bit_chunk, integer_chunk;
  encode_bits(bits, Effort::normal, bit_chunk);
  encode_integers(integers, 4, Effort::normal, integer_chunk);
  for (int trial = 0; trial < 3000; ++trial) {
    auto a = bit_chunk, b = integer_chunk;
    a[random() % a.size()] ^= static_cast<std::byte>(1u << random() % 8);
    b[random() % b.size()] ^= static_cast<std::byte>(1u << random() % 8);
    refused([&] { decode_bits(a, bits); });
    refused([&] { decode_integers(b, 4, integers); });
  }
  for (std::size_t size = 0; size < bit_chunk.size(); ++size)
    EXPECT_TRUE(refused([&] { decode_bits(std::span(bit_chunk).first(size), bits); }));
}

TEST(Damage, another_number_of_values_is_refused) {
  const auto c = testing::tree_case<double>("3-D", 100, 8, 1, 3, 1e-3, 1);
  std::vector<double> values(c.values.size()), fewer(8);
  std::vector<std::byte> chunk;
  encode(c.values, c.context(), {}, values, chunk);
  EXPECT_TRUE(refused([&] { decode(chunk, {}, std::span<double>(fewer)); }));
  std::vector<float> floats(values.size());
  EXPECT_TRUE(refused([&] { decode(chunk, {}, std::span<float>(floats)); }));
}

}  // namespace
}  // namespace octavo::codec
