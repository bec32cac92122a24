#include "octavo/step/open.hpp"

#include <gtest/gtest.h>

#include "octavo/file/posix.hpp"
#include "octavo/formats/formats.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::step {
namespace {

/// Counts how often a file is opened while it lives.
struct Opens {
  int count = 0;
  explicit Opens(const std::filesystem::path& path) {
    file::set_observer([this, path](const file::Event& event) {
      count += event.operation == file::Operation::open && event.path == path ? 1 : 0;
      return file::Verdict{};
    });
  }
  ~Opens() { file::set_observer({}); }
  Opens(const Opens&) = delete;
  Opens& operator=(const Opens&) = delete;
};

TEST(Steps, of_a_serafin_file_are_listed_from_one_reading_of_its_header) {
  const testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  fixture.mesh = testing::random_triangles(3, 5, 6);
  const auto path = folder / "run.slf";
  testing::put_file(path, testing::serafin_bytes(fixture));
  const mesh::Dataset last = open(path);
  int to_recognise = 0;
  {
    const Opens opens(path);
    if (!store::recognise(path)) formats::format_of(path);
    to_recognise = opens.count;
  }
  const Opens opens(path);
  const std::vector<store::StepInfo> all = steps(path);
  EXPECT_EQ(opens.count, to_recognise + 1);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().time, last.header.time);
  EXPECT_EQ(all.back().step, std::ssize(all) - 1);
  EXPECT_EQ(all.back().bytes, static_cast<std::uint64_t>(last.bytes));
  EXPECT_EQ(all.back().parts, 1);
}

}  // namespace
}  // namespace octavo::step
