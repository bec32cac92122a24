// Last children that follow from weights: docs/codecs.md, "Weights".
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

using testing::Weighted;
using testing::weighted_case;

template <class T>
std::vector<std::byte> chunk_of(const Weighted<T>& c, const Context<T>& context, const Settings& settings = {}) {
  std::vector<T> decoded(c.values.size());
  std::vector<std::byte> chunk;
  encode(std::span<const T>(c.values), context, settings, std::span<T>(decoded), chunk);
  return chunk;
}

template <class T>
void expect_same(const Weighted<T>& c, const std::vector<std::byte>& chunk, const Context<T>& context) {
  std::vector<T> values(c.values.size());
  ASSERT_EQ(decode(chunk, context, std::span<T>(values)), chunk.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_TRUE(testing::same_bits(values[i], c.values[i])) << i;
}

template <class T>
void weights_save_the_last_child() {
  for (const std::size_t family : {2u, 4u, 8u})
    for (const std::size_t width : {1u, 3u}) {
      const Weighted<T> c = weighted_case<T>(400, family, width, 3);
      Context<T> without = c.context();
      without.weights = {};
      const auto with = chunk_of(c, c.context()), plain = chunk_of(c, without);
      EXPECT_TRUE(needs_weights(with));
      EXPECT_FALSE(needs_weights(plain));
      // One child of a family falls from all its random bits to a few. A float has few to begin with.
      const double share = (sizeof(T) == 8 ? 0.4 : 0.1) / static_cast<double>(family);
      EXPECT_LT(static_cast<double>(with.size()), static_cast<double>(plain.size()) * (1 - share));
      expect_same(c, with, c.context());
      expect_same(c, plain, c.context());
    }
}
TEST(Weights, save_the_last_child_of_doubles) { weights_save_the_last_child<double>(); }
TEST(Weights, save_the_last_child_of_floats) { weights_save_the_last_child<float>(); }

TEST(Weights, are_left_alone_where_they_do_not_help) {
  Weighted<double> c = weighted_case<double>(400, 8, 1, 4);
  for (double& coarse : c.coarse) coarse += 0.01;
  const auto chunk = chunk_of(c, c.context());
  EXPECT_FALSE(needs_weights(chunk));
  Context<double> without = c.context();
  without.weights = {};
  EXPECT_EQ(chunk, chunk_of(c, without));
  expect_same(c, chunk, without);
}

TEST(Weights, may_be_anything) {
  Weighted<double> c = weighted_case<double>(400, 8, 1, 5);
  const auto odd = testing::special_values<double>();
  for (std::size_t i = 0; i < odd.size(); ++i) {
    c.weights[8 * i + i % 8] = odd[i];
    c.weights[8 * (20 + i) + 7] = odd[i];
    c.values[8 * (60 + i) + i % 8] = odd[i];
  }
  for (const Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
    const auto chunk = chunk_of(c, c.context(), {{}, effort, Method::automatic});
    EXPECT_TRUE(needs_weights(chunk));
    expect_same(c, chunk, c.context());
  }
}

TEST(Weights, that_a_reader_lacks_are_an_error) {
  const Weighted<double> c = weighted_case<double>(400, 8, 1, 6);
  const auto chunk = chunk_of(c, c.context());
  Context<double> without = c.context();
  without.weights = {};
  std::vector<double> values(c.values.size());
  EXPECT_THROW(decode(chunk, without, std::span<double>(values)), base::Error);
  Context<double> few = c.context();
  few.weights = few.weights.first(9);
  EXPECT_THROW(decode(chunk, few, std::span<double>(values)), base::Error);
}

TEST(Weights, serve_bounds_too) {
  const Weighted<double> c = weighted_case<double>(4000, 8, 1, 7);
  for (const BoundKind kind : {BoundKind::pointwise_relative, BoundKind::absolute}) {
    const Settings settings{{kind, 1e-4}, Effort::normal, Method::tree};
    const auto chunk = chunk_of(c, c.context(), settings);
    EXPECT_TRUE(needs_weights(chunk));
    std::vector<double> values(c.values.size());
    decode(chunk, c.context(), std::span<double>(values));
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::abs(values[i] - c.values[i]),
                1e-4 * (kind == BoundKind::absolute ? 1 : std::abs(c.values[i])) * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace octavo::codec
