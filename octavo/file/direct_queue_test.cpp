#include "octavo/file/direct_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "octavo/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

constexpr std::size_t block = direct_alignment;

struct DirectQueueTest : ::testing::Test {
  DirectQueueTest() {
    preallocate(file, 64 * block);
    direct = open_direct(path);
  }
  void TearDown() override { set_observer({}); }
  void SetUp() override {
    if (!direct) GTEST_SKIP() << "this file system has no direct I/O";
  }
  testing::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "file";
  File file = create(path);
  std::optional<File> direct;
};

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST_F(DirectQueueTest, two_writes_are_in_flight_while_a_third_buffer_is_filled_and_all_bytes_arrive) {
  const auto bytes = random_bytes(64 * block);
  DirectQueue queue(*direct, 3, 4 * block);
  std::size_t most = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 4 * block) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4 * block, queue.buffer().begin());
    queue.write(0, 4 * block, at);
    most = std::max(most, queue.in_flight());
  }
  EXPECT_EQ(most, 2u);
  queue.wait();
  EXPECT_EQ(queue.in_flight(), 0u);
  std::vector<std::byte> read(bytes.size());
  pread_all(file, 0, read);
  EXPECT_EQ(read, bytes);
}

TEST_F(DirectQueueTest, a_part_of_a_buffer_goes_to_its_place_and_an_empty_one_nowhere) {
  const auto bytes = random_bytes(4 * block);
  DirectQueue queue(*direct, 2, 4 * block);
  std::copy(bytes.begin(), bytes.end(), queue.buffer().begin());
  queue.write(block, 3 * block, 8 * block);
  queue.write(0, 0, 0);
  queue.wait();
  std::vector<std::byte> read(2 * block);
  pread_all(file, 8 * block, read);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes.begin() + block));
}

TEST_F(DirectQueueTest, an_error_of_a_write_in_flight_is_thrown) {
  const File read_only = open_read(path);
  DirectQueue queue(read_only, 3, block);
  EXPECT_THROW(
      {
        queue.write(0, block, 0);
        queue.wait();
      },
      base::Error);
}

TEST_F(DirectQueueTest, an_observer_hears_of_every_write_and_may_let_it_fail) {
  int heard = 0;
  set_observer([&](const Event& event) {
    if (event.operation == Operation::write) ++heard;
    return Verdict{heard == 2 ? ENOSPC : 0, 0};
  });
  DirectQueue queue(*direct, 3, block);
  queue.write(0, block, 0);
  EXPECT_EQ(queue.in_flight(), 0u);
  EXPECT_THROW(queue.write(0, block, block), base::Error);
  EXPECT_EQ(heard, 2);
}

}  // namespace
}  // namespace octavo::file
