#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/engine/own_file.hpp"
#include "octavo/engine/step/group.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/ranks.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/store_fixture.hpp"

// Ranks that share a file with a process that dies, or that is slow.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;
using testing::everyone;
using ::testing::HasSubstr;
using testing::rank;
using testing::size;

store::SegmentPlan plan_in(const fs::path& store) {
  store::SegmentPlan plan = testing::plan_of(1, 1);
  plan.store = store;
  return plan;
}

std::string write_part(Group& group, const store::SegmentPlan& plan) {
  testing::StepOptions options;
  options.parts = static_cast<std::size_t>(size());
  const testing::Step step = testing::random_step(1, options);
  try {
    group.write_segment(plan, step.header, [&] {
      return std::optional(store::encode(step.parts[static_cast<std::size_t>(rank())], step.header, {}));
    });
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

// This rank writes its part in a process of its own that is killed -9 before its n-th write, or after all: MPI ends a
// whole run with one of its processes, and this is about what the others do until then.
void write_and_be_killed(Group& group, const store::SegmentPlan& plan, int nth) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int writes = 0;
    file::set_observer([&](const file::Event& event) {
      if (event.operation == file::Operation::write && writes++ == nth) kill(getpid(), SIGKILL);
      return file::Verdict{};
    });
    write_part(group, plan);
    kill(getpid(), SIGKILL);
  }
  group = Group();  // the sockets are the other process's alone
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(GroupMpi, a_rank_killed_before_or_in_its_writing_is_named_to_all_who_share_its_file) {
  if (size() == 1) GTEST_SKIP() << "one rank shares with nobody";
  for (int victim : {0, size() - 1})
    for (int nth : {0, 1}) {
      SCOPED_TRACE("rank " + std::to_string(victim) + " at write " + std::to_string(nth));
      const testing::SharedDirectory directory;
      const auto plan = plan_in(directory.path());
      std::string message;
      {
        Group group = Group::join(everyone(), 10 + rank());
        if (rank() == victim) {
          write_and_be_killed(group, plan, nth);
        } else {
          message = write_part(group, plan);
          EXPECT_THAT(message, HasSubstr("rank " + std::to_string(10 + victim) + " has ended"));
        }
      }
      MPI_Barrier(everyone());
      std::vector<store::StepInfo> steps;
      try {
        steps = store::list_steps(directory.path());
      } catch (const base::Error&) {
      }
      EXPECT_TRUE(steps.empty());
      MPI_Barrier(everyone());
    }
}

TEST(WriterMpi, a_store_has_one_writer_at_a_time) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = Mode::sync;
  const auto header = testing::make_domain(1, 0, 1).header;
  const auto open = [&] { Writer(everyone(), directory.path() / "run.octavo", header, options).close(); };
  Writer writer(everyone(), directory.path() / "run.octavo", header, options);
  std::string message;
  try {
    open();
  } catch (const base::Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("another writer has this store open"));
  writer.close();
  open();
  { const Writer not_closed(everyone(), directory.path() / "run.octavo", header, options); }
  MPI_Barrier(everyone());
  open();
}

// ------------------------------------------------------------------ ranks that drift apart

// Holds this rank's files back until the run has gone as far ahead as it may.
TEST(WriterMpi, option_steps_in_flight_bounds_how_far_a_run_goes_ahead_of_its_files) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  constexpr std::int64_t last = 30, most = 3;
  const testing::SharedDirectory directory;
  std::atomic<std::int64_t> handed_over = 0, furthest = 0;
  file::set_observer([&](const file::Event& event) {
    if (rank() != 0 || event.operation != file::Operation::create || event.path.filename() != "data.000")
      return file::Verdict{};
    const std::int64_t step = std::stoll(event.path.parent_path().filename().string());
    while (handed_over < std::min(last, step + most - 1)) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // it may go on here, and must not
    furthest = std::max<std::int64_t>(furthest, handed_over - step + 1);
    return file::Verdict{};
  });
  Options options;
  options.steps_in_flight = most;
  options.staging_bytes = 32 << 20;
  {
    const testing::Domain domain = testing::make_domain(1, rank(), size());
    Writer writer(everyone(), directory.path(), domain.header, options);
    for (std::int64_t step = 1; step <= last; ++step) {
      writer.begin_step(Flow::checkpoint, step, 0);
      writer.put_mesh(domain.tree);
      writer.put_field("density", view_of(domain.density));
      writer.end_step();
      handed_over = step;
    }
    writer.close();
  }
  file::set_observer({});
  if (rank() == 0) {
    EXPECT_EQ(furthest, most);
  }
}

// A rank's place in the plan, found without a list of ranks, is that of the plan for all.
TEST(GroupMpi, own_files_are_those_of_the_plan_for_all_ranks) {
  for (const int ranks_per_node : {0, 1, 2, 3})
    for (const WritePlanOptions& options :
         {WritePlanOptions{1, 0}, WritePlanOptions{0, 0}, WritePlanOptions{2, 0}, WritePlanOptions{1, 1}}) {
      const WritePlan plan = plan_write(ranks::hosts_of_ranks(everyone(), ranks_per_node), {}, options);
      const ranks::OwnComm host = ranks::ranks_of_host(everyone(), ranks_per_node);
      const OwnFile own = own_file(everyone(), host.get(), options);
      EXPECT_EQ(own.file, plan.file_of_rank[static_cast<std::size_t>(rank())]);
      EXPECT_EQ(own.files, static_cast<int>(plan.files.size()));
      EXPECT_EQ(own.count, plan.files[static_cast<std::size_t>(own.file)].count);
    }
}

}  // namespace
}  // namespace octavo::engine
