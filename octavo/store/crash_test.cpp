#include <gtest/gtest.h>

#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "tests/support/store_fixture.hpp"

// Everything that a writer asks of the file system is recorded; then, for every moment, a disk is rebuilt as a crash at
// that moment may have left it, and read.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using base::Error;
using file::Operation;
using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::Step;
using testing::StepOptions;
using testing::TemporaryDirectory;
using testing::write_step;

struct Done {
  Operation operation{};
  std::string path, target;
  std::uint64_t offset = 0, size = 0;
  std::string bytes;
};

/// What a step must read as once its commit has returned, and when that was.
struct Promise {
  std::int64_t step = 0;
  Attempt attempt{};
  std::size_t at = 0;  // operations done
  std::vector<mesh::Part> parts;
};

struct Log {
  std::vector<Done> done;
  std::vector<Promise> promises;

  void start() {
    file::set_observer([this](const file::Event& event) {
      if (event.operation != Operation::read && event.operation != Operation::open)
        done.push_back({event.operation,
                        event.path.string(),
                        event.target.string(),
                        event.offset,
                        event.size,
                        {reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size()}});
      return file::Verdict{};
    });
  }
  static void stop() { file::set_observer({}); }
};

// ------------------------------------------------------------------ what a crash leaves

enum class Fate { dropped, kept, torn, chance };

// A file's bytes on disk, and what was asked of it since its last sync.
struct FileState {
  std::string durable;
  std::vector<Done> pending;
  bool named = false;  // its directory was synced since it was created
};

void apply(const Done& done, std::size_t bytes, std::string& content) {
  if (done.operation == Operation::resize) {
    content.resize(done.size, '\0');
  } else if (done.operation == Operation::preallocate) {
    content.resize(std::max<std::size_t>(content.size(), done.size), '\0');
  } else {
    if (content.size() < done.offset + bytes) content.resize(done.offset + bytes, '\0');
    content.replace(done.offset, bytes, done.bytes, 0, bytes);
  }
}

std::string after_crash(const FileState& state, Fate fate, testing::Random& random) {
  std::string content = state.durable;
  for (const Done& done : state.pending) {
    std::size_t bytes = done.bytes.size();
    if (fate == Fate::dropped || (fate == Fate::chance && random.chance(0.4))) continue;
    if (fate == Fate::torn) bytes /= 2;
    if (fate == Fate::chance && random.chance(0.4)) bytes = random.below(bytes + 1);
    apply(done, bytes, content);
  }
  return content;
}

using Disk = std::map<std::string, FileState>;

void advance(const Done& done, Disk& disk) {
  switch (done.operation) {
    case Operation::create: disk[done.path]; break;
    case Operation::write:
    case Operation::preallocate:
    case Operation::resize: disk[done.path].pending.push_back(done); break;
    case Operation::sync: {
      FileState& state = disk[done.path];
      for (const Done& pending : state.pending) apply(pending, pending.bytes.size(), state.durable);
      state.pending.clear();
      break;
    }
    case Operation::sync_directory:
      for (auto& [path, state] : disk)
        if (fs::path(path).parent_path() == done.path) state.named = true;
      break;
    case Operation::make_directory: break;
    default: FAIL() << "the store is not expected to rename or remove";
  }
}

// Directories are always there: a file that is not synced into its own is lost all the same.
void rebuild(const Disk& disk, const fs::path& from, const fs::path& to, Fate fate, testing::Random& random) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const auto& [path, state] : disk) {
    if (!state.named && (fate == Fate::dropped || (fate == Fate::chance && random.chance(0.5)))) continue;
    const std::string content = after_crash(state, fate, random);
    testing::write_file(to / fs::relative(path, from), {content.begin(), content.end()});
  }
}

// ------------------------------------------------------------------ what must hold then

const Promise* promise_of(const Log& log, std::int64_t step, const Attempt& attempt) {
  for (const Promise& promise : log.promises)
    if (promise.step == step && promise.attempt == attempt) return &promise;
  return nullptr;
}

// What was promised by now and is not superseded by what was promised later.
std::map<std::int64_t, const Promise*> due(const Log& log, std::size_t moment) {
  std::map<std::int64_t, const Promise*> steps;
  for (const Promise& promise : log.promises)
    if (promise.at <= moment) steps[promise.step] = &promise;
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

std::string name_of(Fate fate) {
  const char* names[] = {"dropped", "kept", "torn", "chance"};
  return names[static_cast<int>(fate)];
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
      // A new run can go on from any crash, and loses nothing.
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
  log.promises.push_back({plan.step, plan.attempt, log.done.size(), step.parts});
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

TEST(Crash, a_dead_attempts_longer_tail_is_written_over) {
  TemporaryDirectory dir;
  write_step(random_step(1, tiny_options()), dir / "s", plan_of(1, 1));
  const fs::path path = dir / "s" / "analysis" / "data.000";
  // A kill leaves the tail that a destructor would have cut off.
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
