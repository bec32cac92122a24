#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/store/streams.hpp"
#include "tests/support/crash_disk.hpp"
#include "tests/support/store_fixture.hpp"

// Reads the disk that crash_disk.hpp rebuilds for every moment of writing.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using base::Error;
using testing::Disk;
using testing::Fate;
using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::Step;
using testing::StepOptions;
using testing::TemporaryDirectory;
using testing::write_step;

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

/// The content of a step once its commit has returned, and the moment when it returned.
struct Promise {
  std::int64_t step = 0;
  Attempt attempt{};
  std::size_t at = 0;  // operations done
  std::vector<mesh::Part> parts;
  std::size_t until = never;  // then its place was reused
};

struct Log : testing::FileLog {
  std::vector<Promise> promises;
};

// ------------------------------------------------------------------ what must hold then

const Promise* promise_of(const Log& log, std::int64_t step, const Attempt& attempt) {
  for (const Promise& promise : log.promises)
    if (promise.step == step && promise.attempt == attempt) return &promise;
  return nullptr;
}

// The promises made by now that no later promise supersedes.
std::map<std::int64_t, const Promise*> due(const Log& log, std::size_t moment) {
  std::map<std::int64_t, const Promise*> steps;
  for (const Promise& promise : log.promises)
    if (promise.at <= moment && moment <= promise.until) steps[promise.step] = &promise;
  return steps;
}

void check(const Log& log, std::size_t moment, const fs::path& store, const std::string& what) {
  std::vector<StepInfo> steps;
  try {
    steps = list_steps(store);
  } catch (const Error&) {
    // No store yet: nothing may have been promised.
  }
  const auto promised = due(log, moment);
  std::set<std::int64_t> found;
  for (const StepInfo& info : steps) {
    const Promise* promise = promise_of(log, info.step, info.attempt);
    ASSERT_NE(promise, nullptr) << what << ": a partial step is listed";
    const auto expected = promised.find(info.step);
    if (expected != promised.end() && promise != expected->second) {
      EXPECT_GT(promise->at, moment) << what << ": an older attempt came back";
    }
    EXPECT_TRUE(same_parts(read_all(open_step(store, info.flow, info.step)), promise->parts)) << what;
    EXPECT_TRUE(found.insert(info.step).second) << what;
  }
  for (const auto& [step, promise] : promised) EXPECT_TRUE(found.count(step) == 1) << what << ": step " << step;
}

void replay(const Log& log, const fs::path& from, bool go_on) {
  Disk disk;
  testing::Random random(42);
  TemporaryDirectory scratch;
  const fs::path store = scratch / "s";
  StepOptions tiny;
  tiny.cells = 40;
  const Step next = random_step(77, tiny);
  for (std::size_t moment = 0; moment <= log.done.size(); ++moment) {
    if (moment > 0) advance(log.done[moment - 1], disk);
    for (Fate fate : {Fate::dropped, Fate::kept, Fate::torn, Fate::chance, Fate::chance, Fate::chance}) {
      rebuild(disk, from, store, fate, random);
      const std::string what = "after operation " + std::to_string(moment) + ", unsynced " + name_of(fate);
      ASSERT_NO_FATAL_FAILURE(check(log, moment, store, what));
      if (!go_on) continue;
      // A new run can continue after any crash, and nothing is lost.
      write_step(next, store, plan_of(99, 99, 2));
      EXPECT_TRUE(same_parts(read_all(open_step(store)), next.parts)) << what;
      for (const auto& [step, promise] : due(log, moment))
        EXPECT_TRUE(same_parts(read_all(open_step(store, Flow::analysis, step)), promise->parts)) << what;
    }
  }
}

// ------------------------------------------------------------------ scenarios

StepOptions tiny_options() {
  StepOptions options;
  options.cells = 80;
  options.levels = 3;
  return options;
}

void write_promised(Log& log, const fs::path& store, const SegmentPlan& plan, std::uint64_t seed) {
  const Step step = random_step(seed, tiny_options());
  write_step(step, store, plan);
  log.promises.push_back({plan.step, plan.attempt, log.done.size(), step.parts, never});
}

void write_segment(const Step& step, const fs::path& store, SegmentPlan plan, int segment) {
  plan.store = store;
  plan.segment = plan.subfile = segment;
  SegmentWriter writer(plan, step.header);
  writer.add(encode(step.parts[static_cast<std::size_t>(segment)], step.header, {}));
  writer.commit();
}

// The writer of segment 0 commits, that of segment 1 dies before it has.
void write_half(const fs::path& store, SegmentPlan plan, std::uint64_t seed) {
  const Step step = random_step(seed, tiny_options());
  plan.store = store;
  for (int segment : {0, 1}) {
    plan.segment = plan.subfile = segment;
    SegmentWriter writer(plan, step.header);
    writer.add(encode(step.parts[static_cast<std::size_t>(segment)], step.header, {}));
    if (segment == 0) writer.commit();
  }
}

TEST(Crash, two_appended_steps_in_one_file) {
  TemporaryDirectory dir;
  Log log;
  log.start();
  write_promised(log, dir / "s", plan_of(1, 1), 1);
  write_promised(log, dir / "s", plan_of(2, 2), 2);
  log.stop();
  EXPECT_GT(log.done.size(), 15u);
  replay(log, dir / "s", true);
}

TEST(Crash, two_segments_in_two_files) {
  TemporaryDirectory dir;
  Log log;
  log.start();
  write_promised(log, dir / "s", plan_of(1, 1, 2), 1);
  write_promised(log, dir / "s", plan_of(2, 2, 2), 2);
  log.stop();
  replay(log, dir / "s", true);
}

// The other writer may be faster than that of segment 0, which syncs the names of the directories that it made.
TEST(Crash, two_segments_of_which_the_first_alone_syncs_names_of_directories) {
  TemporaryDirectory dir;
  Log log;
  log.start();
  for (const std::int64_t number : {1, 2}) {
    SegmentPlan plan = plan_of(number, static_cast<unsigned>(number), 2);
    plan.flow = Flow::checkpoint;
    plan.relies_on_first = true;
    const Step step = random_step(static_cast<std::uint64_t>(number), tiny_options());
    const auto before = static_cast<std::ptrdiff_t>(log.done.size());
    write_segment(step, dir / "s", plan, 1);
    const auto is_of_directory = [](const auto& done) { return done.operation == file::Operation::sync_directory; };
    // Its own file's name, and the first time that of the store's marker.
    EXPECT_EQ(std::count_if(log.done.begin() + before, log.done.end(), is_of_directory), number == 1 ? 2 : 1);
    write_segment(step, dir / "s", plan, 0);
    log.promises.push_back({number, plan.attempt, log.done.size(), step.parts, never});
  }
  log.stop();
  replay(log, dir / "s", false);
}

TEST(Crash, an_attempt_that_died_and_one_that_supersedes) {
  TemporaryDirectory dir;
  Log log;
  log.start();
  write_promised(log, dir / "s", plan_of(1, 1, 2), 1);
  write_half(dir / "s", plan_of(2, 2, 2), 2);
  write_promised(log, dir / "s", plan_of(2, 3, 2), 3);
  write_promised(log, dir / "s", plan_of(2, 4, 2), 4);
  log.stop();
  replay(log, dir / "s", false);
}

SegmentPlan in_slot(const fs::path& store, std::int64_t step, int segments, bool recycle) {
  SegmentPlan plan = plan_of(step, static_cast<unsigned>(step), segments);
  plan.store = store;
  plan.flow = Flow::checkpoint;
  plan.directory = step % 2 == 0 ? "checkpoint/slot.000" : "checkpoint/slot.001";
  plan.recycle = recycle;
  return plan;
}

TEST(Crash, slots_that_are_recycled_in_place) {
  TemporaryDirectory dir;
  Log log;
  log.start();
  for (std::int64_t step : {1, 2, 3, 4, 5}) {
    // The slot of the step before last is reused; the last step stays.
    if (step > 2) log.promises[static_cast<std::size_t>(step - 3)].until = log.done.size();
    write_promised(log, dir / "s", in_slot(dir / "s", step, 2, step > 2), static_cast<std::uint64_t>(step));
  }
  log.stop();
  for (const auto& done : log.done) EXPECT_NE(done.operation, file::Operation::resize);
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  replay(log, dir / "s", false);
}

TEST(Crash, a_slot_of_more_files_is_recycled_with_fewer) {
  TemporaryDirectory dir;
  Log log;
  write_promised(log, dir / "s", in_slot(dir / "s", 1, 2, true), 1);
  write_promised(log, dir / "s", in_slot(dir / "s", 2, 2, true), 2);
  write_promised(log, dir / "s", in_slot(dir / "s", 3, 1, true), 3);
  EXPECT_FALSE(fs::exists(dir / "s" / "checkpoint" / "slot.001" / "data.001"));
  const auto steps = list_steps(dir / "s");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].step, 3);
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

// A writer may be killed after it has made a directory or file and before it has synced its name. The next writer must
// sync that name. Files are synced five times in all; where the last one is missing the step may be there.
TEST(Crash, what_a_killed_writer_made_and_did_not_sync_is_synced_by_the_next) {
  for (file::Operation operation : {file::Operation::sync_directory, file::Operation::sync})
    for (int nth = 0; nth < (operation == file::Operation::sync ? 4 : 6); ++nth) {
      TemporaryDirectory dir;
      Log log;
      log.start_and_die_at(operation, nth);
      try {
        write_step(random_step(1, tiny_options()), dir / "s", plan_of(1, 1, 2));
      } catch (const Error&) {
      }
      log.start();
      write_promised(log, dir / "s", plan_of(2, 2, 2), 2);
      log.stop();
      replay(log, dir / "s", false);
    }
}

// The head of a new file is synced with the content. A crash before that may keep the content alone.
TEST(Crash, content_without_a_head_is_no_damage_and_is_written_over) {
  TemporaryDirectory dir;
  write_step(random_step(1, tiny_options()), dir / "s", plan_of(1, 1));
  const fs::path path = dir / "s" / "analysis" / "data.001";
  std::vector<char> content(40000, 'x');
  std::fill_n(content.begin(), head_size, '\0');
  std::fill_n(content.begin() + 100, 300, 'x');  // a torn head
  testing::write_file(path, content);
  const Report report = verify(dir / "s", 1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.notes.size(), 1u);
  write_step(random_step(2, tiny_options()), dir / "s", plan_of(2, 2, 2));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(2, tiny_options()).parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  // A record says that there was a commit.
  content[record_place(1) + 5] = 'x';
  testing::write_file(dir / "s" / "analysis" / "data.002", content);
  EXPECT_FALSE(verify(dir / "s", 1).findings.empty());
}

// As ranks do: each part through a handle of its own, in the space that the segment's writer gave it.
void write_shared(Log& log, const fs::path& store, SegmentPlan plan, std::uint64_t seed) {
  const Step step = random_step(seed, tiny_options());
  plan.store = store;
  EncodeOptions raw;
  raw.codec.method = codec::Method::raw;
  SegmentWriter writer(plan, step.header);
  std::vector<EncodedPart> parts;
  std::uint64_t bytes = 0;
  for (const mesh::Part& part : step.parts) {
    parts.push_back(encode(view_of(part), step.header, raw));
    bytes += stored_size(parts.back());
  }
  std::uint64_t end = writer.reserve(bytes) + bytes;
  for (std::size_t p = parts.size(); p-- > 0;)
    write_streams(file::open_write(subfile_path(plan)), parts[p], end -= stored_size(parts[p]),
                  {.direct_io = plan.direct_io});
  for (EncodedPart& part : parts) writer.add_written(std::move(part));
  writer.commit();
  log.promises.push_back({plan.step, plan.attempt, log.done.size(), step.parts, never});
}

TEST(Crash, parts_written_into_ranges_of_one_file) {
  for (bool direct : {false, true}) {
    TemporaryDirectory dir;
    Log log;
    log.start();
    for (unsigned step : {1U, 2U}) {
      SegmentPlan plan = plan_of(step, step);
      plan.direct_io = direct;
      write_shared(log, dir / "s", plan, step);
    }
    log.stop();
    EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
    replay(log, dir / "s", false);
  }
}

TEST(Crash, a_step_that_failed_in_one_file_and_was_followed_is_no_damage) {
  TemporaryDirectory dir;
  Log log;
  write_promised(log, dir / "s", plan_of(1, 1, 2), 1);
  write_half(dir / "s", plan_of(2, 2, 2), 2);
  write_promised(log, dir / "s", plan_of(3, 3, 2), 3);
  const Report report = verify(dir / "s", 1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.notes.size(), 1u);
}

TEST(Crash, a_dead_attempts_longer_tail_is_written_over) {
  TemporaryDirectory dir;
  write_step(random_step(1, tiny_options()), dir / "s", plan_of(1, 1));
  const fs::path path = dir / "s" / "analysis" / "data.000";
  // After a kill the tail remains, which a destructor would have cut off.
  auto bytes = testing::file_bytes(path);
  testing::Random random(5);
  for (int i = 0; i < 50000; ++i) bytes.push_back(static_cast<char>(random.bits() & 0xFF));
  testing::write_file(path, bytes);
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(1, tiny_options()).parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  write_step(random_step(2, tiny_options()), dir / "s", plan_of(2, 2));
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), random_step(2, tiny_options()).parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

}  // namespace
}  // namespace octavo::store
