#include "octavo/file/posix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/file.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

using base::Error;
using base::Kind;
using octavo::testing::error_of;
namespace fs = std::filesystem;

// A fresh directory for one test. It is removed with its contents afterwards, and the observer is reset.
class Posix : public ::testing::Test {
 protected:
  ~Posix() override { set_observer({}); }
  octavo::testing::TemporaryFolder folder_;
  fs::path dir_ = folder_.path();
};

std::vector<std::byte> bytes_of_text(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string text_of(const File& file) {
  std::string text(size(file), '\0');
  pread_all(file, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST_F(Posix, what_was_written_at_a_place_is_read_from_there) {
  const File file = create(dir_ / "a");
  pwrite_all(file, 3, bytes_of_text("def"));
  pwrite_all(file, 0, bytes_of_text("abc"));
  EXPECT_EQ(text_of(file), "abcdef");
  std::vector<std::byte> out(10);
  EXPECT_EQ(pread_some(file, 4, out), 2U);
  EXPECT_EQ(pread_some(file, 6, out), 0U);
}

TEST_F(Posix, reading_past_the_end_is_corrupt_and_says_where) {
  const File file = create(dir_ / "a");
  pwrite_all(file, 0, bytes_of_text("abc"));
  std::vector<std::byte> out(8);
  const Error error = error_of([&] { pread_all(file, 1, out); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("expected 8 bytes, found 2"));
  EXPECT_THAT(error.what(), ::testing::HasSubstr("a, byte 1"));
}

TEST_F(Posix, an_existing_file_is_never_truncated) {
  pwrite_all(create(dir_ / "a"), 0, bytes_of_text("abc"));
  EXPECT_EQ(error_of([&] { create(dir_ / "a"); }).kind(), Kind::usage);
  EXPECT_EQ(text_of(open_write(dir_ / "a")), "abc");
}

TEST_F(Posix, what_is_no_regular_file_is_not_opened_and_does_not_block) {
  ::mkfifo((dir_ / "pipe").c_str(), 0600);
  EXPECT_EQ(error_of([&] { open_read(dir_); }).kind(), Kind::unreadable);
  EXPECT_EQ(error_of([&] { open_read(dir_ / "pipe"); }).kind(), Kind::unreadable);
  EXPECT_EQ(error_of([&] { open_read(dir_ / "none"); }).kind(), Kind::unreadable);
}

TEST_F(Posix, a_file_without_permission_is_unreadable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  pwrite_all(create(dir_ / "a"), 0, bytes_of_text("abc"));
  ::chmod((dir_ / "a").c_str(), 0);
  EXPECT_EQ(error_of([&] { open_read(dir_ / "a"); }).kind(), Kind::unreadable);
}

TEST_F(Posix, a_second_handle_does_not_get_the_lock) {
  const File first = open_write(dir_ / "a");
  EXPECT_TRUE(try_lock(first));
  EXPECT_FALSE(try_lock(open_write(dir_ / "a")));
}

TEST_F(Posix, a_moved_handle_stays_open_and_the_old_one_is_empty) {
  File first = create(dir_ / "a");
  File second = std::move(first);
  EXPECT_TRUE(second.is_open());
  pwrite_all(second, 0, bytes_of_text("x"));
  second.close();
  EXPECT_FALSE(second.is_open());
}

TEST_F(Posix, preallocated_space_is_there_and_resize_cuts_it) {
  const File file = create(dir_ / "a");
  preallocate(file, 10000);
  EXPECT_EQ(size(file), 10000U);
  resize(file, 3);
  EXPECT_EQ(size(file), 3U);
}

TEST_F(Posix, missing_directories_are_made_and_what_stands_in_the_way_is_named) {
  make_directories(dir_ / "a/b/c/");
  EXPECT_TRUE(fs::is_directory(dir_ / "a/b/c"));
  create(dir_ / "a/file");
  EXPECT_THAT(error_of([&] { make_directories(dir_ / "a/file/d"); }).what(), ::testing::HasSubstr("a/file"));
}

// The process that made the directories may have been killed before it synced their names.
TEST_F(Posix, names_of_directories_that_were_there_are_synced_once) {
  std::vector<std::string> synced;
  set_observer([&](const Event& event) {
    if (event.operation == Operation::sync_directory) synced.push_back(event.path.string());
    return Verdict{};
  });
  fs::create_directories(dir_ / "a/b");
  make_directories(dir_ / "a/b/c");
  const std::vector<std::string> expected{dir_.string(), dir_ / "a", dir_ / "a/b"};
  EXPECT_THAT(synced, ::testing::IsSupersetOf(expected));
  synced.clear();
  make_directories(dir_ / "a/b/d/");
  make_directories(dir_ / "a/b/c");
  EXPECT_THAT(synced, ::testing::ElementsAre(dir_ / "a/b"));
}

TEST_F(Posix, a_name_whose_sync_failed_is_synced_again) {
  fs::create_directories(dir_ / "a");
  set_observer([](const Event& event) { return Verdict{event.operation == Operation::sync_directory ? EIO : 0, 0}; });
  EXPECT_EQ(error_of([&] { make_directories(dir_ / "a/b"); }).kind(), Kind::unreadable);
  std::vector<std::string> synced;
  set_observer([&](const Event& event) {
    if (event.operation == Operation::sync_directory) synced.push_back(event.path.string());
    return Verdict{};
  });
  make_directories(dir_ / "a/b");
  EXPECT_THAT(synced, ::testing::IsSupersetOf(std::vector<std::string>{dir_.string(), dir_ / "a"}));
}

TEST_F(Posix, the_observer_sees_every_operation_in_order) {
  std::vector<Operation> seen;
  std::string written;
  set_observer([&](const Event& event) {
    seen.push_back(event.operation);
    for (const std::byte b : event.bytes) written += static_cast<char>(b);
    return Verdict{};
  });
  {
    File file = create(dir_ / "a");
    pwrite_all(file, 0, bytes_of_text("abc"));
    sync(file);
  }
  file::rename(dir_ / "a", dir_ / "b");
  sync_directory(dir_);
  file::remove(dir_ / "b");
  EXPECT_THAT(seen, ::testing::ElementsAre(Operation::create, Operation::write, Operation::sync, Operation::rename,
                                           Operation::sync_directory, Operation::remove));
  EXPECT_EQ(written, "abc");
}

TEST_F(Posix, writes_and_syncs_are_counted) {
  const Counts before = counts();
  const File file = create(dir_ / "a");
  pwrite_all(file, 0, bytes_of_text("hello"));
  pwrite_all(file, 5, bytes_of_text("!"));
  sync(file);
  EXPECT_EQ(counts().writes - before.writes, 2u);
  EXPECT_EQ(counts().bytes_written - before.bytes_written, 6u);
  EXPECT_EQ(counts().syncs - before.syncs, 1u);
}

TEST_F(Posix, an_injected_full_disk_keeps_the_bytes_before_it) {
  const File file = create(dir_ / "a");
  set_observer([](const Event& event) { return event.operation == Operation::write ? Verdict{ENOSPC, 2} : Verdict{}; });
  const Error error = error_of([&] { pwrite_all(file, 5, bytes_of_text("abc")); });
  EXPECT_EQ(error.kind(), Kind::no_space);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("byte 7"));
  set_observer({});
  EXPECT_EQ(size(file), 7U);
}

TEST_F(Posix, an_injected_failure_of_sync_and_rename_is_reported) {
  const File file = create(dir_ / "a");
  set_observer([](const Event&) { return Verdict{EIO, 0}; });
  EXPECT_EQ(error_of([&] { sync(file); }).kind(), Kind::unreadable);
  EXPECT_EQ(error_of([&] { file::rename(dir_ / "a", dir_ / "b"); }).kind(), Kind::unreadable);
  set_observer({});
  EXPECT_TRUE(fs::exists(dir_ / "a"));
}

}  // namespace
}  // namespace octavo::file
