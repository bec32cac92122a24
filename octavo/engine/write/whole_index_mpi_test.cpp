#include <gmock/gmock.h>

#include <fstream>

#include "octavo/engine/write/whole_index.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/store/read/index.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/store_fixture.hpp"

// The index of a flow is there whatever was done to the store: steps removed, slots used again, a killed writer.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;
using testing::barrier;
using testing::everyone;
using testing::make_domain;
using testing::rank;
using testing::size;

constexpr int many_steps = 40, many_files = 25;

// Steps 1 to 40 of 25 files each, marked, and without an index.
void make_many(const fs::path& path) {
  if (rank() == 0) {
    const auto step = testing::random_step(1, {.cells = 20});
    for (int i = 1; i <= many_steps; ++i) {
      store::SegmentPlan plan = testing::plan_of(i, static_cast<unsigned>(i), many_files);
      plan.flow = Flow::checkpoint;
      plan.sync = false;
      plan.order_before = static_cast<std::uint64_t>(i - 1);
      testing::write_step(step, path, plan);
    }
    store::DurableMark mark;
    for (int i = 1; i <= many_steps; ++i) store::add(mark, static_cast<std::uint64_t>(i), i);
    store::write_mark(path, Flow::checkpoint, mark, false);
  }
  barrier();
}

std::int64_t reads_of(const std::function<void()>& work) {
  std::int64_t reads = 0;
  file::set_observer([&](const file::Event& event) {
    reads += event.operation == file::Operation::read ? 1 : 0;
    return file::Verdict{};
  });
  work();
  file::set_observer({});
  return reads;
}

std::vector<std::int64_t> steps_of(const fs::path& path) {
  std::vector<std::int64_t> steps;
  for (const store::StepInfo& info : store::list_steps(path)) steps.push_back(info.step);
  return steps;
}

// The steps with their sums, by the index and without it.
void expect_the_truth(const fs::path& path) {
  const auto by_index = store::list_steps(path);
  const store::Index index = store::read_index(path, Flow::checkpoint);
  EXPECT_TRUE(index.is_whole);
  fs::rename(store::index_path(path, Flow::checkpoint), path / "aside");
  const auto by_files = store::list_steps(path);
  fs::rename(path / "aside", store::index_path(path, Flow::checkpoint));
  ASSERT_EQ(by_index.size(), by_files.size());
  for (std::size_t i = 0; i < by_index.size(); ++i) {
    EXPECT_EQ(by_index[i].step, by_files[i].step);
    EXPECT_EQ(by_index[i].parts, by_files[i].parts);
    EXPECT_EQ(by_index[i].bytes, by_files[i].bytes);
  }
}

Options with_keep_last(int keep, bool recycle) {
  Options options;
  options.mode = Mode::sync;
  options.keep_last = keep;
  options.recycle = recycle;
  return options;
}

void write_small(Writer& writer, std::int64_t step) {
  const testing::Domain domain = make_domain(1, rank(), size(), step);
  writer.begin_step(Flow::checkpoint, step, 0.5);
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density));
  writer.end_step();
}

// Appended analysis steps, and two checkpoints of as many files, which marks and indexes list.
void make_old(const fs::path& path, int steps, int files) {
  if (rank() == 0) {
    const auto step = testing::random_step(1, {.cells = 20});
    for (Flow flow : {Flow::analysis, Flow::checkpoint}) {
      store::DurableMark mark;
      for (int i = 1; i <= (flow == Flow::analysis ? steps : 2); ++i) {
        store::SegmentPlan plan = testing::plan_of(i, static_cast<unsigned>(i), files);
        plan.flow = flow;
        plan.sync = false;
        plan.order_before = static_cast<std::uint64_t>(i - 1);
        testing::write_step(step, path, plan);
        store::add(mark, static_cast<std::uint64_t>(i), i);
      }
      store::write_mark(path, flow, mark, false);
    }
    store::rebuild_indexes(path);
  }
  barrier();
}

TEST(WriterMpi, a_writer_with_keep_last_is_opened_with_as_many_reads_and_opens_beside_many_steps_of_many_files) {
  if ((size() == 2 || size() == 3) && !testing::is_long()) GTEST_SKIP() << "long";
  // The larger store is made once, by the test on one rank.
  const int steps = size() == 1 ? 200 : 20, files = size() == 1 ? 100 : 10;
  std::vector<std::int64_t> reads, opens;
  for (const auto& [old_steps, old_files] : {std::pair(1, 1), std::pair(steps, files)}) {
    const testing::SharedDirectory directory;
    const fs::path path = directory.path() / "s";
    make_old(path, old_steps, old_files);
    std::int64_t opened = 0;
    reads.push_back(0);
    file::set_observer([&](const file::Event& event) {
      reads.back() += event.operation == file::Operation::read ? 1 : 0;
      opened += event.operation == file::Operation::open ? 1 : 0;
      return file::Verdict{};
    });
    {
      Options options = with_keep_last(2, true);
      const Writer writer(everyone(), path, make_domain(1, 0, 1).header, options);
      file::set_observer({});
    }
    opens.push_back(opened);
    barrier();
  }
  EXPECT_EQ(reads[0], reads[1]);
  EXPECT_EQ(opens[0], opens[1]);
}

// Checkpoints 1 to `steps` of one file each, which the mark and the index list.
void make_checkpoints(const fs::path& path, int steps) {
  store::DurableMark mark;
  const auto step = testing::random_step(1, {.cells = 20});
  for (int i = 1; i <= steps; ++i) {
    store::SegmentPlan plan = testing::plan_of(i, static_cast<unsigned>(i));
    plan.flow = Flow::checkpoint;
    plan.sync = false;
    plan.order_before = static_cast<std::uint64_t>(i - 1);
    testing::write_step(step, path, plan);
    store::add(mark, static_cast<std::uint64_t>(i), i);
  }
  store::write_mark(path, Flow::checkpoint, mark, false);
  store::rebuild_indexes(path);
}

// Writes step 1000 by a new writer. Returns the files that its first step opened, of this rank.
std::int64_t opens_of_first_step(const fs::path& path) {
  std::int64_t opens = 0;
  Options options;
  options.mode = Mode::sync;
  Writer writer(everyone(), path, make_domain(1, 0, 1).header, options);
  file::set_observer([&](const file::Event& event) {
    opens += event.operation == file::Operation::open ? 1 : 0;
    return file::Verdict{};
  });
  write_small(writer, 1000);
  file::set_observer({});
  writer.close();
  return opens;
}

std::uint64_t order_of(const fs::path& path, std::int64_t step) {
  const store::Scan scan = store::scan_store(path);
  EXPECT_TRUE(scan.damage.empty());
  const auto found = std::ranges::find(scan.steps, step, &store::StepFound::step);
  return found == scan.steps.end() ? 0 : found->order;
}

TEST(WriterMpi, the_first_step_of_a_writer_follows_all_old_ones_and_opens_no_more_files_beside_many) {
  std::vector<std::int64_t> opens;
  for (const int old_steps : {1, 30}) {
    const testing::SharedDirectory directory;
    const fs::path path = directory.path() / "s";
    {
      Options options;
      options.mode = Mode::sync;
      Writer old(everyone(), path, make_domain(1, 0, 1).header, options);
      for (int step = 1; step <= old_steps; ++step) write_small(old, step);
      old.close();
    }
    opens.push_back(opens_of_first_step(path));
    barrier();
    EXPECT_EQ(order_of(path, 1000), static_cast<std::uint64_t>(old_steps + 1));
    barrier();
  }
  EXPECT_EQ(opens[0], opens[1]);
}

// The last run was killed when it had committed one more step, which neither the mark nor the index lists.
TEST(WriterMpi, the_first_step_of_a_writer_follows_one_that_only_its_file_knows) {
  for (const std::string kind : {"a new directory", "an old directory", "a slot"}) {
    SCOPED_TRACE(kind);
    const testing::SharedDirectory directory;
    const fs::path path = directory.path() / "s";
    if (rank() == 0) {
      make_checkpoints(path, 4);
      store::SegmentPlan plan = testing::plan_of(kind == "an old directory" ? 2 : 5, 77);
      plan.flow = Flow::checkpoint;
      plan.sync = false;
      plan.after_order = 4;
      if (kind == "a slot") plan.directory = "checkpoint/slot.000";
      testing::write_step(testing::random_step(5, {.cells = 20}), path, plan);
    }
    barrier();
    opens_of_first_step(path);
    barrier();
    EXPECT_EQ(order_of(path, 1000), 6U);
    barrier();
  }
}

TEST(WriterMpi, an_index_that_is_missing_is_made_when_a_writer_is_opened_and_the_ranks_share_the_footers) {
  const testing::SharedDirectory directory;
  const fs::path path = directory.path() / "s";
  make_many(path);
  const std::int64_t reads = reads_of([&] { complete_indexes(everyone(), path); });
  barrier();
  // Two reads a file of this rank's share, and rank 0 one a step more.
  EXPECT_LE(reads, many_steps * (2 * (many_files / size() + 1) + (rank() == 0 ? 3 : 0)));
  if (rank() == 0) {
    EXPECT_EQ(store::read_index(path, Flow::checkpoint).steps,
              store::index_of(store::scan_store(path), Flow::checkpoint));
    EXPECT_LT(reads_of([&] { EXPECT_EQ(steps_of(path).size(), std::size_t{many_steps}); }), 3 * many_steps / 2);
  }
  barrier();
  // Nothing is missing now: two marks and two indexes are read.
  EXPECT_LE(reads_of([&] { complete_indexes(everyone(), path); }), rank() == 0 ? 4 : 0);
  if (rank() == 0) {
    // A writer that was killed between mark and line, and one that was killed in the middle of a line.
    auto lines = store::read_index(path, Flow::checkpoint).steps;
    lines.pop_back();
    store::write_index(path, Flow::checkpoint, lines);
    std::ofstream(store::index_path(path, Flow::checkpoint), std::ios::app) << "step 7 ord";
  }
  barrier();
  complete_indexes(everyone(), path);
  if (rank() == 0) {
    EXPECT_EQ(store::read_index(path, Flow::checkpoint).steps.size(), std::size_t{many_steps});
    expect_the_truth(path);
  }
  barrier();
}

TEST(WriterMpi, a_step_that_lost_a_file_gets_no_line) {
  const testing::SharedDirectory directory;
  const fs::path path = directory.path() / "s";
  make_many(path);
  if (rank() == 0) std::ofstream(store::directory_of(path, Flow::checkpoint, 3) / "data.007") << "no subfile";
  barrier();
  complete_indexes(everyone(), path);
  if (rank() == 0) {
    EXPECT_EQ(store::read_index(path, Flow::checkpoint).steps.size(), std::size_t{many_steps - 1});
  }
  barrier();
}

TEST(WriterMpi, keep_last_takes_lines_out_of_the_index_and_the_steps_left_are_listed_in_few_reads) {
  const testing::SharedDirectory directory;
  const fs::path path = directory.path() / "s";
  make_many(path);
  constexpr int kept = 30;
  {
    Writer writer(everyone(), path, make_domain(1, 0, 1).header, with_keep_last(kept, false));
    write_small(writer, many_steps + 1);
    writer.close();
  }
  barrier();
  if (rank() == 0) {
    EXPECT_LT(reads_of([&] { EXPECT_EQ(steps_of(path).size(), std::size_t{kept}); }), 3 * kept / 2);
    EXPECT_GE(store::read_index(path, Flow::checkpoint).steps.size(), std::size_t{kept});
    expect_the_truth(path);
  }
  barrier();
}

TEST(WriterMpi, the_index_of_slots_that_are_used_again_stays_small_and_true) {
  const testing::SharedDirectory directory;
  const fs::path path = directory.path() / "s";
  constexpr int kept = 3, steps = 30;
  for (const bool recycle : {true, false}) {
    {
      Writer writer(everyone(), path, make_domain(1, 0, 1).header, with_keep_last(kept, recycle));
      for (std::int64_t step = 1; step <= steps; ++step) {
        write_small(writer, step + (recycle ? 0 : steps));
        if (rank() == 0) {
          EXPECT_LE(store::read_index(path, Flow::checkpoint).steps.size(), std::size_t{2 * kept + 9});
        }
      }
      writer.close();
    }
    barrier();
    if (rank() == 0) {
      EXPECT_TRUE(store::read_index(path, Flow::checkpoint).is_whole);
      expect_the_truth(path);
    }
    barrier();
  }
}

}  // namespace
}  // namespace octavo::engine
