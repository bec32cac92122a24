// A program of its own: MPI can be started and ended once in a process.
#include <gmock/gmock.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "capi/test_arrays.hpp"

namespace {

using ::testing::HasSubstr;

struct Call {
  const char* name;
  std::function<int(octavo_error*)> call;
};

// Calls every function that opens a writer or takes a communicator; each must refuse for this reason.
void expect_nothing_opens(const std::string& store, const char* reason) {
  using E = octavo_error*;
  const octavo_domain domain = octavo_domain_default();
  octavo_triangles mesh = octavo_triangles_default();
  octavo_writer* writer = nullptr;
  octavo_restart* restart = nullptr;
  octavo_neighbours neighbours = octavo_neighbours_default();
  const char* at = store.c_str();
  const auto open = [&](octavo_kind kind, E e) {
    octavo_target target = octavo_target_default(kind);
    target.path = at;
    target.mesh = &mesh;
    return octavo_writer_open(MPI_COMM_WORLD, &target, &domain, &writer, e);
  };
  const Call calls[] = {
      {"store", [&](E e) { return open(OCTAVO_STORE, e); }},
      {"FLASH", [&](E e) { return open(OCTAVO_FLASH, e); }},
      {"SERAFIN", [&](E e) { return open(OCTAVO_SERAFIN, e); }},
      {"restart_open", [&](E e) { return octavo_restart_open(MPI_COMM_WORLD, at, nullptr, &restart, e); }},
      {"restart_get_neighbours",
       [&](E e) { return octavo_restart_get_neighbours(MPI_COMM_WORLD, nullptr, &neighbours, e); }},
      {"restart_write", [&](E e) { return octavo_restart_write(MPI_COMM_WORLD, at, nullptr, "ramses", at, e); }},
      {"restart_failed", [&](E e) { return octavo_restart_failed(MPI_COMM_WORLD, at, nullptr, e); }},
  };
  for (const Call& call : calls) {
    octavo_error error{};
    EXPECT_EQ(call.call(&error), OCTAVO_USAGE) << call.name;
    EXPECT_THAT(error.message, HasSubstr(reason)) << call.name;
  }
}

octavo_writer* open_writer(const octavo_target& target) {
  const octavo_domain domain = octavo_domain_default();
  octavo_writer* writer = nullptr;
  octavo_error error{};
  EXPECT_EQ(octavo_writer_open(MPI_COMM_WORLD, &target, &domain, &writer, &error), 0) << error.message;
  return writer;
}

octavo_writer* open_store(const std::string& store) {
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = store.c_str();
  return open_writer(target);
}

// One root, which rank 0 owns.
void put_step(octavo_writer* writer, std::int64_t step, int rank) {
  const std::int64_t cells[1] = {1};
  const std::uint8_t refined[1] = {0}, owned[1] = {rank == 0 ? std::uint8_t{1} : std::uint8_t{0}};
  const double value[1] = {static_cast<double>(step)};
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, step, 0, nullptr), 0);
  octavo::testing::put_tree(writer, 1, cells, refined, owned, nullptr);
  octavo::testing::put_packed(writer, "density", OCTAVO_FLOAT64, value, 1, nullptr);
}

// A triangle, the same on all ranks.
octavo_writer* open_series(const std::string& path) {
  static const double x[3] = {0, 1, 0}, y[3] = {0, 0, 1};
  static const std::int64_t triangle[3] = {0, 1, 2};
  octavo_triangles mesh = octavo_triangles_default();
  mesh.points = 3;
  mesh.triangles = 1;
  mesh.x = x, mesh.y = y, mesh.connectivity = triangle, mesh.global_point = triangle;
  const char* const variables[1][2] = {{"DEPTH", "M"}};
  octavo_target target = octavo_target_default(OCTAVO_SERAFIN);
  target.path = path.c_str();
  target.mesh = &mesh;
  target.variables = variables;
  target.num_variables = 1;
  return open_writer(target);
}

TEST(CapiFinalizedMpi, misuse_before_mpi_init_and_after_mpi_finalize_is_a_code) {
  expect_nothing_opens("nowhere.octavo", "MPI has not been initialised");
  int provided = 0, rank = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[4096] = {};
  if (rank == 0) {
    std::string made = (std::filesystem::path(::testing::TempDir()) / "octavo_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    made.copy(name, sizeof name - 1);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string directory = name, store = directory + "/run.octavo";
  octavo_writer *left_open = open_store(store), *in_step = open_store(directory + "/other.octavo");
  put_step(left_open, 1, rank);
  EXPECT_EQ(octavo_writer_end_step(left_open, nullptr), 0);
  EXPECT_EQ(octavo_writer_wait(left_open, nullptr), 0);
  put_step(in_step, 1, rank);
  octavo_writer* native = open_writer(octavo_target_default(OCTAVO_AMREX_PLOTFILE));
  octavo_writer* series = open_series(directory + "/r2d.slf");
  MPI_Finalize();

  expect_nothing_opens(store, "MPI has been finalised");
  using E = octavo_error*;
  int number = 0;
  char text[2048];
  const Call calls[] = {
      {"writer_end_step", [&](E e) { return octavo_writer_end_step(in_step, e); }},
      {"writer_due", [&](E e) { return octavo_writer_due(left_open, OCTAVO_CHECKPOINT, 2, 0, &number, e); }},
      {"writer_wait", [&](E e) { return octavo_writer_wait(left_open, e); }},
      {"writer_statistics", [&](E e) { return octavo_writer_get_statistics(left_open, text, sizeof text, e); }},
      {"writer_close", [&](E e) { return octavo_writer_close(&left_open, e); }},
      {"writer_close, in a step", [&](E e) { return octavo_writer_close(&in_step, e); }},
      {"native_end_step", [&](E e) { return octavo_writer_end_step(native, e); }},
      {"native_finished", [&](E e) { return octavo_writer_finished(native, &number, e); }},
      {"native_close", [&](E e) { return octavo_writer_close(&native, e); }},
      {"series_end_step", [&](E e) { return octavo_writer_end_step(series, e); }},
      {"series_finished", [&](E e) { return octavo_writer_finished(series, &number, e); }},
      {"series statistics", [&](E e) { return octavo_writer_get_statistics(series, text, sizeof text, e); }},
      {"series_close", [&](E e) { return octavo_writer_close(&series, e); }},
  };
  for (const Call& call : calls) {
    octavo_error error{};
    EXPECT_EQ(call.call(&error), OCTAVO_USAGE) << call.name;
    EXPECT_THAT(error.message, HasSubstr("MPI has been finalised")) << call.name;
  }
  EXPECT_EQ(left_open, nullptr);
  EXPECT_EQ(native, nullptr);
  EXPECT_EQ(series, nullptr);
  // Functions that are not collective still work. They find the step that the program waited for.
  std::int64_t steps = 0;
  EXPECT_EQ(octavo_list_steps(store.c_str(), OCTAVO_CHECKPOINT, 0, nullptr, nullptr, &steps, nullptr), 0);
  EXPECT_EQ(steps, 1);
}

}  // namespace
