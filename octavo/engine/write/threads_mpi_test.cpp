#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"

// The threads that the library needs and uses. tests/support/one_thread.cpp is linked into this program: every test of
// it ends where MPI or HDF5 is called by a thread of the library, or a thread started with MPI_THREAD_SINGLE.
namespace octavo::engine {
namespace {

using testing::everyone;
using ::testing::HasSubstr;

#ifdef __linux__
// How many cores each thread of this process may run on.
std::map<int, int> cores_of_threads() {
  std::map<int, int> cores;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::stoi(task.path().filename().string());
    cpu_set_t set;
    if (sched_getaffinity(thread, sizeof set, &set) == 0) cores[thread] = CPU_COUNT(&set);
  }
  return cores;
}

// As mpirun does to ranks.
void bind_to_one_core() {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &set)) ++core;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

TEST(ThreadsMpi, option_bound_thread_keeps_it_on_the_core_of_its_rank_and_else_it_has_all) {
  if (testing::single_threaded()) GTEST_SKIP() << "MPI was started for one thread";
  const testing::SharedDirectory directory;
  const testing::Domain domain = testing::make_domain(1, testing::rank(), testing::size());
  cpu_set_t before, launchers;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  ASSERT_EQ(sched_getaffinity(getppid(), sizeof launchers, &launchers), 0);
  CPU_OR(&launchers, &launchers, &before);
  const int granted = CPU_COUNT(&launchers);
  bind_to_one_core();
  Options options;
  options.staging_bytes = 1 << 20;
  for (const bool bound : {true, false}) {
    options.bound_thread = bound;
    const auto others = cores_of_threads();
    Writer writer(everyone(), directory.path() / "store", domain.header, options);
    writer.begin_step(store::Flow::checkpoint, bound ? 1 : 2, 0);
    writer.put_mesh(domain.tree);
    writer.end_step();
    writer.wait();  // the thread has worked, so its cores are final
    const auto with_writer = cores_of_threads();
    EXPECT_EQ(with_writer.size(), others.size() + 1);
    writer.close();
    for (const auto& [thread, cores] : with_writer) {
      if (others.count(thread) != 0) continue;
      EXPECT_EQ(cores, bound ? 1 : granted);
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

#ifndef OCTAVO_SERIAL_MPI_H  // any thread may call that one
TEST(OneThread, a_call_of_mpi_by_another_thread_ends_the_process) {
  const auto call = [] {
    std::thread([] {
      int size = 0;
      MPI_Comm_size(MPI_COMM_WORLD, &size);
    }).join();
  };
  EXPECT_DEATH(call(), "one thread only: MPI_Comm_size was called by another thread");
}
#endif
#endif

void expect_funneled(const std::function<void()>& open) {
  const std::string message = testing::message_of(open);
  if (testing::single_threaded())
    EXPECT_THAT(message, HasSubstr("MPI_Init_thread with MPI_THREAD_FUNNELED"));
  else
    EXPECT_EQ(message, "no error");
}

TEST(ThreadsMpi, what_takes_a_thread_says_so_where_mpi_was_started_for_one) {
  const testing::SharedDirectory directory;
  const testing::Domain domain = testing::make_domain(1, testing::rank(), testing::size());
  Options options;
  options.staging_bytes = 1 << 20;
  for (const Mode mode : {Mode::background, Mode::automatic}) {
    options.mode = mode;
    expect_funneled([&] { Writer(everyone(), directory.path() / "store", domain.header, options).close(); });
  }
  options.mode = Mode::sync;
  EXPECT_EQ(
      testing::message_of([&] { Writer(everyone(), directory.path() / "store", domain.header, options).close(); }),
      "no error");
  options.staging_directory = directory.path() / "local";
  expect_funneled([&] { Writer(everyone(), directory.path() / "store", domain.header, options).close(); });
  expect_funneled([&] { Writer(everyone(), domain.header, AmrexTarget{}).close(); });
}

TEST(ThreadsMpi, a_series_in_the_background_says_so_too) {
  const testing::SharedDirectory directory;
  formats::serafin::SerafinHeader header;
  header.variables = {formats::serafin::variable("DEPTH", "M")};
  SeriesMesh mesh;
  mesh.piece.x = {0, 1, 0};
  mesh.piece.y = {0, 0, 1};
  mesh.piece.connectivity = {0, 1, 2};
  mesh.piece.global_point = {0, 1, 2};
  expect_funneled([&] { Writer(everyone(), {}, SeriesTarget{directory.path() / "a.slf", header, mesh}).close(); });
}

}  // namespace
}  // namespace octavo::engine
