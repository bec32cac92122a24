#include "octavo/file/full_disk.hpp"

#include <gtest/gtest.h>

#include "octavo/file/posix.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

TEST(FullDisk, what_is_written_to_a_detached_file_goes_nowhere) {
  const testing::TemporaryFolder folder;
  const File file = create(folder / "real");
  const std::vector<std::byte> bytes(100, std::byte{7});
  pwrite_all(file, 0, bytes);
  EXPECT_GT(free_space(file.descriptor()), 0U);
  detach(file.descriptor());
  EXPECT_EQ(size(file), 100U);
  pwrite_all(file, 100, bytes);
  EXPECT_EQ(size(file), 200U);
  EXPECT_EQ(std::filesystem::file_size(folder / "real"), 100U);
}

}  // namespace
}  // namespace octavo::file
