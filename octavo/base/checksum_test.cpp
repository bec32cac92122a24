#include "octavo/base/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace octavo::base {
namespace {

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * i >> 3);
  return bytes;
}

TEST(Checksum, of_pieces_is_that_of_the_whole) {
  const auto bytes = some_bytes(5000);
  for (std::size_t cut : {0U, 1U, 255U, 256U, 1000U, 5000U}) {
    RunningChecksum sum;
    sum.add(std::span(bytes).first(cut));
    sum.add(std::span(bytes).subspan(cut));
    EXPECT_EQ(sum.value(), checksum(bytes)) << cut;
  }
}

TEST(Checksum, copy_out_copies_every_byte_and_no_other_wherever_it_begins) {
  const auto bytes = some_bytes(20000);
  for (std::size_t size : {0U, 1U, 63U, 64U, 200U, 1023U, 1024U, 1087U, 8192U, 8193U, 19000U})
    for (std::size_t from : {0U, 1U, 8U})
      for (std::size_t to : {0U, 3U, 16U, 63U}) {
        std::vector<std::byte> out(20000, std::byte{0xA5});
        const auto source = std::span(bytes).subspan(from, size);
        RunningChecksum sum;
        copy_out(source, out.data() + to, &sum);
        EXPECT_TRUE(std::equal(source.begin(), source.end(), out.begin() + static_cast<std::ptrdiff_t>(to)));
        EXPECT_EQ(std::count(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(to), std::byte{0xA5}),
                  static_cast<std::ptrdiff_t>(to));
        EXPECT_EQ(out[to + size], std::byte{0xA5});
        EXPECT_EQ(sum.value(), checksum(source));
      }
}

}  // namespace
}  // namespace octavo::base
