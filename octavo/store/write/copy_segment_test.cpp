#include "octavo/store/write/copy_segment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "tests/support/store_fixture.hpp"

namespace octavo::store {
namespace {

using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::Step;
using testing::TemporaryDirectory;
using testing::write_step;

void copy_all(const std::filesystem::path& from, const std::filesystem::path& to) {
  for (const Subfile& subfile : scan_store(from).subfiles) {
    const OpenedSegment segment = open_newest(subfile.path);
    copy_segment(segment, plan_of_copy(segment, to, segment.footer.segment));
  }
}

TEST(CopySegment, a_copied_step_is_the_same_step_bit_for_bit) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Step step = random_step(seed, {.parts = 1 + seed % 3});
    const TemporaryDirectory dir;
    write_step(step, dir / "a", plan_of(7, 1, static_cast<int>(1 + seed % 2)));
    copy_all(dir / "a", dir / "b");
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "b")), step.parts)) << seed;
    EXPECT_EQ(open_step(dir / "b").header, step.header);
    EXPECT_EQ(list_steps(dir / "b")[0].attempt, list_steps(dir / "a")[0].attempt);
    const Report report = verify(dir / "b", 1);
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.where << ": " << finding.what;
  }
}

TEST(CopySegment, a_copy_behind_other_steps_keeps_its_order) {
  const Step step = random_step(1, {});
  const TemporaryDirectory dir;
  SegmentPlan plan = plan_of(7, 1, 1);
  plan.after_order = 41;
  write_step(step, dir / "a", plan);
  write_step(step, dir / "b", plan_of(6, 2, 1));
  copy_all(dir / "a", dir / "b");
  for (const StepFound& found : scan_store(dir / "b").steps)
    if (found.step == 7) {
      EXPECT_EQ(found.order, 42u);
    }
  EXPECT_EQ(list_steps(dir / "b").size(), 2u);
}

TEST(CopySegment, what_is_there_already_is_not_copied_again) {
  const Step step = random_step(1, {});
  const TemporaryDirectory dir;
  write_step(step, dir / "a", plan_of(7, 1, 1));
  write_step(step, dir / "b", plan_of(8, 2, 1));
  const OpenedSegment segment = open_newest(scan_store(dir / "a").subfiles[0].path);
  const SegmentPlan plan = plan_of_copy(segment, dir / "b", 0);
  EXPECT_GT(copy_segment_once(segment, plan), 0u);
  EXPECT_EQ(copy_segment_once(segment, plan), 0u);
  EXPECT_EQ(list_steps(dir / "b").size(), 2u);
  EXPECT_TRUE(verify(dir / "b", 1).findings.empty());
}

TEST(CopySegment, a_flipped_bit_is_named_and_nothing_is_committed) {
  const Step step = random_step(2, {});
  const TemporaryDirectory dir;
  write_step(step, dir / "a", plan_of(7, 1, 1));
  const auto streams = list_streams(dir / "a", Flow::analysis, 7);
  for (const StreamInfo& stream : streams) {
    if (stream.stored_bytes == 0) continue;
    std::fstream file(stream.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(stream.offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(stream.offset));
    file.put(static_cast<char>(byte ^ 4));
    break;
  }
  try {
    copy_all(dir / "a", dir / "b");
    ADD_FAILURE() << "the damage was copied";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("part "));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("data.000"));
  }
  EXPECT_TRUE(list_steps(dir / "b").empty());
}

TEST(CopySegment, a_subfile_without_a_commit_is_refused) {
  const TemporaryDirectory dir;
  SegmentPlan plan = plan_of(7, 1, 1);
  plan.store = dir / "a";
  { SegmentWriter writer(plan, random_step(1, {}).header); }
  EXPECT_THROW(open_newest(scan_store(dir / "a").subfiles[0].path), base::Error);
}

}  // namespace
}  // namespace octavo::store
