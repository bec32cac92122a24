#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

/// Values at the corners of squares, `rows` by `columns` in each of `layers`, points in a shuffled order.
struct Net {
  std::size_t rows = 0, columns = 0, layers = 1;
  std::vector<std::uint32_t> place;  ///< of the corner with index row * columns + column
  std::vector<std::uint32_t> order;
  std::vector<std::array<std::uint32_t, 3>> near;
  std::size_t points() const { return rows * columns; }
  Neighbours neighbours() const { return {order, near}; }
};

Net net_of(std::size_t rows, std::size_t columns, std::size_t layers) {
  Net net{rows, columns, layers, std::vector<std::uint32_t>(rows * columns), {}, {}};
  std::iota(net.place.begin(), net.place.end(), 0u);
  std::shuffle(net.place.begin(), net.place.end(), std::mt19937_64(rows * 31 + columns));
  for (std::size_t i = 0; i < net.points(); ++i) {
    const bool left = i % columns != 0, down = i >= columns;
    const std::size_t a = left ? i - 1 : down ? i - columns : i, b = down ? i - columns : a;
    net.order.push_back(net.place[i]);
    net.near.push_back({net.place[a], net.place[b], net.place[left && down ? i - columns - 1 : a == b ? a : b]});
  }
  return net;
}

template <class T, class F>
std::vector<T> values_on(const Net& net, F&& f) {
  std::vector<T> values(net.points() * net.layers);
  for (std::size_t layer = 0; layer < net.layers; ++layer)
    for (std::size_t i = 0; i < net.points(); ++i)
      values[layer * net.points() + net.place[i]] = static_cast<T>(
          f(static_cast<double>(i % net.columns), static_cast<double>(i / net.columns), static_cast<double>(layer)));
  return values;
}

template <class T>
Context<T> context_of(const Net& net) {
  Context<T> context;
  context.width = net.points() * net.layers;
  context.neighbours = net.neighbours();
  return context;
}

template <class T>
std::vector<std::byte> encoded(const std::vector<T>& values, const Context<T>& context, const Settings& settings,
                               std::vector<T>& decoded) {
  std::vector<std::byte> chunk;
  decoded.resize(values.size());
  encode(std::span<const T>(values), context, settings, std::span<T>(decoded), chunk);
  return chunk;
}

/// Waves with a little noise, specials strewn in, random bits, and a slope.
template <class T>
std::vector<std::vector<T>> fields_on(const Net& net) {
  std::mt19937_64 random(net.points());
  std::uniform_real_distribution<double> noise(-1e-4, 1e-4);
  const auto wave = [&](double x, double y, double z) {
    return std::sin(0.1 * x) * std::cos(0.07 * y) + 0.1 * z + noise(random);
  };
  std::vector<std::vector<T>> fields{values_on<T>(net, wave),
                                     values_on<T>(net, [](double x, double y, double z) { return x - y + z / 8; })};
  fields.push_back(fields[0]);
  const std::vector<T> special = testing::special_values<T>();
  for (std::size_t i = 0; i < fields.back().size(); i += 7) fields.back()[i] = special[(i / 7) % special.size()];
  fields.push_back(fields[0]);
  for (std::size_t i = 0; i < fields.back().size(); ++i)
    if (i % 5 > 1) fields.back()[i] = 0;
  fields.push_back(testing::random_bits<T>(fields[0].size(), 3));
  return fields;
}

const std::vector<Bound> bounds{{},
                                {BoundKind::pointwise_relative, 1e-3},
                                {BoundKind::pointwise_relative, 1e-7},
                                {BoundKind::absolute, 1e-3},
                                {BoundKind::absolute, 1e-9}};

template <class T>
class Neighbouring : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Neighbouring, Types);

TYPED_TEST(Neighbouring, decoding_gives_what_the_encoder_said_and_the_bound_holds_for_every_value) {
  using T = TypeParam;
  for (const Net& net : {net_of(30, 41, 1), net_of(17, 23, 4), net_of(1, 60, 1), net_of(1, 1, 3), net_of(1, 1, 1)})
    for (const std::vector<T>& values : fields_on<T>(net))
      for (const Bound& bound : bounds)
        for (const Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
          std::vector<T> promised, found(values.size());
          const auto context = context_of<T>(net);
          const auto chunk = encoded(values, context, {bound, effort, Method::tree}, promised);
          ASSERT_EQ(decode(chunk, context, std::span<T>(found)), chunk.size());
          for (std::size_t i = 0; i < values.size(); ++i) {
            ASSERT_TRUE(testing::same_bits(found[i], promised[i])) << "value " << i;
            ASSERT_TRUE(testing::honours(bound, values[i], found[i])) << values[i] << " became " << found[i];
          }
        }
}

TYPED_TEST(Neighbouring, a_plane_takes_next_to_nothing_and_layers_of_one_shape_little_more_than_one) {
  using T = TypeParam;
  std::vector<T> decoded;
  const Net one = net_of(60, 70, 1), five = net_of(60, 70, 5);
  const auto slope = [](double x, double y, double) { return 256 + x / 4 + y / 8; };
  const auto chunk = encoded(values_on<T>(one, slope), context_of<T>(one), {}, decoded);
  EXPECT_TRUE(needs_neighbours(chunk));
  EXPECT_LT(chunk.size(), 1000u);
  EXPECT_GT(encoded(values_on<T>(one, slope), {}, {}, decoded).size(), 2000u);

  const Settings tree{{}, Effort::normal, Method::tree};
  std::mt19937_64 random(4);
  std::vector<double> rough(one.points());
  for (double& height : rough) height = static_cast<double>(random() % 4096);
  const auto raised = [&](double x, double y, double z) { return rough[static_cast<std::size_t>(70 * y + x)] + 8 * z; };
  const auto flat = encoded(values_on<T>(one, raised), context_of<T>(one), tree, decoded);
  const auto stacked = encoded(values_on<T>(five, raised), context_of<T>(five), tree, decoded);
  EXPECT_TRUE(needs_neighbours(stacked));
  EXPECT_LT(stacked.size(), 2 * flat.size());
}

TYPED_TEST(Neighbouring, where_they_promise_nothing_the_bytes_are_those_without_them) {
  using T = TypeParam;
  const Net net = net_of(40, 50, 2);
  std::vector<T> decoded, ramp(net.points() * 2);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<T>(std::sin(0.01 * static_cast<double>(i)));
  for (const Bound& bound : bounds) {
    const Settings settings{bound, Effort::normal, Method::automatic};
    const auto chunk = encoded(ramp, context_of<T>(net), settings, decoded);
    EXPECT_FALSE(needs_neighbours(chunk));
    EXPECT_EQ(chunk, encoded(ramp, {}, settings, decoded));
  }
}

/// The kind of error that decoding ends with, if any.
template <class T>
std::optional<base::Kind> refusal(std::span<const std::byte> chunk, const Context<T>& context, std::size_t count) {
  std::vector<T> values(count);
  try {
    decode(chunk, context, std::span<T>(values));
    return std::nullopt;
  } catch (const base::Error& error) {
    return error.kind();
  }
}

TEST(Neighbours, without_them_or_with_those_of_another_mesh_a_chunk_is_refused) {
  const Net net = net_of(20, 30, 2), other = net_of(20, 31, 2);
  const auto slope = [](double x, double y, double z) { return x + 3 * y + z * z; };
  const auto values = values_on<double>(net, slope);
  std::vector<double> decoded;
  const auto chunk = encoded(values, context_of<double>(net), {}, decoded);
  ASSERT_TRUE(needs_neighbours(chunk));
  EXPECT_EQ(refusal<double>(chunk, {}, values.size()), base::Kind::corrupt);
  EXPECT_EQ(refusal(std::span<const std::byte>(chunk), context_of<double>(other), values.size()), base::Kind::corrupt);
  EXPECT_EQ(refusal(std::span<const std::byte>(chunk), context_of<double>(net), values.size()), std::nullopt);
}

TEST(Neighbours, that_are_no_points_are_refused_before_anything_is_read) {
  Net net = net_of(20, 30, 1);
  const auto values = values_on<double>(net, [](double x, double y, double) { return x + y; });
  std::vector<double> decoded;
  const auto chunk = encoded(values, context_of<double>(net), {}, decoded);
  net.near[17][2] = 600;
  EXPECT_EQ(refusal(std::span<const std::byte>(chunk), context_of<double>(net), values.size()), base::Kind::usage);
  net.near.pop_back();
  EXPECT_EQ(refusal(std::span<const std::byte>(chunk), context_of<double>(net), values.size()), base::Kind::usage);
}

TEST(Neighbours, unknown_predictions_are_refused) {
  const Net net = net_of(20, 30, 1);
  const auto values = values_on<double>(net, [](double x, double y, double) { return x + y; });
  std::vector<double> decoded;
  const auto chunk = encoded(values, context_of<double>(net), {{}, Effort::normal, Method::tree}, decoded);
  const std::size_t at = chunk.size() - [&] {
    std::vector<std::byte> head(chunk);
    std::size_t size = 2;  // id and type, then two varints
    for (int numbers = 0; numbers < 2; ++size) numbers += (head[size] & std::byte{128}) == std::byte{0} ? 1 : 0;
    return chunk.size() - size;
  }();
  ASSERT_EQ(chunk[at], std::byte{16});
  for (const int flags : {17, 20, 64, 128, 255}) {
    auto damaged = chunk;
    damaged[at] = static_cast<std::byte>(flags);
    EXPECT_EQ(refusal(std::span<const std::byte>(damaged), context_of<double>(net), values.size()), base::Kind::corrupt)
        << flags;
  }
}

TEST(Neighbours, flipped_bits_give_an_error_or_other_values_but_never_a_crash) {
  std::mt19937_64 random(8);
  const Net net = net_of(12, 15, 3);
  std::size_t refused = 0, tried = 0;
  for (const std::vector<double>& values : fields_on<double>(net))
    for (const Bound& bound : bounds) {
      std::vector<double> decoded;
      const auto chunk = encoded(values, context_of<double>(net), {bound, Effort::normal, Method::tree}, decoded);
      for (int trial = 0; trial < 60; ++trial, ++tried) {
        auto damaged = chunk;
        damaged[random() % (trial < 30 ? std::min<std::size_t>(chunk.size(), 64) : chunk.size())] ^=
            static_cast<std::byte>(1u << random() % 8);
        const auto kind = refusal(std::span<const std::byte>(damaged), context_of<double>(net), values.size());
        EXPECT_TRUE(!kind || kind == base::Kind::corrupt || kind == base::Kind::unsupported);
        refused += kind ? 1u : 0u;
      }
    }
  EXPECT_GT(refused, tried / 4);
}

}  // namespace
}  // namespace octavo::codec
