#include "octavo/store/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/store_fixture.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
using testing::attempt_of;
using testing::kind_of;
using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::Step;
using testing::StepOptions;
using testing::TemporaryDirectory;
using testing::write_step;

TEST(Store, reads_what_was_written_bit_for_bit_in_one_to_three_dimensions) {
  for (int dim : {1, 2, 3})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      StepOptions options;
      options.dim = dim;
      options.roots = {0, 0, 0};
      options.levels = static_cast<int>(1 + seed % 6);
      options.parts = 1 + seed % 3;
      const Step step = random_step(seed, options);
      TemporaryDirectory dir;
      write_step(step, dir / "run.octavo", plan_of(7, 1, static_cast<int>(1 + seed % 2)));
      const mesh::Dataset dataset = open_step(dir / "run.octavo");
      EXPECT_EQ(dataset.header, step.header);
      EXPECT_TRUE(same_parts(read_all(dataset), step.parts)) << dim << " " << seed;
      const Report report = verify(dir / "run.octavo", 2);
      for (const Finding& finding : report.findings) ADD_FAILURE() << finding.where << ": " << finding.what;
    }
}

TEST(Store, keeps_blocks_and_roots) {
  StepOptions options;
  options.block = {4, 2, 3};
  options.roots = {3, 2, 1};
  const Step step = random_step(5, options);
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), step.parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

TEST(Store, a_part_holds_the_roots_that_it_lists_or_none) {
  StepOptions options;
  options.roots = {5, 4, 3};
  options.parts = 7;
  for (const mesh::Index3& block : {mesh::Index3{1, 1, 1}, mesh::Index3{2, 2, 4}})
    for (const codec::Method method : {codec::Method::automatic, codec::Method::raw, codec::Method::zstd}) {
      options.block = block;
      Step step = random_step(4, options);
      mesh::Part& none = step.parts[3];
      auto& tree = std::get<mesh::Octree>(none.mesh);
      tree.refined = tree.owned = {base::BitArray()};
      tree.held.clear();
      for (mesh::Field& field : none.fields) field.bytes.clear();
      EncodeOptions encoding;
      encoding.codec.method = method;
      SegmentPlan plan = plan_of(1, 1, 7);
      plan.whole_domain = false;
      TemporaryDirectory dir;
      write_step(step, dir / "s", plan, encoding);
      const auto read = read_all(open_step(dir / "s"));
      EXPECT_TRUE(same_parts(read, step.parts));
      for (const mesh::Part& part : read) EXPECT_LT(num_cells(std::get<mesh::Octree>(part.mesh), 0), 60U);
      for (const Finding& finding : verify(dir / "s", 2).findings)
        ADD_FAILURE() << finding.where << ": " << finding.what;
    }
}

// Values of cells that a part does not own become zeros, but in every `keep`-th of them.
void clear_others(Step& step, std::size_t keep) {
  for (mesh::Part& part : step.parts) {
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    for (mesh::Field& field : part.fields) {
      const std::size_t cell = field.bytes.size() / num_cells(tree);
      std::size_t at = 0;
      for (const auto& owned : tree.owned)
        for (std::size_t i = 0; i < owned.size(); ++i, ++at)
          if (!owned[i] && at % keep != 0) std::fill_n(field.bytes.data() + at * cell, cell, std::byte{0});
    }
  }
}

std::size_t bytes_owned(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  std::size_t owned = 0, bytes = 0;
  for (const auto& level : tree.owned) owned += level.count();
  for (const mesh::Field& field : part.fields) bytes += field.bytes.size() / num_cells(tree) * owned;
  return bytes;
}

TEST(Store, raw_streams_have_no_zeros_of_cells_that_the_part_does_not_own) {
  StepOptions options;
  options.block = {4, 4, 2};
  options.roots = {7, 5, 3};
  options.parts = 6;
  EncodeOptions raw;
  raw.codec.method = codec::Method::raw;
  for (const std::size_t keep : {std::size_t{1} << 40, std::size_t{3}, std::size_t{1}}) {
    Step step = random_step(8, options);
    clear_others(step, keep);
    for (const mesh::Part& part : step.parts) {
      const EncodedPart encoded = encode(part, step.header, raw);
      std::size_t stored = 0;
      for (const Stream& stream : encoded.streams)
        if (stream.kind == StreamKind::field) stored += stream.bytes.size();
      if (keep > 3) {
        EXPECT_LT(stored, bytes_owned(part) + bytes_owned(part) / 5);
      }
    }
    TemporaryDirectory dir;
    write_step(step, dir / "s", plan_of(1, 1, 2), raw);
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), step.parts));
    EXPECT_TRUE(verify(dir / "s", 2).findings.empty());
  }
}

TEST(Store, the_bytes_depend_on_nothing_but_the_part) {
  const Step step = random_step(3);
  const EncodedPart a = encode(step.parts[0], step.header, {}), b = encode(step.parts[0], step.header, {});
  ASSERT_EQ(a.streams.size(), b.streams.size());
  for (std::size_t s = 0; s < a.streams.size(); ++s) EXPECT_EQ(a.streams[s].bytes, b.streams[s].bytes);
}

TEST(Store, lists_steps_in_order_whatever_order_they_were_written_in) {
  TemporaryDirectory dir;
  for (int number : {5, 3, 9})
    write_step(random_step(static_cast<std::uint64_t>(number)), dir / "s", plan_of(number, 1));
  const auto steps = list_steps(dir / "s");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].step, 3);
  EXPECT_EQ(steps[2].step, 9);
  EXPECT_EQ(steps[2].parts, 2);
  EXPECT_EQ(steps[2].time, 0.25 * 9);
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s", Flow::analysis, 3)), random_step(3).parts));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(9).parts));
  EXPECT_EQ(kind_of([&] { open_step(dir / "s", Flow::analysis, 4); }), Kind::usage);
  EXPECT_EQ(kind_of([&] { open_step(dir / "s", Flow::checkpoint); }), Kind::usage);
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

TEST(Store, a_hundred_appended_steps_stay_readable_and_in_one_file) {
  TemporaryDirectory dir;
  StepOptions small;
  small.cells = 40;
  for (int number = 1; number <= 100; ++number)
    write_step(random_step(static_cast<std::uint64_t>(number), small), dir / "s", plan_of(number, 1));
  EXPECT_EQ(list_steps(dir / "s").size(), 100u);
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s", {}, 1)), random_step(1, small).parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir / "s" / "analysis"), {}), 1);
}

TEST(Store, checkpoints_have_directories_of_their_own) {
  TemporaryDirectory dir;
  SegmentPlan plan = plan_of(40, 1, 2);
  plan.flow = Flow::checkpoint;
  write_step(random_step(1), dir / "s", plan);
  plan.step = 80;
  write_step(random_step(2), dir / "s", plan);
  EXPECT_TRUE(std::filesystem::exists(dir / "s" / "checkpoint" / "000" / "000" / "000000040" / "data.001"));
  EXPECT_EQ(list_steps(dir / "s").size(), 2u);
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(2).parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

TEST(Store, a_step_that_continues_an_earlier_one_supersedes_the_abandoned_branch) {
  for (Flow flow : {Flow::analysis, Flow::checkpoint}) {
    TemporaryDirectory dir;
    SegmentPlan plan = plan_of(0, 1);
    plan.flow = flow;
    for (int number : {1, 2, 3, 4}) {
      plan.step = number;
      write_step(random_step(static_cast<std::uint64_t>(number)), dir / "s", plan);
    }
    plan.step = 3;
    plan.attempt = attempt_of(2);
    plan.continues = StepId{2, attempt_of(1)};
    write_step(random_step(33), dir / "s", plan);
    const auto steps = list_steps(dir / "s");
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[2].step, 3);
    EXPECT_EQ(steps[2].attempt, attempt_of(2));
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(33).parts));
    EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  }
}

TEST(Store, a_step_without_all_its_segments_is_not_listed) {
  TemporaryDirectory dir;
  write_step(random_step(1), dir / "s", plan_of(1, 1, 2));
  const Step step = random_step(2);
  SegmentPlan plan = plan_of(2, 2, 2);
  plan.store = dir / "s";
  {
    SegmentWriter writer(plan, step.header);
    writer.add(encode(step.parts[0], step.header, {}));
    writer.commit();
  }
  std::vector<std::string> notes;
  EXPECT_EQ(list_steps(dir / "s", &notes).size(), 1u);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], ::testing::HasSubstr("segment 1 of 2"));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(1).parts));
  const Report report = verify(dir / "s", 1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.notes.size(), 1u);
  // Segments of another attempt do not complete it; the attempt written in full is listed.
  write_step(random_step(3), dir / "s", plan_of(2, 3, 2));
  EXPECT_EQ(list_steps(dir / "s").size(), 2u);
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(3).parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

TEST(Store, a_step_that_was_durable_is_lost_with_a_subfile) {
  TemporaryDirectory dir;
  testing::write_durable_step(random_step(1), dir / "s", plan_of(1, 1, 2));
  std::filesystem::remove(dir / "s" / "analysis" / "data.001");
  EXPECT_EQ(kind_of([&] { open_step(dir / "s"); }), Kind::corrupt);
  const Report report = verify(dir / "s", 1);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::lost);
}

TEST(Store, is_read_without_its_marker) {
  TemporaryDirectory dir;
  write_step(random_step(1), dir / "s", plan_of(1, 1));
  EXPECT_TRUE(recognise(dir / "s"));
  EXPECT_TRUE(recognise(dir / "s" / "analysis" / "data.000"));
  std::filesystem::remove(dir / "s" / "octavo.json");
  EXPECT_TRUE(recognise(dir / "s"));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(1).parts));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s" / "analysis" / "data.000")), random_step(1).parts));
  EXPECT_EQ(verify(dir / "s", 1).findings.size(), 1u);
  EXPECT_FALSE(recognise(dir.path()));
  EXPECT_FALSE(recognise(dir / "nothing"));
  EXPECT_EQ(kind_of([&] { list_steps(dir / "nothing"); }), Kind::unreadable);
  EXPECT_EQ(kind_of([&] { list_steps(dir.path()); }), Kind::corrupt);
}

TEST(Store, a_second_writer_of_a_subfile_is_turned_away) {
  TemporaryDirectory dir;
  const Step step = random_step(1);
  SegmentPlan plan = plan_of(1, 1);
  plan.store = dir / "s";
  SegmentWriter first(plan, step.header);
  EXPECT_EQ(kind_of([&] { SegmentWriter second(plan, step.header); }), Kind::usage);
  for (const mesh::Part& part : step.parts) first.add(encode(part, step.header, {}));
  first.commit();
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), step.parts));
}

TEST(Store, an_abandoned_segment_leaves_no_trace) {
  TemporaryDirectory dir;
  write_step(random_step(1), dir / "s", plan_of(1, 1));
  const auto before = testing::file_bytes(dir / "s" / "analysis" / "data.000");
  const Step step = random_step(2);
  {
    SegmentPlan plan = plan_of(2, 1);
    plan.store = dir / "s";
    SegmentWriter writer(plan, step.header);
    for (const mesh::Part& part : step.parts) writer.add(encode(part, step.header, {}));
  }
  EXPECT_EQ(testing::file_bytes(dir / "s" / "analysis" / "data.000"), before);
}

TEST(Store, refuses_what_it_cannot_keep) {
  TemporaryDirectory dir;
  Step step = random_step(1);
  mesh::Part patches = step.parts[0];
  patches.mesh = mesh::Patches{};
  EXPECT_EQ(kind_of([&] { encode(patches, step.header, {}); }), Kind::unsupported);
  mesh::Part torn = step.parts[0];
  torn.fields[0].bytes.pop_back();
  EXPECT_EQ(kind_of([&] { encode(torn, step.header, {}); }), Kind::usage);
  mesh::Part without_levels = step.parts[0], longer = step.parts[0];
  without_levels.mesh = mesh::Octree{};
  std::get<mesh::Octree>(longer.mesh).owned.emplace_back(8);
  EncodeOptions raw;
  raw.codec.method = codec::Method::raw;
  for (const mesh::Part& wrong : {without_levels, longer})
    EXPECT_EQ(kind_of([&] { encode(wrong, step.header, raw); }), Kind::corrupt);
  mesh::Part fewer = step.parts[1];
  fewer.fields.pop_back();
  SegmentPlan plan = plan_of(1, 1);
  plan.store = dir / "s";
  SegmentWriter writer(plan, step.header);
  writer.add(encode(step.parts[0], step.header, {}));
  EXPECT_EQ(kind_of([&] { writer.add(encode(fewer, step.header, {})); }), Kind::usage);
  plan.subfile = 1;
  EXPECT_EQ(kind_of([&] { SegmentWriter(plan, step.header); }), Kind::usage);
}

}  // namespace
}  // namespace octavo::store
