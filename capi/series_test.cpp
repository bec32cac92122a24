#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "capi/left_binding.hpp"
#include "capi/test_arrays.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/med/med.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/write_triangles.hpp"

namespace {

using octavo::testing::everyone;
using octavo::testing::rank;
using octavo::testing::size;
using ::testing::HasSubstr;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A mesh of which rank r holds the triangles r, r + size ..., and all points.
struct Piece {
  octavo::testing::SerafinFixture fixture;
  std::vector<std::int64_t> nodes, numbers;
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

octavo_triangles mesh_of(const Piece& piece) {
  octavo_triangles mesh = octavo_triangles_default();
  mesh.points = static_cast<std::int64_t>(piece.fixture.mesh.x.size());
  mesh.triangles = static_cast<std::int64_t>(piece.numbers.size());
  mesh.x = piece.fixture.mesh.x.data();
  mesh.y = piece.fixture.mesh.y.data();
  mesh.connectivity = piece.nodes.data();
  mesh.global_triangle = piece.numbers.data();
  return mesh;
}

/// The lower left half of the box around a mesh.
template <class Mesh>
octavo_points half_of(const Mesh& mesh) {
  octavo_points box = octavo_points_default();
  const auto [west, east] = std::minmax_element(mesh.x.begin(), mesh.x.end());
  const auto [south, north] = std::minmax_element(mesh.y.begin(), mesh.y.end());
  box.lower[0] = *west;
  box.lower[1] = *south;
  box.upper[0] = (*west + *east) / 2;
  box.upper[1] = *north + 1;
  return box;
}

/// The field "depth" of point i is 3 i.
template <class Mesh>
void expect_points_in_box(const char* path, const Mesh& mesh) {
  octavo_points found = half_of(mesh);
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < mesh.x.size(); ++i)
    if (mesh.x[i] < found.upper[0]) expected.push_back(static_cast<std::int64_t>(i));
  octavo_error error{};
  ASSERT_EQ(octavo_read_points(path, nullptr, &found, &error), 0) << error.message;
  ASSERT_EQ(found.points, std::ssize(expected));
  ASSERT_GT(found.triangles, 0);
  EXPECT_EQ(found.planes, 1);
  const auto points = static_cast<std::size_t>(found.points), triangles = static_cast<std::size_t>(found.triangles);
  std::vector<std::int64_t> number(points), triangle(triangles), corners(3 * triangles);
  std::vector<double> x(points), y(points), depth(points);
  found.capacity = found.points;
  found.triangle_capacity = found.triangles;
  found.number = number.data();
  found.x = x.data();
  found.y = y.data();
  found.values = depth.data();
  found.triangle = triangle.data();
  found.corners = corners.data();
  ASSERT_EQ(octavo_read_points(path, "depth", &found, &error), 0) << error.message;
  EXPECT_EQ(number, expected);
  for (std::size_t i = 0; i < points; ++i) {
    const auto point = static_cast<std::size_t>(number[i]);
    EXPECT_EQ(x[i], mesh.x[point]);
    EXPECT_EQ(y[i], mesh.y[point]);
    EXPECT_EQ(depth[i], 3.0 * static_cast<double>(point));
  }
  std::int64_t inside = 0;
  for (std::size_t e = 0; 3 * e < mesh.connectivity.size(); ++e) {
    bool all = true;
    for (std::size_t k = 0; k < 3; ++k)
      all = all && mesh.x[static_cast<std::size_t>(mesh.connectivity[3 * e + k])] < found.upper[0];
    inside += all ? 1 : 0;
  }
  EXPECT_EQ(found.triangles, inside);
  for (std::size_t e = 0; e < triangles; ++e)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(number[static_cast<std::size_t>(corners[3 * e + k])],
                mesh.connectivity[3 * static_cast<std::size_t>(triangle[e]) + k]);
  found.capacity = 1;  // the rest stays as it is
  number[1] = -1;
  ASSERT_EQ(octavo_read_points(path, nullptr, &found, &error), 0) << error.message;
  EXPECT_EQ(found.points, std::ssize(expected));
  EXPECT_EQ(number[1], -1);
  EXPECT_EQ(octavo_read_points(path, "height", &found, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("height"));
}

TEST(CapiSeriesMpi, triangles_in_a_store_come_back_by_number_on_any_rank) {
  const octavo::testing::SharedDirectory directory;
  const Piece piece = make_piece();
  const octavo_triangles mesh = mesh_of(piece);
  const std::string path = directory.path() / "run.octavo";
  octavo_error error{};
  octavo_domain domain = octavo_domain_default();
  domain.dim = 2;
  octavo_writer* writer = nullptr;
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = path.c_str();
  ASSERT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), 0);
  ASSERT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 7, 2.5, &error), 0);
  ASSERT_EQ(octavo_writer_put_triangles(writer, &mesh, &error), 0);
  std::vector<double> depth(piece.fixture.mesh.x.size());
  for (std::size_t i = 0; i < depth.size(); ++i) depth[i] = 3.0 * static_cast<double>(i);
  const auto count = static_cast<std::int64_t>(depth.size());
  ASSERT_EQ(octavo::testing::put_packed(writer, "depth", OCTAVO_FLOAT64, depth.data(), count, &error, "m"), 0);
  ASSERT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  ASSERT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;

  expect_points_in_box(path.c_str(), piece.fixture.mesh);

  octavo_restart* restart = nullptr;
  ASSERT_EQ(octavo_restart_open(everyone(), path.c_str(), nullptr, &restart, &error), 0);
  octavo_triangles mine = octavo_triangles_default();
  ASSERT_EQ(octavo_restart_get_triangles(restart, &mine, &error), 0);
  const octavo_restart_info info = octavo::testing::info_of(restart);
  EXPECT_EQ(info.mesh, OCTAVO_MESH_TRIANGLES);
  EXPECT_EQ(info.values, mine.points * mine.planes);
  EXPECT_EQ(info.levels, 0);
  const std::vector<std::int64_t> number(mine.global_point, mine.global_point + mine.points);
  const double* x = mine.x;
  std::vector<double> values = octavo::testing::field_of(restart, "depth");
  for (std::size_t i = 0; i < number.size(); ++i) {
    EXPECT_EQ(x[i], piece.fixture.mesh.x[static_cast<std::size_t>(number[i])]);
    EXPECT_EQ(values[i], 3.0 * static_cast<double>(number[i]));
  }
  std::int64_t all = mine.triangles;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, everyone());
  EXPECT_EQ(static_cast<std::size_t>(3 * all), piece.fixture.mesh.connectivity.size());

  std::vector<std::int64_t> holders(depth.size(), 0);
  for (const std::int64_t point : number) ++holders[static_cast<std::size_t>(point)];
  MPI_Allreduce(MPI_IN_PLACE, holders.data(), static_cast<int>(holders.size()), MPI_INT64_T, MPI_SUM, everyone());
  octavo_neighbours around = octavo_neighbours_default();
  ASSERT_EQ(octavo_restart_get_neighbours(everyone(), restart, &around, &error), 0) << error.message;
  for (std::int64_t i = 0; i < around.shared; ++i)
    EXPECT_EQ(holders[static_cast<std::size_t>(number[static_cast<std::size_t>(around.shared_point[i])])],
              1 + around.first[i + 1] - around.first[i]);
  EXPECT_EQ(std::count_if(number.begin(), number.end(),
                          [&](std::int64_t point) { return holders[static_cast<std::size_t>(point)] > 1; }),
            around.shared);
  EXPECT_EQ(around.boundary, 0);  // the store has none
  octavo_restart_free(&restart);

  const std::int64_t wanted[] = {count - 1, 4};
  octavo_restart_options options = octavo_restart_options_default();
  options.points = wanted;
  options.num_points = 2;
  ASSERT_EQ(octavo_restart_open(everyone(), path.c_str(), &options, &restart, &error), 0);
  values.resize(2);
  ASSERT_EQ(octavo::testing::get_packed(restart, "depth", OCTAVO_FLOAT64, values.data(), 2, &error), 0)
      << error.message;
  EXPECT_EQ(values[0], 3.0 * static_cast<double>(count - 1));
  EXPECT_EQ(values[1], 12.0);
  octavo_restart_free(&restart);
}

constexpr const char* variables[2][2] = {{"VARIABLE 0", "M"}, {"VARIABLE 1", "M"}};

/// The target refers to its arguments: they must stay.
octavo_target target_for(const std::string& path, const std::string& title, const octavo_triangles& mesh) {
  octavo_target target = octavo_target_default(path.ends_with(".med") ? OCTAVO_MED : OCTAVO_SERAFIN);
  target.path = path.c_str();
  target.mesh = &mesh;
  target.variables = variables;
  target.num_variables = 2;
  target.double_precision = 1;
  target.title = title.c_str();
  target.background = octavo::testing::single_threaded() ? 0 : 1;
  target.sync = 0;
  target.writers = 2;
  target.alignment = 64;
  return target;
}

// One value and something else in turn.
int put_strided(octavo_writer* series, int step, int variable, std::int64_t count, octavo_error* error) {
  std::vector<double> pairs(2 * static_cast<std::size_t>(count), -1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    pairs[2 * i] = octavo::testing::serafin_value(step, variable, i);
  const octavo_array array = octavo::testing::every(2, OCTAVO_FLOAT64, pairs.data(), count);
  return octavo_writer_put_field(series, variables[variable][0], "", &array, error);
}

/// Three runs, of which each goes on behind the one before with a step.
void run_thrice(const std::string& path, const octavo_triangles& mesh) {
  const std::string title = "A MESH MADE BY HAND";
  for (int step = 0; step < 3; ++step) {
    octavo_target target = target_for(path, title, mesh);
    target.resume = step > 0 ? 1 : 0;
    octavo_writer* series = nullptr;
    octavo_error error{};
    ASSERT_EQ(octavo_writer_open(everyone(), &target, nullptr, &series, &error), 0) << error.message;
    std::int64_t steps = -1;
    EXPECT_EQ(octavo_writer_get_steps(series, &steps, &error), 0);
    EXPECT_EQ(steps, step);
    EXPECT_EQ(octavo_writer_begin_step(series, OCTAVO_CHECKPOINT, nullptr, 0, 1.5 * step, &error), 0);
    for (int v = 0; v < 2; ++v) EXPECT_EQ(put_strided(series, step, v, mesh.points, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_end_step(series, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_wait(series, &error), 0);
    int all = 0;
    EXPECT_EQ(octavo_writer_finished(series, &all, &error), 0);
    EXPECT_EQ(all, 1);
    EXPECT_EQ(octavo_writer_close(&series, &error), 0) << error.message;
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
  const octavo_triangles mesh = mesh_of(piece);
  for (const int bound : {0, 1})
    for (const int ranks_per_node : {0, 1}) {  // one host, whose first rank writes; a host a rank, where each does
      const std::string path = directory.path() / (std::to_string(2 * bound + ranks_per_node) + ".slf"), title;
      octavo_target target = target_for(path, title, mesh);
      target.writers = 0;
      target.alignment = 1;
      target.bound_thread = bound;
      target.ranks_per_node = ranks_per_node;
      const int before = octavo::testing::left_binding;
      octavo_writer* series = nullptr;
      octavo_error error{};
      ASSERT_EQ(octavo_writer_open(everyone(), &target, nullptr, &series, &error), 0);
      octavo_writer_begin_step(series, OCTAVO_CHECKPOINT, nullptr, 0, 0, &error);
      for (int v = 0; v < 2; ++v) put_strided(series, 0, v, mesh.points, &error);
      EXPECT_EQ(octavo_writer_end_step(series, &error), 0) << error.message;
      EXPECT_EQ(octavo_writer_close(&series, &error), 0) << error.message;
      const bool writes = rank() == 0 || ranks_per_node == 1;
      EXPECT_EQ(octavo::testing::left_binding - before, bound == 0 && writes ? 1 : 0);
    }
}

TEST(CapiSeriesMpi, what_is_wrong_on_one_rank_is_returned_on_all) {
  const octavo::testing::SharedDirectory directory;
  const std::string path = directory.path() / "r2d.slf";
  const Piece piece = make_piece();
  const octavo_triangles mesh = mesh_of(piece);
  const std::string title;
  octavo_target target = target_for(path, title, mesh);
  if (rank() == 0) target.mesh = nullptr;
  octavo_writer* series = nullptr;
  octavo_error error{};
  EXPECT_EQ(octavo_writer_open(everyone(), &target, nullptr, &series, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("mesh is NULL"));
  EXPECT_EQ(series, nullptr);
  target = target_for(path, title, mesh);
  const std::string other = directory.path() / "r2d.med";
  if (rank() == 0) target.path = other.c_str();
  EXPECT_EQ(octavo_writer_open(everyone(), &target, nullptr, &series, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("the name of a SERAFIN file does not end in .med"));
  target = target_for(path, title, mesh);
  ASSERT_EQ(octavo_writer_open(everyone(), &target, nullptr, &series, &error), 0);
  octavo_writer_begin_step(series, OCTAVO_CHECKPOINT, nullptr, 0, 0, &error);
  octavo::testing::put_int(series, "cycle", 1, &error);
  EXPECT_EQ(octavo_writer_end_step(series, &error), OCTAVO_UNSUPPORTED);
  octavo_writer_begin_step(series, OCTAVO_CHECKPOINT, nullptr, 0, 0, &error);
  for (int v = 0; v < 2; ++v) put_strided(series, 0, v, rank() == size() - 1 ? 3 : mesh.points, &error);
  EXPECT_EQ(octavo_writer_end_step(series, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("values, found 3"));
  octavo_writer_begin_step(series, OCTAVO_CHECKPOINT, nullptr, 0, 0, &error);
  if (rank() == 0) EXPECT_EQ(octavo_writer_begin_step(series, OCTAVO_CHECKPOINT, nullptr, 0, 0, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_end_step(series, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("the step before has not ended"));
  EXPECT_EQ(octavo_writer_close(&series, &error), 0);
}

}  // namespace
