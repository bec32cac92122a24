#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <set>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/engine/write/writer.hpp"
#include "tests/support/crash_disk.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/mpi_run.hpp"

// Which files the engine writes, when it syncs them, and what of them a crash leaves.
namespace octavo::engine {
namespace {

using base::Error;
using store::Flow;
using testing::Domain;
using testing::everyone;
using testing::make_domain;
using testing::rank;
using testing::size;
namespace fs = std::filesystem;

Options usual() {
  Options options;
  options.mode = testing::single_threaded() ? Mode::sync : Mode::background;
  options.staging_bytes = 1 << 20;
  options.checkpoint.codec.method = codec::Method::raw;
  return options;
}

Writer open(const testing::SharedDirectory& directory, const Options& options, std::optional<store::StepId> from = {}) {
  return Writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options, from);
}

void write_files(Writer& writer, Flow flow, std::int64_t step, std::uint64_t seed = 1) {
  const Domain domain = make_domain(seed, rank(), size(), step);
  writer.begin_step(flow, step, 0.5);
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density));
  writer.put_field("flag", view_of(domain.flag));
  writer.put_particles("stars", "id", view_of(domain.id));
  writer.end_step();
}

void expect_files(const fs::path& store, Flow flow, std::int64_t step, std::uint64_t seed = 1) {
  const Domain domain = make_domain(seed, rank(), size(), step);
  const mesh::Part part = store::open_step(store, flow, step).read(rank(), {});
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), domain.density));
  EXPECT_TRUE(std::ranges::equal(part.fields[1].as<std::int32_t>(), domain.flag));
}

void expect_sound(const fs::path& store) {
  MPI_Barrier(everyone());
  if (rank() == 0)
    for (const store::Finding& finding : store::verify(store, 1).findings)
      ADD_FAILURE() << finding.where << ": " << finding.what;
  MPI_Barrier(everyone());
}

std::vector<std::int64_t> steps_in(const fs::path& store, Flow flow) {
  MPI_Barrier(everyone());
  std::vector<std::int64_t> steps;
  for (const store::StepInfo& info : store::list_steps(store))
    if (info.flow == flow) steps.push_back(info.step);
  MPI_Barrier(everyone());
  return steps;
}

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

ino_t inode(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// ------------------------------------------------------------------ which files

TEST(WriterMpi, option_recycle_keeps_keep_last_checkpoints_in_one_slot_more_and_uses_them_again_in_place) {
  const testing::SharedDirectory directory;
  Options options = usual();
  options.keep_last = 2;
  options.recycle = true;
  store::StepId from;
  {
    Writer writer = open(directory, options);
    const fs::path first = directory.path() / "checkpoint" / "slot.000" / "data.000";
    ino_t before = 0;
    for (std::int64_t step = 1; step <= 6; ++step) {
      write_files(writer, Flow::checkpoint, step);
      if (step < 5) continue;  // steps come as fast as possible; the writer waits if it must
      writer.wait();
      if (step == 5) from = *writer.newest_durable(Flow::checkpoint);
      if (before != 0) {
        EXPECT_EQ(inode(first), before);
      }
      before = inode(first);
    }
    writer.close();
  }
  EXPECT_THAT(names_in(directory.path() / "checkpoint"), ::testing::ElementsAre("slot.000", "slot.001", "slot.002"));
  EXPECT_THAT(steps_in(directory.path(), Flow::checkpoint), ::testing::ElementsAre(4, 5, 6));
  for (std::int64_t step : {4, 5, 6}) expect_files(directory.path(), Flow::checkpoint, step);
  expect_sound(directory.path());
  // The run resumes from the older step, in fewer files. That step stays until there are newer ones.
  options.contributors_per_file = 0;
  Writer writer = open(directory, options, from);
  write_files(writer, Flow::checkpoint, 6, 9);
  writer.wait();
  EXPECT_THAT(steps_in(directory.path(), Flow::checkpoint), ::testing::ElementsAre(4, 5, 6));
  expect_files(directory.path(), Flow::checkpoint, 5);
  expect_files(directory.path(), Flow::checkpoint, 6, 9);
  write_files(writer, Flow::checkpoint, 7, 9);
  write_files(writer, Flow::checkpoint, 8, 9);
  writer.close();
  EXPECT_THAT(steps_in(directory.path(), Flow::checkpoint), ::testing::ElementsAre(6, 7, 8));
  EXPECT_THAT(names_in(directory.path() / "checkpoint"), ::testing::ElementsAre("slot.000", "slot.001", "slot.002"));
  expect_sound(directory.path());
}

// Counts what this rank removes, by thread: that which is running now, and others.
struct Removals {
  Removals() {
    file::set_observer([this, own = std::this_thread::get_id()](const file::Event& event) {
      if (event.operation != file::Operation::remove) return file::Verdict{};
      const std::string name = event.path.filename().string();
      if (name.starts_with("data."))
        files.insert(name);
      else
        directories.insert(event.path.lexically_normal().string());
      in_calls += std::this_thread::get_id() == own ? 1 : 0;
      return file::Verdict{};
    });
  }
  ~Removals() { file::set_observer({}); }
  Removals(const Removals&) = delete;
  Removals& operator=(const Removals&) = delete;
  std::multiset<std::string> files;
  std::set<std::string> directories;  // each may be tried twice
  std::atomic<int> in_calls = 0;
};

TEST(WriterMpi, old_checkpoints_are_removed_by_the_ranks_that_write_files_each_its_own_behind_end_step) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  for (const Mode mode : {Mode::sync, Mode::background}) {
    const testing::SharedDirectory directory;
    Options options = usual();
    options.mode = mode;
    options.keep_last = 1;
    options.recycle = false;
    Removals removals;
    {
      Writer writer = open(directory, options);
      for (std::int64_t step = 1; step <= 6; ++step) write_files(writer, Flow::checkpoint, step);
      EXPECT_EQ(removals.in_calls, 0);
      writer.close();
    }
    EXPECT_EQ(removals.files.size(), 5U);
    EXPECT_EQ(removals.files.count(store::subfile_name(rank())), 5U);
    EXPECT_EQ(removals.directories.size(), rank() == 0 ? 5U : 0U);
    EXPECT_THAT(names_in(directory.path() / "checkpoint"), ::testing::ElementsAre("000000006"));
    // Those of a run with more files are shared, too.
    testing::barrier();
    options.contributors_per_file = 0;
    {
      Writer writer = open(directory, options);
      write_files(writer, Flow::checkpoint, 7);
      writer.close();
    }
    EXPECT_EQ(removals.files.size(), 5U + (rank() == 0 ? static_cast<unsigned>(size()) : 0U));
    EXPECT_THAT(names_in(directory.path() / "checkpoint"), ::testing::ElementsAre("000000007"));
    testing::barrier();
  }
}

TEST(WriterMpi, each_attempt_at_a_checkpoint_has_a_directory_of_its_own) {
  const testing::SharedDirectory directory;
  Options options = usual();
  options.keep_last = 3;
  options.recycle = false;
  store::StepId from;
  {
    Writer writer = open(directory, options);
    for (std::int64_t step : {20, 40, 60}) {
      write_files(writer, Flow::checkpoint, step);
      writer.wait();
      if (step == 20) from = *writer.newest_durable(Flow::checkpoint);
    }
    writer.close();
  }
  for (int run : {2, 3}) {
    Writer writer = open(directory, options, from);
    write_files(writer, Flow::checkpoint, 40, 7);
    writer.close();
    EXPECT_THAT(steps_in(directory.path(), Flow::checkpoint), ::testing::ElementsAre(20, 40));
    EXPECT_THAT(names_in(directory.path() / "checkpoint"),
                ::testing::ElementsAre("000000020", "000000040." + std::to_string(run)));
    expect_files(directory.path(), Flow::checkpoint, 40, 7);
  }
}

TEST(WriterMpi, a_run_killed_before_its_first_file_leaves_slots_that_the_next_one_uses) {
  const testing::SharedDirectory directory;
  if (rank() == 0) fs::create_directories(directory.path() / "checkpoint" / "slot.000");
  testing::barrier();
  Options options = usual();
  options.keep_last = 1;
  options.recycle = true;
  Writer writer = open(directory, options);
  write_files(writer, Flow::checkpoint, 1);
  writer.close();
  EXPECT_THAT(names_in(directory.path() / "checkpoint"), ::testing::ElementsAre("slot.000"));
  expect_files(directory.path(), Flow::checkpoint, 1);
}

TEST(WriterMpi, options_checkpoint_append_and_analysis_append_say_which_steps_share_files) {
  const testing::SharedDirectory directory;
  Options options = usual();
  set_option(options, "checkpoint.append", "true");
  set_option(options, "analysis.append", "false");
  Writer writer = open(directory, options);
  for (std::int64_t step : {1, 2}) {
    write_files(writer, Flow::checkpoint, step);
    write_files(writer, Flow::analysis, step);
  }
  writer.close();
  EXPECT_THAT(names_in(directory.path() / "analysis" / "000" / "000"),
              ::testing::ElementsAre("000000001", "000000002"));
  EXPECT_EQ(names_in(directory.path() / "checkpoint").size(), static_cast<std::size_t>(size()));
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    for (std::int64_t step : {1, 2}) expect_files(directory.path(), flow, step);
  expect_sound(directory.path());
}

TEST(WriterMpi, option_direct_io_stores_the_same_and_says_where_there_is_none) {
  for (bool refused : {false, true}) {
    const testing::SharedDirectory directory;
    Options options = usual();
    options.direct_io = true;
    options.contributors_per_file = 2;
    std::atomic<bool> asked = false;
    file::set_observer([&](const file::Event& event) {
      if (event.operation != file::Operation::open_direct) return file::Verdict{};
      asked = true;
      return file::Verdict{refused ? EINVAL : 0, 0};
    });
    Writer writer = open(directory, options);
    write_files(writer, Flow::checkpoint, 1);
    write_files(writer, Flow::checkpoint, 2);
    writer.close();
    file::set_observer({});
    EXPECT_TRUE(asked);
    if (refused) {
      EXPECT_EQ(writer.notes().size(), 1u);
    }
    for (std::int64_t step : {1, 2}) expect_files(directory.path(), Flow::checkpoint, step);
    expect_sound(directory.path());
  }
}

// ------------------------------------------------------------------ when they are on disk

struct Syncs {
  Syncs() {
    file::set_observer([this](const file::Event& event) {
      if (event.operation == file::Operation::sync && event.path.filename() != "octavo.json") ++count;
      return file::Verdict{};
    });
  }
  ~Syncs() { file::set_observer({}); }
  Syncs(const Syncs&) = delete;
  Syncs& operator=(const Syncs&) = delete;
  std::atomic<int> count = 0;
};

TEST(WriterMpi, option_alignment_says_where_the_range_of_each_rank_begins) {
  const testing::SharedDirectory directory;
  Options options = usual();
  options.alignment = 4096;
  options.contributors_per_file = 0;
  Writer writer = open(directory, options);
  // The first write behind head and records is this rank's first stream.
  std::atomic<std::uint64_t> first = 0;
  file::set_observer([&](const file::Event& event) {
    if (event.operation == file::Operation::write && event.offset >= 12288 && first == 0) first = event.offset;
    return file::Verdict{};
  });
  write_files(writer, Flow::analysis, 1);
  write_files(writer, Flow::analysis, 2);
  writer.close();
  file::set_observer({});
  EXPECT_GT(first, 0U);
  EXPECT_EQ(first % 4096, 0U);
  for (std::int64_t step : {1, 2}) expect_files(directory.path(), Flow::analysis, step);
  expect_sound(directory.path());
  Options wrong = usual();
  wrong.alignment = 12;
  EXPECT_THAT(testing::message_of([&] { open(directory, wrong); }),
              ::testing::HasSubstr("alignment: expected a multiple of 8"));
}

TEST(WriterMpi, ranks_that_share_a_checkpoint_s_file_share_none_of_its_pages) {
  const testing::SharedDirectory directory;
  Options options = usual();
  options.contributors_per_file = 0;
  Writer writer = open(directory, options);
  for (std::int64_t step : {1, 2}) write_files(writer, Flow::checkpoint, step);
  writer.close();
  for (std::int64_t step : {1, 2}) {
    std::map<int, std::uint64_t> begin;  // of each rank's range
    for (const auto& stream : store::list_streams(directory.path(), Flow::checkpoint, step))
      begin[stream.part] = std::min(begin.emplace(stream.part, stream.offset).first->second, stream.offset);
    ASSERT_EQ(begin.size(), static_cast<std::size_t>(size()));
    for (const auto& [part, offset] : begin)
      if (size() > 1) {
        EXPECT_EQ(offset % 4096, 0U) << "step " << step << ", part " << part;
      }
    expect_files(directory.path(), Flow::checkpoint, step);
  }
  testing::barrier();
}

TEST(WriterMpi, option_sync_policy_says_when_files_are_synced_and_steps_are_durable) {
  for (SyncPolicy policy : {SyncPolicy::step, SyncPolicy::wait, SyncPolicy::none}) {
    SCOPED_TRACE(static_cast<int>(policy));
    const testing::SharedDirectory directory;
    Options options = usual();
    options.mode = Mode::sync;
    options.sync_policy = policy;
    Syncs syncs;
    Writer writer = open(directory, options);
    write_files(writer, Flow::checkpoint, 1);
    write_files(writer, Flow::analysis, 1);
    EXPECT_EQ(syncs.count > 0, policy == SyncPolicy::step);
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint).has_value(), policy != SyncPolicy::wait);
    writer.wait();
    EXPECT_EQ(syncs.count > 0, policy != SyncPolicy::none);
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 1);
    writer.close();
    expect_files(directory.path(), Flow::checkpoint, 1);
    expect_sound(directory.path());
  }
}

TEST(WriterMpi, a_sync_that_fails_in_wait_loses_the_steps_since_the_last_one_on_all_ranks) {
  const testing::SharedDirectory directory;
  Options options = usual();
  options.sync_policy = SyncPolicy::wait;
  Writer writer = open(directory, options);
  write_files(writer, Flow::checkpoint, 1);
  writer.wait();
  write_files(writer, Flow::checkpoint, 2);
  file::set_observer([](const file::Event& event) {
    return file::Verdict{event.operation == file::Operation::sync && rank() == 0 ? EIO : 0, 0};
  });
  EXPECT_THROW(writer.wait(), Error);
  file::set_observer({});
  EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 1);
  write_files(writer, Flow::checkpoint, 3);
  writer.close();
  EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 3);
}

TEST(WriterMpi, a_step_that_failed_on_one_rank_and_was_followed_is_no_damage) {
  const testing::SharedDirectory directory;
  Writer writer = open(directory, usual());
  write_files(writer, Flow::analysis, 1);
  writer.wait();
  file::set_observer([](const file::Event& event) {
    return file::Verdict{event.operation == file::Operation::write && rank() == size() - 1 ? ENOSPC : 0, 0};
  });
  EXPECT_THROW(
      {
        write_files(writer, Flow::analysis, 2);
        writer.wait();
      },
      Error);
  file::set_observer({});
  write_files(writer, Flow::analysis, 3);
  writer.close();
  EXPECT_THAT(steps_in(directory.path(), Flow::analysis), ::testing::ElementsAre(1, 3));
  expect_sound(directory.path());
}

// ------------------------------------------------------------------ what a crash leaves

struct Kept {
  std::int64_t step;
  std::size_t from, until;  // operations done
  std::vector<mesh::Part> parts;
};

// `only_durable`: what was not reported durable may be there and damaged.
void expect_kept(const std::vector<Kept>& all, std::size_t moment, bool only_durable, const fs::path& store,
                 const std::string& what) {
  std::set<std::int64_t> found;
  try {
    for (const store::StepInfo& info : store::list_steps(store)) found.insert(info.step);
  } catch (const Error&) {
  }
  for (const Kept& kept : all) {
    const bool durable = kept.from <= moment && moment <= kept.until;
    if (durable) {
      EXPECT_TRUE(found.count(kept.step) == 1) << what << ": step " << kept.step;
    }
    if (found.erase(kept.step) == 0 || (!durable && only_durable)) continue;
    const auto parts = testing::read_all(store::open_step(store, Flow::checkpoint, kept.step));
    EXPECT_TRUE(testing::same_parts(parts, kept.parts)) << what;
  }
  EXPECT_TRUE(found.empty()) << what << ": a partial step is listed";
}

void crash_at_every_moment(Options options) {
  const testing::SharedDirectory directory, scratch;
  testing::FileLog log;
  std::vector<Kept> kept;
  {
    Writer writer = open(directory, options);
    log.start();
    for (std::int64_t step = 1; step <= 4; ++step) {
      // This step takes the slot of the step before last.
      if (recycles(options) && step > 2) kept[static_cast<std::size_t>(step - 3)].until = log.done.size();
      write_files(writer, Flow::checkpoint, step, 3);
      writer.wait();
      kept.push_back({step, log.done.size(), ~std::size_t{0},
                      testing::read_all(store::open_step(directory.path(), Flow::checkpoint, step))});
    }
    writer.close();
    log.stop();
  }
  testing::Disk disk;
  testing::Random random(7);
  for (std::size_t moment = 0; moment <= log.done.size(); ++moment) {
    if (moment > 0) testing::advance(log.done[moment - 1], disk);
    if (!testing::is_long() && moment % 3 != 0) continue;
    const std::array others{testing::Fate::kept, testing::Fate::torn, testing::Fate::chance};
    for (testing::Fate fate : {testing::Fate::dropped, others[moment % others.size()]}) {
      testing::rebuild(disk, directory.path(), scratch.path() / "s", fate, random);
      expect_kept(kept, moment, options.sync_policy == SyncPolicy::wait, scratch.path() / "s",
                  "after operation " + std::to_string(moment) + ", unsynced " + testing::name_of(fate));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(WriterMpi, what_was_reported_durable_survives_a_crash_at_every_moment) {
  if (size() > 1) GTEST_SKIP() << "one process records what it writes";
  crash_at_every_moment(usual());
  Options options = usual();
  options.recycle = true;
  options.keep_last = 1;
  crash_at_every_moment(options);
  options.sync_policy = SyncPolicy::wait;
  crash_at_every_moment(options);
}

}  // namespace
}  // namespace octavo::engine
