#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "octavo/parallel/mpi_run.hpp"
#include "octavo/parallel/native_writer.hpp"
#include "octavo/parallel/series_writer.hpp"
#include "octavo/parallel/writer.hpp"
#include "tests/support/error_of.hpp"

// What threads the library needs and uses. tests/support/one_thread.cpp is linked into this program: every test of it
// ends where MPI or HDF5 is called by a thread of the library, or a thread started with MPI_THREAD_SINGLE.
namespace octavo::parallel {
namespace {

using testing::everyone;
using ::testing::HasSubstr;

#ifdef __linux__
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
  options.staging_directory = directory.path() / "local";
  expect_funneled([&] { Writer(everyone(), directory.path() / "store", domain.header, options).close(); });
  NativeOptions native;
  native.format = NativeFormat::amrex_plotfile;
  expect_funneled([&] { NativeWriter(everyone(), domain.header, native).close(); });
}

TEST(ThreadsMpi, a_series_in_the_background_says_so_too) {
  const testing::SharedDirectory directory;
  formats::serafin::Header header;
  header.variables = {formats::serafin::variable("DEPTH", "M")};
  SeriesMesh mesh;
  mesh.piece.x = {0, 1, 0};
  mesh.piece.y = {0, 0, 1};
  mesh.piece.connectivity = {0, 1, 2};
  mesh.piece.global_point = {0, 1, 2};
  expect_funneled([&] { SeriesWriter(everyone(), directory.path() / "a.slf", header, mesh).close(); });
}

}  // namespace
}  // namespace octavo::parallel
