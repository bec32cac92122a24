#include "octavo/store/layout.hpp"

#include <gtest/gtest.h>

#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

using base::Error;

Head example_head() {
  Head head;
  head.file[3] = std::byte{7};
  head.flow = Flow::checkpoint;
  return head;
}

CommitRecord example_record() {
  CommitRecord record;
  record.sequence = 12;
  record.step = -4;
  record.attempt[1] = std::byte{9};
  record.footer = {head_size + 700, 300, 0x123456789abcdef0};
  record.previous = {head_size, 400, 77};
  return record;
}

TEST(Layout, heads_and_records_come_back) {
  EXPECT_EQ(parse_head(to_sector(example_head())), example_head());
  EXPECT_EQ(parse_record(to_sector(example_record())), example_record());
  EXPECT_FALSE(parse_record(Sector{}).has_value());
}

TEST(Layout, every_flipped_bit_of_a_head_or_record_is_found) {
  const Sector head = to_sector(example_head()), record = to_sector(example_record());
  for (std::size_t bit = 0; bit < 8 * sector_size; ++bit) {
    Sector a = head, b = record;
    a[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    b[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_THROW(parse_head(a), Error);
    EXPECT_THROW(parse_record(b), Error);
  }
}

TEST(Layout, another_major_version_is_unsupported_and_a_newer_minor_is_read) {
  Head head = example_head();
  head.minor = 9;
  EXPECT_EQ(parse_head(to_sector(head)).minor, 9);
  for (const std::uint16_t major : std::initializer_list<std::uint16_t>{1, 3}) {
    head.major = major;
    try {
      parse_head(to_sector(head));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::unsupported);
    }
  }
}

TEST(Layout, head_and_records_stand_a_block_apart) {
  EXPECT_EQ(record_place(0), 4096u);
  EXPECT_EQ(record_place(1), 8192u);
  EXPECT_EQ(head_size, 12288u);
}

}  // namespace
}  // namespace octavo::store
