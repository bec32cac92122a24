#include "octavo/store/cbor.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "octavo/base/error.hpp"

namespace octavo::store::cbor {
namespace {

using base::Error;

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (int n : numbers) bytes.push_back(static_cast<std::byte>(n));
  return bytes;
}
std::vector<std::byte> written(const Value& value) {
  std::vector<std::byte> out;
  write(value, out);
  return out;
}

TEST(Cbor, writes_the_examples_of_the_standard) {
  EXPECT_EQ(written({std::int64_t{0}}), bytes_of({0x00}));
  EXPECT_EQ(written({std::int64_t{24}}), bytes_of({0x18, 0x18}));
  EXPECT_EQ(written({std::int64_t{1000}}), bytes_of({0x19, 0x03, 0xe8}));
  EXPECT_EQ(written({std::int64_t{1000000}}), bytes_of({0x1a, 0x00, 0x0f, 0x42, 0x40}));
  EXPECT_EQ(written({std::int64_t{-1000}}), bytes_of({0x39, 0x03, 0xe7}));
  EXPECT_EQ(written({1.1}), bytes_of({0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}));
  EXPECT_EQ(written({std::string("IETF")}), bytes_of({0x64, 0x49, 0x45, 0x54, 0x46}));
  EXPECT_EQ(written({Array{{true}, {std::monostate{}}}}), bytes_of({0x82, 0xf5, 0xf6}));
}

TEST(Cbor, gives_back_extreme_numbers_and_any_text) {
  for (std::int64_t n : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                         std::int64_t{-1}, std::int64_t{255}, std::int64_t{65536}, std::int64_t{1} << 32}) {
    const Map map{{"n", {n}}};
    EXPECT_EQ(integer(map, "n", n, n), n);
    EXPECT_EQ(std::get<std::int64_t>(parse(written({n})).value), n);
  }
  const double payload = std::bit_cast<double>(std::uint64_t{0x7ff8000000000123});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(std::get<double>(parse(written({payload})).value)), 0x7ff8000000000123u);
  for (const std::string& text :
       {std::string(), std::string("caf\xc3\xa9"), std::string("caf\xe9"), std::string("\0x", 2),
        std::string("\xc0\x80"), std::string("\xed\xa0\x80"), std::string("\xf0\x9f\x8c\x8c")})
    EXPECT_EQ(cbor::text(parse(written({text})), "text"), text);
  // Only valid UTF-8 may be a text string.
  EXPECT_EQ(std::to_integer<int>(written({std::string("\xc0\x80")})[0]) >> 5, 2);
  EXPECT_EQ(std::to_integer<int>(written({std::string("\xf0\x9f\x8c\x8c")})[0]) >> 5, 3);
}

TEST(Cbor, columns_take_the_smallest_width_and_come_back) {
  const std::vector<std::uint64_t> largest{0, 255, 256, 65535, 65536, 0xffffffff, 0x100000000, ~std::uint64_t{0}};
  for (std::uint64_t n : largest) {
    const std::vector<std::uint64_t> numbers{0, n, 1};
    const Map map{{"c", column(numbers)}};
    const Value back = parse(written({map}));
    EXPECT_EQ(counts(cbor::map(back, "map"), "c", 3), numbers);
    EXPECT_THROW(counts(cbor::map(back, "map"), "c", 2), Error);
  }
  EXPECT_EQ(written(column(std::vector<std::uint64_t>{1, 2})), bytes_of({0xd8, 64, 0x42, 1, 2}));
  EXPECT_EQ(written(column(std::vector<std::uint64_t>{1, 256})), bytes_of({0xd8, 69, 0x44, 1, 0, 0, 1}));
  const std::vector<double> reals_in{-0.0, 1e300};
  EXPECT_EQ(reals(parse(written(column(reals_in))), "r"), reals_in);
  const std::vector<std::int64_t> integers_in{-5, 5};
  EXPECT_EQ(integers(parse(written(column(integers_in))), "i"), integers_in);
}

TEST(Cbor, refuses_lengths_past_the_end_nesting_and_forms_not_in_use) {
  for (const auto& bad : {bytes_of({}), bytes_of({0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
                          bytes_of({0x5a, 0x7f, 0xff, 0xff, 0xff}), bytes_of({0xbb, 0, 0, 0, 1, 0, 0, 0, 0}),
                          bytes_of({0x9f, 0xff}), bytes_of({0x5f, 0xff}), bytes_of({0xf9, 0, 0}),
                          bytes_of({0x00, 0x00}), bytes_of({0xc0, 0x00}), bytes_of({0xa1, 0x01, 0x02}),
                          bytes_of({0x1f}), bytes_of({0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})})
    EXPECT_THROW(parse(bad), Error);
  EXPECT_THROW(parse(std::vector<std::byte>(1000000, std::byte{0x81})), Error);
}

TEST(Cbor, every_prefix_is_refused) {
  const std::vector<double> numbers{1, 2, 3};
  const auto all = written({Map{{"a", {Array{{std::int64_t{500}}, {2.5}}}}, {"b", column(numbers)}}});
  for (std::size_t n = 0; n < all.size(); ++n)
    EXPECT_THROW(parse(std::span<const std::byte>(all).first(n)), Error) << n;
  EXPECT_NO_THROW(parse(all));
}

}  // namespace
}  // namespace octavo::store::cbor
