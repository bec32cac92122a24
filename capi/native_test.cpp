#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "capi/left_binding.hpp"
#include "capi/test_arrays.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/amrex/output.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "tests/support/mpi_run.hpp"

namespace {

using namespace octavo;
using octavo::testing::everyone;
using octavo::testing::ghosted;
using octavo::testing::put_tree;
using octavo::testing::rank;
using octavo::testing::size;
using ::testing::HasSubstr;

double value_at(std::int64_t x, std::int64_t y) { return static_cast<double>(1000 * y + x); }

octavo_target target_for(octavo_kind kind) {
  octavo_target target = octavo_target_default(kind);
  target.sync = 0;
  return target;
}

octavo_writer* open_writer(const octavo_target& target, octavo_error* error) {
  octavo_domain domain = octavo_domain_default();
  domain.dim = 2;
  domain.roots[0] = domain.roots[1] = 2;
  domain.block[0] = 4;
  domain.block[1] = 2;
  octavo_writer* writer = nullptr;
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, error), 0) << error->message;
  return writer;
}

octavo_writer* open_writer(octavo_kind kind, octavo_error* error) { return open_writer(target_for(kind), error); }

// Four blocks of 4 x 2 of a domain of 8 x 4, the b-th one of rank b % size. Two variables that stand together, with one
// ghost cell around.
struct Blocks {
  std::int64_t corners[4][2][3];
  std::int64_t count = 0;
  std::vector<double> unk;

  explicit Blocks(bool all) {
    for (std::int64_t b = 0; b < 4; ++b) {
      if (!all && b % size() != rank()) continue;
      const std::int64_t x = b % 2 * 4, y = b / 2 * 2;
      const std::int64_t box[2][3] = {{x, y, 0}, {x + 4, y + 2, 1}};
      std::copy_n(&box[0][0], 6, &corners[count++][0][0]);
      for (std::int64_t j = y - 1; j < y + 3; ++j)
        for (std::int64_t i = x - 1; i < x + 5; ++i) {
          const bool ghost = i < x || i >= x + 4 || j < y || j >= y + 2;
          unk.push_back(ghost ? -1 : value_at(i, j));
          unk.push_back(ghost ? -1 : -value_at(i, j));
        }
    }
  }
};

void expect_values(const mesh::Part& part, const mesh::Patches& patches) {
  ASSERT_EQ(part.fields.size(), 2u);
  std::size_t next = 0;
  for (const mesh::IndexBox& box : patches.boxes.at(0))
    for (std::int64_t y = box.lo[1]; y < box.hi[1]; ++y)
      for (std::int64_t x = box.lo[0]; x < box.hi[0]; ++x, ++next) {
        EXPECT_EQ(part.fields[0].as<double>()[next], value_at(x, y));
        EXPECT_EQ(part.fields[1].as<double>()[next], -value_at(x, y));
      }
  EXPECT_EQ(next, 32u);
}

void put_step(octavo_writer* writer, const std::string& path, const Blocks& blocks, bool one_by_one,
              octavo_error* error) {
  const std::int64_t domain[2][3] = {{0, 0, 0}, {8, 4, 1}};
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, path.c_str(), 5, 0.5, error), 0) << error->message;
  EXPECT_EQ(
      octavo::testing::put_boxes(writer, 1, &domain[0][0], nullptr, &blocks.count, &blocks.corners[0][0][0], error), 0);
  for (int v = 0; v < 2; ++v) {
    const char* name = v == 0 ? "dens" : "temp";
    octavo_array array = ghosted(OCTAVO_FLOAT64, blocks.unk.data() + v, blocks.count, 1, 2);
    std::vector<void*> arrays;
    for (std::int64_t b = 0; b < blocks.count; ++b) arrays.push_back(static_cast<double*>(array.values) + 48 * b);
    if (one_by_one) array.values = nullptr, array.boxes = arrays.data();
    octavo_writer_put_field(writer, name, nullptr, &array, error);
    EXPECT_EQ(error->code, 0) << error->message;
  }
  EXPECT_EQ(octavo_writer_end_step(writer, error), 0) << error->message;
}

TEST(CapiNativeMpi, boxes_with_ghosts_become_a_plotfile) {
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(OCTAVO_AMREX_PLOTFILE, &error);
  const Blocks blocks(false);
  for (const bool one_by_one : {false, true}) {
    const std::string path = directory.path() / (one_by_one ? "b" : "a");
    put_step(writer, path, blocks, one_by_one, &error);
    for (int all = 0; all == 0;) {
      ASSERT_EQ(octavo_writer_finished(writer, &all, &error), 0) << error.message;
    }
    const auto output = formats::amrex::open_output(path);
    const mesh::Part part = formats::amrex::read_patches(output);
    expect_values(part, std::get<mesh::Patches>(part.mesh));
    MPI_Barrier(everyone());
  }
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  EXPECT_EQ(writer, nullptr);
}

TEST(CapiNativeMpi, blocks_of_a_tree_become_a_flash_file_with_attributes_and_particles) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(OCTAVO_FLASH, &error);
  const Blocks blocks(true);
  const std::string path = directory.path() / "chk";
  const std::int64_t cells = 4;
  std::uint8_t refined[4] = {}, owned[4];
  std::vector<double> x, y;
  for (int b = 0; b < 4; ++b) {
    owned[b] = b % size() == rank() ? 1 : 0;
    if (owned[b] == 0) continue;
    x.push_back(b % 2 * 0.5 + 0.25);
    y.push_back(b / 2 * 0.5 + 0.25);
  }
  const char* list[] = {"dt"};
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, path.c_str(), 5, 0.5, &error), 0) << error.message;
  const double dt = 0.125;
  EXPECT_EQ(octavo_writer_put_attribute(writer, "real scalars/dt", OCTAVO_FLOAT64, &dt, OCTAVO_SCALAR, &error), 0);
  EXPECT_EQ(octavo_writer_put_attribute(writer, "real scalars", OCTAVO_TEXT, list, 1, &error), 0);
  EXPECT_EQ(put_tree(writer, 1, &cells, refined, owned, &error), 0);
  for (int v = 0; v < 2; ++v) {
    const octavo_array array = ghosted(OCTAVO_FLOAT64, blocks.unk.data() + v, 4, 1, 2);
    EXPECT_EQ(octavo_writer_put_field(writer, v == 0 ? "dens" : "temp", "", &array, &error), 0);
  }
  const auto count = static_cast<std::int64_t>(x.size());
  for (const char* name : {"position_x", "position_y"})
    EXPECT_EQ(octavo::testing::put_particles(writer, name, OCTAVO_FLOAT64, name[9] == 'x' ? x.data() : y.data(), count,
                                             &error),
              0);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_wait(writer, &error), 0) << error.message;
  const mesh::Dataset dataset = formats::flash::open(path);
  EXPECT_EQ(dataset.header.time, 0.5);
  EXPECT_EQ(std::get<double>(dataset.header.attributes.at("real scalars/dt")), 0.125);
  std::vector<mesh::Part> parts;
  mesh::Request request;
  request.particles = true;
  for (int p = 0; p < dataset.num_parts; ++p) parts.push_back(dataset.read(p, request));
  const mesh::Part part = mesh::merge(parts);
  mesh::Patches patches{2, {{{0, 0, 0}, {8, 4, 1}}}, {}, {{}}};
  for (const auto& box : blocks.corners)
    patches.boxes[0].push_back({{box[0][0], box[0][1], 0}, {box[1][0], box[1][1], 1}});
  expect_values(part, patches);
  EXPECT_EQ(part.particles.at(0).count, 4);
  MPI_Barrier(everyone());
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiNativeMpi, face_variables_have_one_value_more_along_their_axis) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(OCTAVO_FLASH, &error);
  const std::string path = directory.path() / "chk";
  const std::int64_t cells = 4;
  std::uint8_t refined[4] = {}, owned[4];
  for (int b = 0; b < 4; ++b) owned[b] = b % size() == rank() ? 1 : 0;
  // 4 x 3 faces, 6 x 5 with ghosts, of 4 blocks. Two variables are interleaved.
  std::vector<double> facevary(2 * 6 * 5 * 4);
  std::iota(facevary.begin(), facevary.end(), 0.0);
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, path.c_str(), 5, 0.5, &error), 0);
  EXPECT_EQ(put_tree(writer, 1, &cells, refined, owned, &error), 0);
  octavo_array faces = ghosted(OCTAVO_FLOAT64, facevary.data() + 1, 4, 1, 2);
  faces.centring = OCTAVO_FACE_Y;
  EXPECT_EQ(octavo_writer_put_field(writer, "magy", "", &faces, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_wait(writer, &error), 0) << error.message;
  const file::hdf5::File file = file::hdf5::open(path);
  std::vector<double> values;
  for (const file::hdf5::Info& info : file::hdf5::list(file))
    if (info.name == "magy") values = file::hdf5::read_all<double>(file, info);
  ASSERT_EQ(values.size(), 4u * 12u);
  for (std::size_t b = 0; b < 4; ++b)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 4; ++x)
        EXPECT_EQ(values[12 * b + 4 * y + x], 1 + 2 * static_cast<double>(30 * b + 6 * (y + 1) + x + 1));
  MPI_Barrier(everyone());
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, (path + "_2").c_str(), 5, 0.5, &error);
  faces.centring = OCTAVO_FACE_Z;
  EXPECT_EQ(octavo_writer_put_field(writer, "magz", "", &faces, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("expected faces along axes 0 to 1, found axis 2"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

// This rank's blocks alone are in memory, the last one first, values from the last to the first.
struct Backwards {
  std::vector<std::int64_t> order;
  std::vector<float> values;
  octavo_array array = octavo_array_packed(OCTAVO_FLOAT32, nullptr, 4);

  Backwards() : order(4, -1) {
    for (std::int64_t b = 3; b >= 0; --b) {
      if (b % size() != rank()) continue;
      order[static_cast<std::size_t>(b)] = std::ssize(values) / 8;
      for (std::int64_t v = 7; v >= 0; --v)
        values.push_back(static_cast<float>(value_at(b % 2 * 4 + v % 4, b / 2 * 2 + v / 4)));
    }
    values.resize(std::max<std::size_t>(values.size(), 8));  // a rank without blocks also has an array
    array.values = values.data() + 7;
    array.stride_cell = 8;
    array.stride[0] = -1;
    array.stride[1] = -4;
    array.order = order.data();
  }
};

TEST(CapiNativeMpi, option_names_and_an_array_in_the_applications_own_order) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_target target = target_for(OCTAVO_FLASH);
  const char* const names[1][2] = {{"density", "rho"}};
  target.names = names;
  target.num_names = 1;
  octavo_writer* writer = open_writer(target, &error);
  const std::string path = directory.path() / "chk";
  const Backwards mine;
  const std::int64_t cells = 4;
  std::uint8_t refined[4] = {}, owned[4];
  for (std::size_t b = 0; b < 4; ++b) owned[b] = mine.order[b] >= 0 ? 1 : 0;
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, path.c_str(), 5, 0.5, &error), 0) << error.message;
  EXPECT_EQ(put_tree(writer, 1, &cells, refined, owned, &error), 0);
  EXPECT_EQ(octavo_writer_put_field(writer, "density", "g/cm^3", &mine.array, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  const file::hdf5::File file = file::hdf5::open(path);
  std::vector<float> values;
  for (const file::hdf5::Info& info : file::hdf5::list(file))
    if (info.name.starts_with("rho")) values = file::hdf5::read_all<float>(file, info);
  ASSERT_EQ(values.size(), 32u);
  for (std::int64_t i = 0; i < 32; ++i)
    EXPECT_EQ(values[static_cast<std::size_t>(i)], value_at(i / 8 % 2 * 4 + i % 4, i / 16 * 2 + i % 8 / 4));
  MPI_Barrier(everyone());
}

TEST(CapiNativeMpi, option_bound_thread_keeps_the_thread_on_the_cores_of_its_rank) {
  const octavo::testing::SharedDirectory directory;
  const Blocks blocks(false);
  for (const int bound : {0, 1}) {
    octavo_error error;
    octavo_target target = target_for(OCTAVO_AMREX_PLOTFILE);
    target.bound_thread = bound;
    const int before = octavo::testing::left_binding;
    octavo_writer* writer = open_writer(target, &error);
    put_step(writer, directory.path() / std::to_string(bound), blocks, false, &error);
    EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
    EXPECT_EQ(octavo::testing::left_binding - before, 1 - bound);
  }
}

TEST(CapiNativeMpi, what_is_wrong_on_one_rank_is_returned_on_all) {
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(OCTAVO_AMREX_PLOTFILE, &error);
  const Blocks blocks(false);
  const std::int64_t domain[2][3] = {{0, 0, 0}, {8, 4, 1}};
  const std::string path = directory.path() / "plt";
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, path.c_str(), 5, 0.5, &error);
  octavo::testing::put_boxes(writer, 1, &domain[0][0], nullptr, &blocks.count, &blocks.corners[0][0][0], &error);
  const std::int64_t count = rank() == 0 ? blocks.count + 1 : blocks.count;
  octavo_array array = ghosted(OCTAVO_FLOAT64, blocks.unk.data(), count, 1, 2);
  octavo_writer_put_field(writer, "dens", nullptr, &array, &error);
  EXPECT_EQ(error.code, rank() == 0 ? OCTAVO_USAGE : OCTAVO_OK);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("boxes, found"));
  array.space = static_cast<octavo_space>(2);
  EXPECT_EQ(octavo_writer_put_field(writer, "f", "", &array, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 5, 0.5, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("path is NULL"));
  if (rank() == 0) {
    EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 5, 0.5, &error), OCTAVO_USAGE);
  }
  put_step(writer, path, blocks, false, &error);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(octavo_writer_close(&writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_wait(nullptr, &error), OCTAVO_USAGE);
  octavo_target target = octavo_target_default(OCTAVO_FLASH);
  EXPECT_EQ(octavo_writer_open(everyone(), &target, nullptr, &writer, &error), OCTAVO_USAGE);
}

TEST(CapiNativeMpi, a_put_that_the_target_does_not_take_is_refused_on_all_ranks) {
  octavo_error error;
  octavo_writer* writer = open_writer(OCTAVO_AMREX_PLOTFILE, &error);
  const octavo::testing::SharedDirectory directory;
  const std::string path = directory.path() / "plt";
  const octavo_triangles no_triangles = octavo_triangles_default();
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, path.c_str(), 5, 0.5, &error);
  EXPECT_EQ(octavo_writer_put_triangles(writer, &no_triangles, &error), 0);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_UNSUPPORTED);
  std::int64_t steps = -1;
  int due = 0;
  EXPECT_EQ(octavo_writer_get_steps(writer, &steps, &error), 0);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(octavo_writer_due(writer, OCTAVO_CHECKPOINT, 1, 0, &due, &error), 0);
  EXPECT_EQ(due, 1);
  char text[4096];
  EXPECT_EQ(octavo_writer_get_statistics(writer, text, sizeof text, &error), 0) << error.message;
  EXPECT_THAT(text, HasSubstr("\"total\": {\"steps\": 0"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

}  // namespace
