#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::file {
namespace {

// 2500 pieces of 0 to 6 bytes: more than one system call accepts.
struct Pieces {
  std::vector<std::string> texts;
  std::vector<std::span<const std::byte>> spans;
  std::string all;
  Pieces() {
    for (std::size_t i = 0; i < 2500; ++i) texts.emplace_back(i % 7, static_cast<char>('a' + i % 26));
    for (const std::string& text : texts) {
      spans.push_back(std::as_bytes(std::span(text)));
      all += text;
    }
  }
};

std::string contents(const std::filesystem::path& path) {
  const File file = open_read(path);
  std::string text(static_cast<std::size_t>(size(file)), ' ');
  pread_all(file, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST(gather, pieces_stand_one_after_another_observed_or_not) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / ("octavo_gather_" + std::to_string(getpid()));
  const Pieces pieces;
  for (const bool watched : {false, true}) {
    std::uint64_t seen = 0;
    if (watched)
      set_observer([&](const Event& event) {
        if (event.operation == Operation::write) seen += event.size;
        return Verdict{};
      });
    {
      const File file = open_write(path);
      pwrite_pieces(file, 3, pieces.spans);
    }
    set_observer({});
    EXPECT_EQ(contents(path).substr(3), pieces.all);
    EXPECT_EQ(seen, watched ? pieces.all.size() : 0);
    file::remove(path);
  }
}

TEST(gather, a_full_disk_is_an_error) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / ("octavo_gather_full_" + std::to_string(getpid()));
  const Pieces pieces;
  const File file = open_write(path);
  set_observer([](const Event& event) { return Verdict{event.operation == Operation::write ? ENOSPC : 0, 0}; });
  EXPECT_THROW(pwrite_pieces(file, 0, pieces.spans), base::Error);
  set_observer({});
  file::remove(path);
}

}  // namespace
}  // namespace octavo::file
