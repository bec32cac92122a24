#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "capi/left_binding.hpp"
#include "capi/octavo.h"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/med/med.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/write_triangles.hpp"

namespace {

using octavo::testing::everyone;
using ::testing::HasSubstr;

int rank() { return octavo::ranks::rank_in(everyone()); }
int size() { return octavo::ranks::size_of(everyone()); }

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A mesh of which rank r holds the triangles r, r + size ..., and all points.
struct Piece {
  octavo::testing::SerafinFixture fixture;
  std::vector<std::int64_t> nodes, numbers;
  octavo_series_mesh mesh{};
};

Piece make_piece() {
  Piece piece;
  piece.fixture.mesh = octavo::testing::random_triangles(5, 12, 13);
  piece.fixture.doubles = true;
  const auto& whole = piece.fixture.mesh.connectivity;
  for (std::size_t e = static_cast<std::size_t>(rank()); 3 * e < whole.size(); e += static_cast<std::size_t>(size())) {
    piece.numbers.push_back(static_cast<std::int64_t>(e));
    for (std::size_t k = 0; k < 3; ++k) piece.nodes.push_back(whole[3 * e + k]);
  }
  return piece;
}

octavo_series_mesh mesh_of(const Piece& piece) {
  octavo_series_mesh mesh{};
  mesh.points = static_cast<std::int64_t>(piece.fixture.mesh.x.size());
  mesh.triangles = static_cast<std::int64_t>(piece.numbers.size());
  mesh.planes = 1;
  mesh.x = piece.fixture.mesh.x.data();
  mesh.y = piece.fixture.mesh.y.data();
  mesh.connectivity = piece.nodes.data();
  mesh.global_element = piece.numbers.data();
  return mesh;
}

TEST(CapiSeriesMpi, triangles_in_a_store_come_back_by_number_on_any_rank) {
  const octavo::testing::SharedDirectory directory;
  const Piece piece = make_piece();
  const octavo_series_mesh mesh = mesh_of(piece);
  const std::string path = directory.path() / "run.octavo";
  octavo_error error{};
  octavo_domain domain = octavo_domain_default();
  domain.dim = 2;
  octavo_writer* writer = nullptr;
  ASSERT_EQ(octavo_writer_open(everyone(), path.c_str(), &domain, nullptr, nullptr, &writer, &error), 0);
  ASSERT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 7, 2.5, &error), 0);
  ASSERT_EQ(octavo_writer_put_triangles(writer, &mesh, &error), 0);
  std::vector<double> depth(piece.fixture.mesh.x.size());
  for (std::size_t i = 0; i < depth.size(); ++i) depth[i] = 3.0 * static_cast<double>(i);
  const auto count = static_cast<std::int64_t>(depth.size());
  ASSERT_EQ(octavo_writer_put_field(writer, "depth", "m", OCTAVO_FLOAT64, depth.data(), count, 0, OCTAVO_HOST, &error),
            0);
  ASSERT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  ASSERT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;

  octavo_restart* restart = nullptr;
  ASSERT_EQ(octavo_restart_open(everyone(), path.c_str(), OCTAVO_CHECKPOINT, -1, &restart, &error), 0);
  std::int64_t points = 0, triangles = 0;
  int planes = 0;
  ASSERT_EQ(octavo_restart_triangle_counts(restart, &points, &triangles, &planes, &error), 0);
  EXPECT_EQ(octavo_restart_values(restart), points * planes);
  EXPECT_EQ(octavo_restart_levels(restart), 0);
  std::vector<std::int64_t> number(static_cast<std::size_t>(points)), nodes(static_cast<std::size_t>(3 * triangles));
  std::vector<double> x(number.size()), values(number.size());
  ASSERT_EQ(octavo_restart_triangles(restart, x.data(), nullptr, nodes.data(), number.data(), nullptr, &error), 0);
  ASSERT_EQ(octavo_restart_field(restart, "depth", OCTAVO_FLOAT64, values.data(), points, &error), 0);
  for (std::size_t i = 0; i < number.size(); ++i) {
    EXPECT_EQ(x[i], piece.fixture.mesh.x[static_cast<std::size_t>(number[i])]);
    EXPECT_EQ(values[i], 3.0 * static_cast<double>(number[i]));
  }
  std::int64_t all = triangles;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, everyone());
  EXPECT_EQ(static_cast<std::size_t>(3 * all), piece.fixture.mesh.connectivity.size());

  std::vector<std::int64_t> holders(depth.size(), 0);
  for (const std::int64_t point : number) ++holders[static_cast<std::size_t>(point)];
  MPI_Allreduce(MPI_IN_PLACE, holders.data(), static_cast<int>(holders.size()), MPI_INT64_T, MPI_SUM, everyone());
  octavo_neighbours around{};
  ASSERT_EQ(octavo_restart_neighbours(everyone(), restart, &around, &error), 0) << error.message;
  for (std::int64_t i = 0; i < around.shared; ++i)
    EXPECT_EQ(holders[static_cast<std::size_t>(number[static_cast<std::size_t>(around.shared_point[i])])],
              1 + around.first[i + 1] - around.first[i]);
  EXPECT_EQ(std::count_if(number.begin(), number.end(),
                          [&](std::int64_t point) { return holders[static_cast<std::size_t>(point)] > 1; }),
            around.shared);
  EXPECT_EQ(around.boundary, 0);  // the store has none
  octavo_neighbours_free(&around);
  EXPECT_EQ(around.owner, nullptr);
  octavo_restart_free(&restart);

  const std::int64_t wanted[] = {count - 1, 4};
  octavo_restart_options options = octavo_restart_options_default();
  options.points = wanted;
  options.num_points = 2;
  ASSERT_EQ(octavo_restart_open_as(everyone(), path.c_str(), &options, &restart, &error), 0);
  ASSERT_EQ(octavo_restart_field(restart, "depth", OCTAVO_FLOAT64, values.data(), 2, &error), 0) << error.message;
  EXPECT_EQ(values[0], 3.0 * static_cast<double>(count - 1));
  EXPECT_EQ(values[1], 12.0);
  octavo_restart_free(&restart);
}

constexpr const char* names[] = {"VARIABLE 0", "VARIABLE 1"};
constexpr const char* units[] = {"M", "M"};

octavo_series_options options_for(const std::string& title) {
  octavo_series_options options = octavo_series_options_default();
  options.double_precision = 1;
  options.title = title.c_str();
  options.background = octavo::testing::single_threaded() ? 0 : 1;
  options.sync = 0;
  options.writers = 2;
  options.alignment = 64;
  return options;
}

// One value and something else in turn.
int put_strided(octavo_series* series, int step, int variable, std::int64_t count, octavo_error* error) {
  std::vector<double> pairs(2 * static_cast<std::size_t>(count), -1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    pairs[2 * i] = octavo::testing::serafin_value(step, variable, i);
  return octavo_series_put(series, names[variable], OCTAVO_FLOAT64, pairs.data(), count, 2, OCTAVO_HOST, error);
}

/// Three runs, of which each goes on behind the one before with a step.
void run_thrice(const std::string& path, const octavo_series_mesh& mesh) {
  const std::string title = "A MESH MADE BY HAND";
  for (int step = 0; step < 3; ++step) {
    octavo_series_options options = options_for(title);
    options.resume = step > 0 ? 1 : 0;
    octavo_series* series = nullptr;
    octavo_error error{};
    ASSERT_EQ(octavo_series_open(everyone(), path.c_str(), 2, names, units, &mesh, &options, &series, &error), 0)
        << error.message;
    std::int64_t steps = -1;
    EXPECT_EQ(octavo_series_steps(series, &steps, &error), 0);
    EXPECT_EQ(steps, step);
    EXPECT_EQ(octavo_series_begin_step(series, 1.5 * step, &error), 0);
    for (int v = 0; v < 2; ++v) EXPECT_EQ(put_strided(series, step, v, mesh.points, &error), 0) << error.message;
    EXPECT_EQ(octavo_series_end_step(series, &error), 0) << error.message;
    EXPECT_EQ(octavo_series_wait(series, &error), 0);
    int all = 0;
    EXPECT_EQ(octavo_series_finished(series, &all, &error), 0);
    EXPECT_EQ(all, 1);
    EXPECT_EQ(octavo_series_close(&series, &error), 0) << error.message;
    EXPECT_EQ(series, nullptr);
  }
}

TEST(CapiSeriesMpi, the_file_is_the_serial_one_and_a_second_run_goes_on) {
  const octavo::testing::SharedDirectory directory;
  Piece piece = make_piece();
  piece.fixture.tag = "SERAFIND";
  run_thrice(directory.path() / "r2d.slf", mesh_of(piece));
  EXPECT_TRUE(bytes_of(directory.path() / "r2d.slf") == octavo::testing::serafin_bytes(piece.fixture));
}

TEST(CapiSeriesMpi, a_name_that_ends_in_med_makes_a_med_file_of_the_same) {
  if (!octavo::formats::med::available() || !octavo::file::hdf5::available())
    GTEST_SKIP() << "no MED or HDF5 in this build";
  const octavo::testing::SharedDirectory directory;
  Piece piece = make_piece();
  piece.fixture.tag = "SERAFIND";
  run_thrice(directory.path() / "r2d.med", mesh_of(piece));
  if (rank() == 0) octavo::testing::to_serafin(directory.path() / "r2d.med", directory.path() / "back.slf", {});
  MPI_Barrier(everyone());
  EXPECT_TRUE(bytes_of(directory.path() / "back.slf") == octavo::testing::serafin_bytes(piece.fixture));
}

TEST(CapiSeriesMpi, options_bound_thread_and_ranks_per_node_say_where_the_threads_are) {
  if (octavo::testing::single_threaded()) GTEST_SKIP() << "MPI was started for one thread";
  const octavo::testing::SharedDirectory directory;
  const Piece piece = make_piece();
  const octavo_series_mesh mesh = mesh_of(piece);
  for (const int bound : {0, 1})
    for (const int ranks_per_node : {0, 1}) {  // one host, whose first rank writes; a host a rank, where each does
      octavo_series_options options = options_for("");
      options.writers = 0;
      options.alignment = 1;
      options.bound_thread = bound;
      options.ranks_per_node = ranks_per_node;
      const std::string path = directory.path() / (std::to_string(2 * bound + ranks_per_node) + ".slf");
      const int before = octavo::testing::left_binding;
      octavo_series* series = nullptr;
      octavo_error error{};
      ASSERT_EQ(octavo_series_open(everyone(), path.c_str(), 2, names, units, &mesh, &options, &series, &error), 0);
      octavo_series_begin_step(series, 0, &error);
      for (int v = 0; v < 2; ++v) put_strided(series, 0, v, mesh.points, &error);
      EXPECT_EQ(octavo_series_end_step(series, &error), 0) << error.message;
      EXPECT_EQ(octavo_series_close(&series, &error), 0) << error.message;
      const bool writes = rank() == 0 || ranks_per_node == 1;
      EXPECT_EQ(octavo::testing::left_binding - before, bound == 0 && writes ? 1 : 0);
    }
}

TEST(CapiSeriesMpi, what_is_wrong_on_one_rank_is_returned_on_all) {
  const octavo::testing::SharedDirectory directory;
  const std::string path = directory.path() / "r2d.slf";
  const Piece piece = make_piece();
  const octavo_series_mesh mesh = mesh_of(piece);
  const octavo_series_options options = options_for("");
  octavo_series* series = nullptr;
  octavo_error error{};
  EXPECT_EQ(octavo_series_open(everyone(), path.c_str(), 2, names, units, rank() == 0 ? nullptr : &mesh, &options,
                               &series, &error),
            OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("mesh is NULL"));
  EXPECT_EQ(series, nullptr);
  ASSERT_EQ(octavo_series_open(everyone(), path.c_str(), 2, names, units, &mesh, &options, &series, &error), 0);
  octavo_series_begin_step(series, 0, &error);
  for (int v = 0; v < 2; ++v) put_strided(series, 0, v, rank() == size() - 1 ? 3 : mesh.points, &error);
  EXPECT_EQ(octavo_series_end_step(series, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("values, found 3"));
  octavo_series_begin_step(series, 0, &error);
  if (rank() == 0) EXPECT_EQ(octavo_series_begin_step(series, 0, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_series_end_step(series, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("the step before has not ended"));
  EXPECT_EQ(octavo_series_close(&series, &error), 0);
}

}  // namespace
