// Prediction from both sides of each cell: docs/codecs.md, "Sides".
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

using testing::Surrounded;
using testing::surrounded_case;

template <class T>
std::vector<std::byte> chunk_of(const Surrounded<T>& c, const Context<T>& context, const Settings& settings) {
  std::vector<T> decoded(c.values.size());
  std::vector<std::byte> chunk;
  encode(std::span<const T>(c.values), context, settings, std::span<T>(decoded), chunk);
  std::vector<T> again(c.values.size());
  EXPECT_EQ(decode(chunk, context, std::span<T>(again)), chunk.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_TRUE(testing::same_bits(again[i], decoded[i])) << i;
    EXPECT_TRUE(testing::honours(settings.bound, c.values[i], again[i])) << i;
  }
  return chunk;
}

template <class T>
std::size_t size_without(const Surrounded<T>& c, const Settings& settings) {
  Context<T> without = c.context();
  without.sides = {};
  const auto chunk = chunk_of(c, without, settings);
  EXPECT_FALSE(needs_sides(chunk));
  return chunk.size();
}

template <class T>
void sides_save_bytes() {
  const Settings ways[] = {{{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::tree},
                           {{BoundKind::absolute, 1e-4}, Effort::normal, Method::tree},
                           {{}, Effort::normal, Method::tree}};
  for (const std::uint32_t dim : {2u, 3u})
    for (const std::size_t width : {1u, 2u}) {
      const Surrounded<T> c = surrounded_case<T>(dim == 3 ? 6 : 20, dim, width, 1e-5, 5);
      for (const Settings& settings : ways) {
        if (dim == 3 && settings.bound.kind == BoundKind::lossless) continue;
        const auto chunk = chunk_of(c, c.context(), settings);
        EXPECT_TRUE(needs_sides(chunk));
        EXPECT_LT(chunk.size(), size_without(c, settings));
      }
    }
}
TEST(Sides, save_bytes_of_doubles) { sides_save_bytes<double>(); }
TEST(Sides, save_bytes_of_floats) { sides_save_bytes<float>(); }

TEST(Sides, are_left_alone_where_they_do_not_help) {
  Surrounded<double> c = surrounded_case<double>(8, 3, 1, 1e-3, 6);
  c.values = testing::random_bits<double>(c.values.size(), 7);
  const auto chunk = chunk_of(c, c.context(), {});
  EXPECT_FALSE(needs_sides(chunk));
}

TEST(Sides, may_have_any_value) {
  Surrounded<double> c = surrounded_case<double>(8, 3, 1, 1e-5, 8);
  const auto odd = testing::special_values<double>();
  for (std::size_t i = 0; i < odd.size(); ++i) {
    c.coarse[8 * i + i % 8] = odd[i];
    c.values[40 * i + 3 + i % 8] = odd[i];
  }
  for (const Bound bound : {Bound{BoundKind::pointwise_relative, 2e-3}, Bound{BoundKind::absolute, 1e-3}})
    EXPECT_TRUE(needs_sides(chunk_of(c, c.context(), {bound, Effort::normal, Method::tree})));
}

TEST(Sides, keep_all_bits_of_a_signalling_nan) {
  Surrounded<float> c = surrounded_case<float>(20, 2, 1, 1e-5, 12);
  c.values[33] = std::bit_cast<float>(0x7f812345u);
  EXPECT_TRUE(needs_sides(chunk_of(c, c.context(), {{}, Effort::normal, Method::tree})));
}

TEST(Sides, may_have_indices_beyond_the_sums_of_doubles) {
  const Surrounded<double> c = surrounded_case<double>(8, 3, 1, 1e-5, 11);
  for (const double bound : {1e-8, 1e-10, 0x1p-38})
    chunk_of(c, c.context(), {{BoundKind::pointwise_relative, bound}, Effort::max, Method::tree});
}

TEST(Sides, that_a_reader_lacks_are_an_error) {
  const Surrounded<double> c = surrounded_case<double>(4, 3, 1, 1e-5, 9);
  const auto chunk = chunk_of(c, c.context(), {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::tree});
  ASSERT_TRUE(needs_sides(chunk));
  std::vector<double> values(c.values.size());
  Context<double> context = c.context();
  context.sides = {};
  EXPECT_THROW(decode(chunk, context, std::span<double>(values)), base::Error);
  context.sides = std::span(c.sides).first(5);
  EXPECT_THROW(decode(chunk, context, std::span<double>(values)), base::Error);
  auto beyond = c.sides;
  beyond[3].outer[1] = static_cast<std::uint32_t>(c.coarse.size());
  context.sides = beyond;
  EXPECT_THROW(decode(chunk, context, std::span<double>(values)), base::Error);
  beyond = c.sides;
  beyond[4].upper[2] = static_cast<std::uint32_t>(c.sides.size());
  context.sides = beyond;
  EXPECT_THROW(decode(chunk, context, std::span<double>(values)), base::Error);
}

TEST(Sides, go_with_weights) {
  Surrounded<double> c = surrounded_case<double>(8, 3, 1, 1e-3, 10);
  testing::weigh(c);
  const auto chunk = chunk_of(c, c.context(), {{BoundKind::absolute, 1e-6}, Effort::normal, Method::tree});
  EXPECT_TRUE(needs_sides(chunk));
  EXPECT_TRUE(needs_weights(chunk));
}

}  // namespace
}  // namespace octavo::codec
