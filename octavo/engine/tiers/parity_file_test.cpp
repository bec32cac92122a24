#include "octavo/engine/tiers/parity_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/store/write/append.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::engine {
namespace {

using ::testing::HasSubstr;

TEST(ParityLayout, every_chunk_of_a_file_is_data_of_one_stripe_and_a_stripe_has_a_block_of_each_member) {
  for (int n = 2; n <= 12; ++n)
    for (int rows = 1; rows < n && rows <= 3; ++rows)
      for (int member = 0; member < n; ++member) {
        std::set<int> chunks, stripes;
        for (int stripe = 0; stripe < n; ++stripe)
          if (is_data(member, stripe, rows, n)) chunks.insert(chunk_of(member, stripe, n));
        for (int row = 0; row < rows; ++row) {
          stripes.insert(stripe_of(member, row, n));
          EXPECT_FALSE(is_data(member, stripe_of(member, row, n), rows, n));
        }
        ASSERT_EQ(static_cast<int>(chunks.size()), n - rows);
        EXPECT_EQ(*chunks.begin(), 0);
        EXPECT_EQ(*chunks.rbegin(), n - rows - 1);
        EXPECT_EQ(static_cast<int>(stripes.size()), rows);
      }
}

TEST(Safety, groups_are_at_least_as_large_as_asked_and_hold_every_node_once) {
  for (int size = 2; size <= 9; ++size)
    for (int nodes = size; nodes < 60; ++nodes) {
      const Scheme scheme{Safety::xor_group, 1, size, 1};
      std::map<int, std::set<int>> groups;
      for (int node = 0; node < nodes; ++node) {
        const NodePlace place = place_of_node(scheme, node, nodes);
        EXPECT_GE(place.members, size);
        EXPECT_LT(place.members, 2 * size);
        EXPECT_TRUE(groups[place.group].insert(place.member).second);
      }
      for (const auto& [group, members] : groups) {
        EXPECT_EQ(*members.rbegin() + 1, static_cast<int>(members.size()));
        EXPECT_EQ(place_of_node(scheme, group, nodes).members, static_cast<int>(members.size()));
      }
    }
}

ParityHeader small_parity() {
  ParityHeader header;
  header.name = {store::Flow::checkpoint, 12, 4, store::random_attempt(), 1};
  header.safety = Safety::reed_solomon;
  header.step = 40;
  header.segments = 9;
  header.group = 2;
  header.member = 3;
  header.rows = 2;
  header.members = {{1, 1, 5000, 7}, {-1, 0, 0, 0}, {5, 5, 3, 8}, {8, 8, 2 * parity_block + 1, ~std::uint64_t{0}}};
  header.chunk = chunk_bytes(header.members, header.rows);
  return header;
}

std::filesystem::path write(const std::filesystem::path& folder, const ParityHeader& header) {
  const auto path = parity_path(folder, header.name, header.safety);
  ParityWriter writer(path, header);
  std::vector<std::byte> block(parity_block, std::byte{42});
  for (std::uint64_t at = 0; at < header.chunk; at += parity_block)
    for (int row = 0; row < header.rows; ++row)
      writer.write(row, at, std::span(block).first(std::min(parity_block, header.chunk - at)));
  const std::uint64_t bytes = writer.finish();
  EXPECT_EQ(bytes, std::filesystem::file_size(path));
  return path;
}

TEST(ParityFile, what_was_written_is_read_and_found_by_its_name) {
  const testing::TemporaryFolder folder;
  const ParityHeader written = small_parity();
  const auto path = write(folder.path(), written);
  const auto read = read_parity(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header, written);
  check_blocks(*read);
  std::vector<std::string> notes;
  EXPECT_EQ(list_parity(folder.path(), notes).size(), 1u);
  EXPECT_TRUE(notes.empty());
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(ParityFile, a_prefix_is_no_parity_file_and_a_flipped_bit_is_damage_with_its_place) {
  const testing::TemporaryFolder folder;
  ParityHeader small = small_parity();
  small.members.back().bytes = 100;
  small.chunk = chunk_bytes(small.members, small.rows);
  const auto path = write(folder.path(), small);
  const std::string whole = content_of(path);
  for (std::size_t length = 0; length < whole.size(); length += length < whole.size() - 300 ? 97U : 1U) {
    put(path, whole.substr(0, length));
    EXPECT_FALSE(read_parity(path)) << length;
  }
  for (std::size_t at = 0; at < whole.size(); at += at < whole.size() - 600 ? 101U : 1U) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    put(path, flipped);
    std::optional<ParityFile> read;
    const std::string message = testing::message_of([&] {
      read = read_parity(path);
      if (read) check_blocks(*read);
    });
    if (at >= whole.size() - 32 && at < whole.size() - 24) {
      EXPECT_FALSE(read);  // no tail
      continue;
    }
    EXPECT_THAT(message, HasSubstr(path.string())) << at;
    EXPECT_THAT(message, HasSubstr("byte")) << at;
  }
}

// A header whose checksum is right may still say anything.
TEST(ParityFile, random_headers_with_a_right_checksum_never_do_harm) {
  const testing::TemporaryFolder folder;
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    ParityHeader wild = small_parity();
    wild.rows = static_cast<int>(random() % 4);
    wild.member = static_cast<int>(random() % 6);
    wild.members[random() % 4].segment = static_cast<int>(random() % 14) - 3;
    wild.members[random() % 4].bytes = random() % 3 == 0 ? ~std::uint64_t{0} >> random() % 64 : 10;
    wild.chunk = random() % 2 == 0 ? 5000 : 100;
    wild.name.order = random() % 8;
    const auto path = folder.path() / ("wild" + std::to_string(i));
    ParityWriter(path, wild).finish();
    std::optional<ParityFile> read;
    const std::string message = testing::message_of([&] { read = read_parity(path); });
    if (!read) continue;
    EXPECT_EQ(read->header, wild);
    EXPECT_LT(wild.member, 4);
    EXPECT_GT(wild.name.order, wild.name.base);
  }
}

}  // namespace
}  // namespace octavo::engine
