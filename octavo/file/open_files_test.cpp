#include "octavo/file/open_files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

TEST(OpenFiles, the_last_ones_stay_open_and_a_handle_that_is_held_outlives_its_place) {
  const testing::TemporaryFolder folder;
  const std::array<std::byte, 1> byte{std::byte{7}};
  for (const char* name : {"a", "b", "c"}) pwrite_all(create(folder / name), 0, byte);
  std::string opened;
  set_observer([&](const Event& event) {
    if (event.operation == Operation::open) opened += event.path.filename().string();
    return Verdict{};
  });
  OpenFiles files(2);
  const auto a = files.get(folder / "a");
  for (const char* name : {"b", "a", "c", "a", "b", "b"}) EXPECT_EQ(files.get(folder / name)->path(), folder / name);
  set_observer({});
  EXPECT_EQ(opened, "abcb");
  files.get(folder / "c");
  files.get(folder / "b");
  std::array<std::byte, 1> read{};
  pread_all(*a, 0, read);
  EXPECT_EQ(read, byte);
}

}  // namespace
}  // namespace octavo::file
