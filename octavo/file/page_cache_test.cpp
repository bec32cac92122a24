#include "octavo/file/page_cache.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

TEST(PageCache, synced_pages_are_dropped_and_unsynced_ones_stay) {
  const testing::TemporaryFolder folder;
  const File file = create(folder.path() / "file");
  struct statfs system {};
  ASSERT_EQ(::fstatfs(file.descriptor(), &system), 0);
  if (system.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the pages of a memory file system are the file";
  const std::vector<std::byte> bytes(std::size_t{4} << 20, std::byte{7});
  pwrite_all(file, 0, bytes);
  EXPECT_EQ(cached_bytes(file), bytes.size());
  drop_pages(file, bytes.size() / 2, 4096);
  EXPECT_GT(cached_bytes(file), bytes.size() / 2);
  sync(file);
  drop_pages(file);
  EXPECT_LT(cached_bytes(file), bytes.size() / 20);
  std::vector<std::byte> again(bytes.size());
  pread_all(file, 0, again);
  EXPECT_EQ(again, bytes);
}

TEST(PageCache, advice_for_a_range_that_is_not_there_does_nothing) {
  const testing::TemporaryFolder folder;
  const File file = create(folder.path() / "file");
  start_writeback(file, 1 << 20, 1 << 20);
  start_writeback(file, 0, 0);
  drop_pages(file);
  EXPECT_EQ(size(file), 0u);
  EXPECT_EQ(cached_bytes(file), 0u);
}

}  // namespace
}  // namespace octavo::file
