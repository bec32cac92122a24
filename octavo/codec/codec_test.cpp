#include "octavo/codec/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "octavo/base/error.hpp"
#include "octavo/codec/boxes.hpp"
#include "octavo/codec/flat.hpp"
#include "octavo/codec/test_values.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/is_long.hpp"

namespace octavo::codec {
namespace {

using testing::Case;

std::vector<Settings> all_settings() {
  std::vector<Settings> all;
  for (Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
    for (Method method : {Method::automatic, Method::raw, Method::zstd, Method::tree, Method::delta, Method::pcp})
      all.push_back({{}, effort, method});
    for (double value : {1e-14, 1e-6, 2e-3, 0.3, 5.0})
      for (BoundKind kind : {BoundKind::absolute, BoundKind::pointwise_relative})
        all.push_back({{kind, value}, effort, Method::automatic});
  }
  return all;
}

template <class T>
class EveryType : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(EveryType, Types);

template <class T>
std::vector<std::byte> encoded(const Case<T>& c, const Settings& settings, std::vector<T>& decoded) {
  std::vector<std::byte> chunk;
  decoded.resize(c.values.size());
  encode(std::span<const T>(c.values), c.context(), settings, std::span<T>(decoded), chunk);
  return chunk;
}

TYPED_TEST(EveryType, decoding_gives_what_the_encoder_said_and_the_bound_holds_for_every_value) {
  using T = TypeParam;
  std::size_t number = 0;
  for (const Case<T>& c : testing::cases<T>())
    for (const Settings& settings : all_settings()) {
      if (settings.effort == Effort::max && !octavo::testing::is_long() && ++number % 3 != 0) continue;
      SCOPED_TRACE(c.name + ", bound " + std::to_string(settings.bound.value) + ", kind " +
                   std::to_string(static_cast<int>(settings.bound.kind)) + ", method " +
                   std::to_string(static_cast<int>(settings.method)));
      std::vector<T> promised;
      const auto chunk = encoded(c, settings, promised);
      std::vector<T> values(c.values.size());
      ASSERT_EQ(decode(chunk, c.context(), std::span<T>(values)), chunk.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_TRUE(testing::same_bits(values[i], promised[i])) << "value " << i;
        ASSERT_TRUE(testing::honours(settings.bound, c.values[i], values[i]))
            << "value " << i << ": " << c.values[i] << " became " << values[i];
      }
    }
}

TYPED_TEST(EveryType, more_effort_never_takes_more_bytes) {
  using T = TypeParam;
  for (const Case<T>& c : testing::cases<T>(0.3))
    for (const Bound& bound : {Bound{}, Bound{BoundKind::absolute, 1e-3}, Bound{BoundKind::pointwise_relative, 2e-3}}) {
      std::vector<T> decoded;
      const std::size_t usual = encoded(c, {bound, Effort::normal, Method::automatic}, decoded).size();
      EXPECT_LE(encoded(c, {bound, Effort::max, Method::automatic}, decoded).size(), usual) << c.name;
    }
}

TYPED_TEST(EveryType, the_fast_effort_looks_at_neither_boxes_nor_sides) {
  using T = TypeParam;
  const auto in_boxes = testing::box_case<T>("smooth", {8, 8, 8}, {3, 3, 3}, 1, 2, 0);
  const testing::Surrounded<T> surrounded = testing::surrounded_case<T>(8, 3, 1, 1e-5, 5);
  for (const Bound& bound : {Bound{}, Bound{BoundKind::absolute, 1e-3}, Bound{BoundKind::pointwise_relative, 2e-3}}) {
    const Settings fast{bound, Effort::fast, Method::automatic};
    EXPECT_FALSE(looks_around(fast));
    const auto bytes = [&](std::span<const T> values, const Context<T>& context) {
      std::vector<T> decoded(values.size());
      std::vector<std::byte> chunk;
      encode(values, context, fast, std::span<T>(decoded), chunk);
      return chunk;
    };
    Context<T> context = in_boxes.context(), without = context;
    without.boxes = {};
    EXPECT_EQ(bytes(in_boxes.values, context), bytes(in_boxes.values, without));
    context = without = surrounded.context();
    without.sides = {};
    EXPECT_EQ(bytes(surrounded.values, context), bytes(surrounded.values, without));
  }
}

// Values that occur again far from where prediction looks.
TEST(Codec, the_fast_effort_finds_values_that_come_again) {
  Case<double> c;
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < 20000; ++i) c.values.push_back(0.1 + 0.7 * static_cast<double>(random() % 5));
  std::vector<double> decoded;
  const auto chunk = encoded(c, {{}, Effort::fast, Method::automatic}, decoded);
  EXPECT_EQ(inspect(chunk).name, "zstd");
  EXPECT_LT(8 * chunk.size(), 8 * c.values.size());
}

TYPED_TEST(EveryType, steep_values_on_boxes_are_interpolated_as_logarithms) {
  using T = TypeParam;
  for (const std::size_t negative : {0u, 5u}) {
    const auto c = testing::steep_case<T>("steep", {4, 4, 4}, 4, negative);
    std::vector<T> decoded;
    const auto chunk = encoded(c, {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::automatic}, decoded);
    ASSERT_EQ(inspect(chunk).name.substr(0, 5), "boxes");
    // Behind id, type and twice two bytes: kind 2, logarithms, signs.
    EXPECT_EQ(static_cast<unsigned>(chunk[6]), negative == 0 ? 10u : 14u);
    EXPECT_LT(chunk.size() * 10, c.values.size() * 3);
  }
}

TYPED_TEST(EveryType, smooth_values_on_boxes_are_interpolated_with_errors_that_cancel) {
  using T = TypeParam;
  auto c = testing::box_case<T>("smooth", {8, 8, 8}, {3, 3, 3}, 1, 2, 0);
  for (const Bound& bound : {Bound{BoundKind::absolute, 1e-3}, Bound{BoundKind::pointwise_relative, 1e-3}}) {
    std::vector<T> decoded;
    const auto chunk = encoded(c, {bound, Effort::normal, Method::automatic}, decoded);
    EXPECT_EQ(inspect(chunk).name.substr(0, 5), "boxes");
    EXPECT_TRUE(needs_boxes(chunk));
    std::vector<T> on_grid;
    EXPECT_LT(2 * chunk.size(), encoded(c, {bound, Effort::normal, Method::tree}, on_grid).size());
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const double error = static_cast<double>(decoded[i]) - static_cast<double>(c.values[i]);
      sum += error;
      squares += error * error;
    }
    EXPECT_LT(std::abs(sum), std::sqrt(squares));
    c.at.clear();
    std::vector<T> values(c.values.size());
    EXPECT_THROW(decode(chunk, c.context(), std::span<T>(values)), base::Error);
    c = testing::box_case<T>("smooth", {8, 8, 8}, {3, 3, 3}, 1, 2, 0);
  }
}

TEST(Boxes, of_early_builds_are_named) {
  const auto c = testing::box_case<double>("smooth", {8, 8, 8}, {3, 3, 3}, 1, 2, 0);
  std::vector<double> decoded, values(c.values.size());
  auto chunk = encoded(c, {{BoundKind::absolute, 1e-3}, Effort::normal, Method::automatic}, decoded);
  ASSERT_TRUE(needs_boxes(chunk));
  chunk.front() = std::byte{8};
  const auto message = octavo::testing::message_of([&] { decode(chunk, c.context(), std::span(values)); });
  EXPECT_NE(message.find("found 8: boxes of a build before 0.1"), std::string::npos) << message;
}

// Interpolation of a parabola is exact but for values that have others at one side only, whose number is the same.
TEST(Boxes, values_with_others_at_one_side_have_a_table_of_their_own) {
  auto c = testing::box_case<double>("parabola", {8, 8, 8}, {4, 4, 4}, 1, 0, 0);
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const auto& at = c.at[i / 512];
    const std::size_t x = 8 * at[0] + i % 8, y = 8 * at[1] + i / 8 % 8, z = 8 * at[2] + i / 64 % 8;
    c.values[i] = 1e-3 * static_cast<double>(x * x + y * y + z * z);
  }
  std::vector<double> decoded;
  const auto chunk = encoded(c, {{BoundKind::absolute, 1e-4}, Effort::normal, Method::automatic}, decoded);
  ASSERT_TRUE(needs_boxes(chunk));
  EXPECT_LT(chunk.size(), 2000);  // 2,358 with one table for all
}

// Values that are straight along both axes are interpolated without residuals, and rounding to float32, which is as
// coarse as the bound, takes most of them to the same side.
TEST(Boxes, errors_cancel_where_float32_is_as_coarse_as_the_bound) {
  Case<float> c;
  c.shape = {2, 2, 1};
  for (std::uint32_t b = 0; b < 40 * 60; ++b) {
    c.at.push_back({b % 40, b / 40, 0});
    for (std::uint32_t cell = 0; cell < 4; ++cell) {
      const double x = 2 * (b % 40) + (cell & 1), y = 2 * (b / 40) + (cell >> 1);
      c.values.push_back(static_cast<float>(34128 + 2.03125 * (x + 1000 * y)));
    }
  }
  c.width = 4;
  std::vector<float> decoded;
  encoded(c, {{BoundKind::absolute, 2e-2}, Effort::normal, Method::automatic}, decoded);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const double error = static_cast<double>(decoded[i]) - static_cast<double>(c.values[i]);
    sum += error;
    squares += error * error;
  }
  EXPECT_LE(std::abs(sum), std::sqrt(squares));
}

/// Values without any likeness of neighbours, with few bits: a tree gains nothing, byte planes much.
template <class T>
Case<T> coarse_values_of_a_tree() {
  auto c = testing::tree_case<T>("low entropy", 4000, 8, 1, 3, 0.5, 5);
  std::mt19937_64 random(8);
  for (T& v : c.values) v = static_cast<T>(static_cast<double>(random() % 40000) / 4096 + 1);
  return c;
}

TYPED_TEST(EveryType, no_chunk_is_larger_than_general_compressors_make_it) {
  using T = TypeParam;
  auto all = testing::cases<T>(0.3);
  all.push_back(coarse_values_of_a_tree<T>());
  for (const Case<T>& c : all) {
    std::vector<T> decoded;
    const auto chosen = encoded(c, {}, decoded).size();
    std::vector<std::byte> raw(c.values.size() * sizeof(T)), packed;
    to_little_endian(std::span<const T>(c.values), std::span<std::byte>(raw));
    const std::size_t head = encoded(c, {{}, Effort::normal, Method::raw}, decoded).size() - raw.size();
    zstd_compress(split_planes(raw, sizeof(T)), Search::quick, packed);
    EXPECT_LE(static_cast<double>(chosen), 1.01 * static_cast<double>(packed.size() + head) + 4) << c.name;
    const auto plain = encoded(c, {{}, Effort::normal, Method::zstd}, decoded).size();
    EXPECT_LE(static_cast<double>(chosen), 1.01 * static_cast<double>(plain) + 4) << c.name;
  }
}

/// Heights of the planes of a mesh under a wave: the same shape in each, so that numbers repeat from plane to plane.
Case<float> heights_of_planes() {
  constexpr std::size_t nx = 68, ny = 34, planes = 6;
  Case<float> c;
  c.name = "heights";
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::size_t i = 0; i < nx * ny; ++i) {
      const double x = std::abs(static_cast<double>(i % nx) - 33.5), y = std::abs(static_cast<double>(i / nx) - 16.5);
      const double wave = std::exp(-0.01 * (x * x + y * y)) * std::cos(0.7 * std::sqrt(x * x + y * y));
      const auto surface = static_cast<float>(2.4 + 1.5 * wave);
      c.values.push_back(surface * (static_cast<float>(plane) / static_cast<float>(planes - 1)));
    }
  return c;
}

/// Bit 0 of all values, then bit 1 of all ..., as bitshuffle puts them.
Bytes split_bits(std::span<const std::byte> bytes, std::size_t width) {
  const std::size_t count = bytes.size() / width;
  Bytes planes((8 * bytes.size() + 7) / 8);
  for (std::size_t bit = 0; bit < 8 * width; ++bit)
    for (std::size_t i = 0, at = bit * count; i < count; ++i, ++at)
      planes[at / 8] |= (bytes[i * width + bit / 8] >> (bit % 8) & std::byte{1}) << (at % 8);
  return planes;
}

template <class T>
void expect_no_larger_than_bit_planes(const Case<T>& c) {
  std::vector<T> decoded;
  Bytes raw(c.values.size() * sizeof(T)), packed;
  to_little_endian(std::span<const T>(c.values), std::span<std::byte>(raw));
  zstd_compress(split_bits(raw, sizeof(T)), Search::quick, packed);
  EXPECT_LE(encoded(c, {}, decoded).size(), packed.size() + 16) << c.name;
}

// Estimates by slices miss what repeats far apart: bitshuffle was 4 % smaller on a real file (test_codec_sizes.py).
TEST(Codec, heights_that_repeat_from_plane_to_plane_take_no_more_than_their_bit_planes) {
  expect_no_larger_than_bit_planes(heights_of_planes());
  for (const auto& c : testing::cases<float>(0.3)) expect_no_larger_than_bit_planes(c);
  for (const auto& c : testing::cases<double>(0.3)) expect_no_larger_than_bit_planes(c);
}

TYPED_TEST(EveryType, bounds_hold_on_random_bit_patterns) {
  using T = TypeParam;
  Case<T> c;
  c.values = testing::random_bits<T>(200000, 21);
  for (double value : {1e-9, 1e-3, 0.1})
    for (BoundKind kind : {BoundKind::absolute, BoundKind::pointwise_relative}) {
      const Bound bound{kind, value};
      std::vector<T> promised;
      encoded(c, {bound, Effort::normal, Method::automatic}, promised);
      for (std::size_t i = 0; i < promised.size(); ++i)
        ASSERT_TRUE(testing::honours(bound, c.values[i], promised[i])) << i << " " << c.values[i];
    }
}

TEST(Codec, bounds_hold_on_a_sweep_over_all_float32_patterns) {
  Case<float> c;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4093)
    c.values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const Bound bound : {Bound{BoundKind::pointwise_relative, 2e-3}, Bound{BoundKind::pointwise_relative, 1e-6},
                            Bound{BoundKind::absolute, 0.25}}) {
    std::vector<float> promised;
    encoded(c, {bound, Effort::normal, Method::automatic}, promised);
    for (std::size_t i = 0; i < promised.size(); ++i)
      ASSERT_TRUE(testing::honours(bound, c.values[i], promised[i])) << c.values[i] << " became " << promised[i];
  }
}

TYPED_TEST(EveryType, random_bits_grow_by_no_more_than_a_head) {
  using T = TypeParam;
  Case<T> c;
  c.values = testing::random_bits<T>(8000, 5);
  std::vector<T> promised;
  for (const Settings& settings : all_settings())
    EXPECT_LE(encoded(c, settings, promised).size(), c.values.size() * sizeof(T) + 16);
}

TYPED_TEST(EveryType, chunks_stand_behind_one_another) {
  using T = TypeParam;
  const Case<T> c = testing::tree_case<T>("3-D", 100, 8, 1, 3, 1e-3, 1);
  std::vector<T> decoded(c.values.size());
  std::vector<std::byte> chunks;
  const Settings lossy{{BoundKind::pointwise_relative, 1e-3}, Effort::normal, Method::automatic};
  encode(std::span<const T>(c.values), c.context(), lossy, std::span<T>(decoded), chunks);
  const std::size_t first = chunks.size();
  encode(std::span<const T>(c.values), c.context(), {}, std::span<T>(decoded), chunks);
  EXPECT_EQ(decode(chunks, c.context(), std::span<T>(decoded)), first);
  EXPECT_EQ(decode(std::span(chunks).subspan(first), c.context(), std::span<T>(decoded)), chunks.size() - first);
  EXPECT_EQ(decoded, c.values);
  EXPECT_EQ(inspect(chunks).bytes, first);
}

TYPED_TEST(EveryType, bytes_do_not_depend_on_what_was_coded_before) {
  using T = TypeParam;
  const auto all = testing::cases<T>();
  std::vector<T> decoded;
  for (const Settings& settings : all_settings()) {
    if (settings.effort == Effort::max && !octavo::testing::is_long()) continue;
    std::vector<std::vector<std::byte>> first;
    for (const Case<T>& c : all) first.push_back(encoded(c, settings, decoded));
    for (std::size_t i = all.size(); i-- > 0;) ASSERT_EQ(encoded(all[i], settings, decoded), first[i]) << all[i].name;
  }
}

TEST(Codec, neighbours_of_opposite_signs_come_back) {
  auto c = testing::tree_case<double>("2-D", 2000, 4, 1, 2, 1e-3, 7);
  for (std::size_t i = 0; i < c.coarse.size(); i += 97) c.coarse[i] = -1e300;
  for (std::size_t i = 0; i < c.values.size(); i += 89) c.values[i] = -1e300;
  std::vector<double> decoded(c.values.size()), promised;
  for (const Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
    const auto chunk = encoded(c, {{}, effort, Method::tree}, promised);
    decode(chunk, c.context(), std::span<double>(decoded));
    EXPECT_EQ(decoded, c.values);
  }
}

TEST(Codec, smooth_families_take_a_fraction_of_their_bytes) {
  const auto c = testing::tree_case<double>("3-D", 4000, 8, 1, 3, 1e-4, 1);
  std::vector<double> decoded;
  const auto bytes = [&](const Settings& settings) {
    return static_cast<double>(encoded(c, settings, decoded).size()) / static_cast<double>(8 * c.values.size());
  };
  EXPECT_LT(bytes({}), 0.82);
  EXPECT_LT(bytes({{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::automatic}), 0.06);
  EXPECT_LT(bytes({{BoundKind::absolute, 2e-3}, Effort::normal, Method::automatic}), 0.08);
}

TEST(Codec, a_last_child_that_follows_from_the_mean_costs_little) {
  auto c = testing::tree_case<double>("3-D", 4000, 8, 1, 3, 1e-3, 1);
  std::vector<double> decoded;
  const std::size_t before = encoded(c, {}, decoded).size();
  for (std::size_t f = 0; f < c.parents.size(); ++f) {
    double sum = 0;
    for (std::size_t k = 0; k < 8; ++k) sum += c.values[8 * f + k];
    c.coarse[c.parents[f]] = sum / 8;
  }
  const std::size_t after = encoded(c, {}, decoded).size();
  EXPECT_LT(after + 5 * c.parents.size(), before);
}

TEST(Codec, families_that_repeat_turned_are_found) {
  const auto c = testing::mirrored_case<double>(2000, 3);
  std::vector<double> decoded;
  EXPECT_LT(encoded(c, {}, decoded).size() * 20, c.values.size() * 8);
}

TEST(Codec, a_bound_that_is_not_positive_and_finite_is_refused) {
  const std::vector<double> values(8, 1.0);
  std::vector<double> decoded(8);
  std::vector<std::byte> chunk;
  for (double value : {0.0, -1.0, HUGE_VAL, std::nan("")})
    for (BoundKind kind : {BoundKind::absolute, BoundKind::pointwise_relative}) {
      const Settings settings{{kind, value}, Effort::normal, Method::automatic};
      try {
        encode(values, {}, settings, decoded, chunk);
        FAIL() << "accepted " << value;
      } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::Kind::usage);
      }
    }
}

TEST(Codec, a_context_that_does_not_fit_the_values_is_refused) {
  const std::vector<double> values(8, 1.0), coarse(2, 1.0);
  const std::vector<std::uint32_t> far{2}, two{0, 1};
  std::vector<double> decoded(8);
  std::vector<std::byte> chunk;
  EXPECT_THROW(encode(values, {coarse, far, 8, 1}, {}, decoded, chunk), base::Error);
  EXPECT_THROW(encode(values, {coarse, two, 8, 1}, {}, decoded, chunk), base::Error);
  EXPECT_THROW(encode(values, {coarse, two, 4, 0}, {}, decoded, chunk), base::Error);
}

TEST(Codec, a_chunk_says_what_it_is) {
  const auto c = testing::tree_case<double>("3-D", 600, 8, 1, 3, 1e-3, 1);
  std::vector<double> decoded;
  const auto info =
      inspect(encoded(c, {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::automatic}, decoded));
  EXPECT_EQ(info.name, "tree point:0.002");
  EXPECT_EQ(info.bound, (Bound{BoundKind::pointwise_relative, 2e-3}));
  EXPECT_EQ(info.values, c.values.size());
  EXPECT_EQ(inspect(encoded(c, {{}, Effort::normal, Method::raw}, decoded)).name, "raw");
  EXPECT_EQ(inspect(encoded(c, {{}, Effort::normal, Method::delta}, decoded)).name, "delta");
  EXPECT_EQ(inspect(encoded(c, {{}, Effort::normal, Method::pcp}, decoded)).name, "pcp");
  EXPECT_EQ(inspect(encoded(c, {}, decoded)).name, "tree");
}

// The chunk whose pieces these are.
std::vector<std::byte> put_together(const std::vector<ChunkPiece>& pieces, std::span<const std::byte> values) {
  std::vector<std::byte> chunk;
  for (const ChunkPiece& piece : pieces) {
    chunk.insert(chunk.end(), piece.head.begin(), piece.head.end());
    const auto own = values.first(piece.bytes);
    chunk.insert(chunk.end(), own.begin(), own.end());
    values = values.subspan(piece.bytes);
  }
  EXPECT_TRUE(values.empty());
  return chunk;
}

TEST(Codec, a_sparse_chunk_gives_back_what_is_held_and_zeros) {
  std::mt19937_64 random(11);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{5000}, std::size_t{90000}})
    for (int round = 0; round < 8; ++round) {
      std::vector<double> values(count), held_values;
      std::vector<Range> held;
      for (std::size_t at = random() % 3 * (random() % (count + 1)); at < count;) {
        const std::size_t last = std::min(count, at + random() % (count + 1));
        held.push_back({at, last});
        for (; at < last; ++at) held_values.push_back(values[at] = static_cast<double>(random()));
        at += random() % (count + 1);
      }
      const auto bytes = std::as_bytes(std::span(held_values));
      const auto chunk = put_together(sparse_chunk(false, 8, count, held), bytes);
      EXPECT_LE(chunk.size(), bytes.size() + 32 + 4 * (count * 8 / 131072 + 2 * held.size() + 2));
      std::vector<double> found(count, -1);
      EXPECT_EQ(decode(chunk, {}, found), chunk.size());
      EXPECT_EQ(found, values);
      std::vector<std::int64_t> integers(count, -1);
      const auto of_integers = put_together(sparse_chunk(true, 8, count, held), bytes);
      EXPECT_EQ(decode_integers(of_integers, 8, std::as_writable_bytes(std::span(integers))), of_integers.size());
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(integers)), std::as_bytes(std::span(values))));
    }
  EXPECT_THROW(sparse_chunk(false, 8, 4, std::vector<Range>{{2, 5}}), base::Error);
  EXPECT_THROW(sparse_chunk(false, 8, 4, std::vector<Range>{{2, 3}, {1, 2}}), base::Error);
}

TEST(Codec, a_raw_head_and_the_values_behind_it_are_a_chunk) {
  const std::vector<double> values{1.5, -0.0, 3e300};
  const auto bytes = std::as_bytes(std::span(values));
  std::vector<std::byte> chunk = raw_head(false, 8, 3);
  chunk.insert(chunk.end(), bytes.begin(), bytes.end());
  std::vector<double> decoded(3);
  std::vector<std::byte> made;
  encode(std::span<const double>(values), Context<double>{}, {{}, Effort::normal, Method::raw}, decoded, made);
  EXPECT_EQ(chunk, made);
  for (std::size_t size : {1U, 2U, 4U, 8U}) {
    chunk = raw_head(true, size, 24 / size);
    chunk.insert(chunk.end(), bytes.begin(), bytes.end());
    std::vector<std::byte> out(24);
    EXPECT_EQ(decode_integers(chunk, size, out), chunk.size());
    EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin()));
  }
  EXPECT_THROW(raw_head(false, 2, 1), base::Error);
}

/// Half the boxes have one value. It must come back exactly whatever is known of the cells, so they are no codec for
/// it.
TEST(Boxes, find_the_frequent_value_with_and_without_counted_cells) {
  testing::Case<float> c = testing::box_case<float>("blocks", {4, 4, 4}, {4, 4, 2}, 1, 3, 0);
  std::fill_n(c.values.begin(), c.values.size() / 2, 3.1F);
  const std::vector<std::uint8_t> counted(c.at.size(), 1);
  for (const bool known : {false, true}) {
    Context<float> context = c.context();
    if (known) context.counted = counted;
    std::vector<float> decoded(c.values.size());
    std::vector<std::byte> chunk;
    const Settings settings{{BoundKind::absolute, 0.05}, Effort::max, Method::automatic};
    encode(std::span<const float>(c.values), context, settings, std::span<float>(decoded), chunk);
    EXPECT_EQ(std::count(decoded.begin(), decoded.begin() + static_cast<std::ptrdiff_t>(c.values.size() / 2), 3.1F),
              static_cast<std::ptrdiff_t>(c.values.size() / 2));
  }
}

// The encoder tries boxes where the estimate promises something.
TYPED_TEST(EveryType, an_estimate_of_boxes_is_somewhat_below_the_bytes_that_they_take) {
  using T = TypeParam;
  for (const double noise : {0.0, 1e-3, 0.1}) {
    Case<T> c = testing::box_case<T>("families", {2, 2, 2}, {20, 16, 12}, 1, 3, 0);
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(-noise, noise);
    for (T& value : c.values) value = static_cast<T>(static_cast<double>(value) + uniform(random));
    for (const Bound& bound : {Bound{}, Bound{BoundKind::absolute, 1e-3}, Bound{BoundKind::pointwise_relative, 2e-3}}) {
      std::vector<T> decoded(c.values.size());
      Bytes payload;
      ASSERT_TRUE(encode_boxes(std::span<const T>(c.values), c.context(), bound, Effort::normal, 8 * c.values.size(),
                               std::span<T>(decoded), payload));
      const double estimate = estimate_boxes(std::span<const T>(c.values), c.context(), bound);
      const auto bytes = static_cast<double>(payload.size());
      EXPECT_LT(estimate, 1.05 * bytes) << "noise " << noise << ", bound " << bound.value;
      EXPECT_GT(estimate, 0.7 * bytes) << "noise " << noise << ", bound " << bound.value;
    }
  }
}

}  // namespace
}  // namespace octavo::codec
