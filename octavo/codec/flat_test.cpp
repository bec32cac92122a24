#include "octavo/codec/flat.hpp"

#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

template <class T>
Bytes payload_of(const std::vector<T>& values, bool planes) {
  const auto differences = differences_of(std::span<const T>(values));
  Bytes bytes(values.size() * sizeof(T)), payload;
  to_little_endian(std::span<const Number<T>>(differences), std::span<std::byte>(bytes));
  put_byte(payload, planes ? 1 : 0);
  zstd_compress(planes ? split_planes(bytes, sizeof(T)) : bytes, Search::quick, payload);
  return payload;
}

template <class T>
void round_trips() {
  for (const auto& c : testing::cases<T>(0.2))
    for (const bool planes : {false, true}) {
      SCOPED_TRACE(c.name);
      const Bytes payload = payload_of(c.values, planes);
      ChunkReader in(payload);
      std::vector<T> found(c.values.size());
      decode_differences(in, std::span<T>(found));
      in.finish();
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_TRUE(testing::same_bits(c.values[i], found[i])) << i;
    }
}

TEST(Differences, give_every_bit_back) {
  round_trips<double>();
  round_trips<float>();
}

TEST(Differences, are_small_across_zero) {
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<double> values{least, 0.0, -0.0, -least};
  EXPECT_EQ(differences_of(std::span<const double>(values)), (std::vector<std::uint64_t>{2, 1, 1, 1}));
}

TEST(Differences, are_chosen_where_steps_come_again) {
  for (const std::size_t second : {0u, 53u}) {
    const auto c = testing::steps_case<double>("steps", 6000, 37, second);
    std::vector<double> decoded(c.values.size());
    Bytes chunk;
    encode(c.values, c.context(), {}, decoded, chunk);
    EXPECT_EQ(inspect(chunk).name, "differences");
    EXPECT_LT(chunk.size(), 1500u);
  }
}

TEST(Differences, refuse_what_is_not_their_payload) {
  Bytes payload = payload_of(std::vector<double>{1, 2, 4, 8, 16, 32, 64}, false);
  std::vector<double> found(7);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    ChunkReader in(std::span<const std::byte>(payload).first(size));
    EXPECT_THROW(decode_differences(in, std::span<double>(found)), base::Error) << size;
  }
  payload[0] = std::byte{2};
  ChunkReader in(payload);
  EXPECT_THROW(decode_differences(in, std::span<double>(found)), base::Error);
}

}  // namespace
}  // namespace octavo::codec
