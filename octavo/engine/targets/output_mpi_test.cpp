#include <gmock/gmock.h>

#include <fstream>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/counted_memory.hpp"
#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/amrex.hpp"
#include "octavo/formats/amrex/output.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using base::Error;
using mesh::IndexBox;
using mesh::Patches;
using testing::everyone;
using ::testing::HasSubstr;
using testing::rank;
using testing::size;

OutputOptions output_options() {
  OutputOptions options;
  options.mode = testing::single_threaded() ? Mode::sync : Mode::background;
  options.sync = false;
  options.staging_bytes = 1 << 20;
  return options;
}
FlashTarget to_flash() { return {.options = output_options()}; }
AmrexTarget to_amrex(AmrexKind kind = AmrexKind::plotfile) { return {.kind = kind, .options = output_options()}; }

double value_in_cell(double level, double x, double y) { return level * 1e6 + x * 1e3 + y; }

// ------------------------------------------------------------------ blocks

// Two levels of 4 x 2 blocks of a domain of 2 x 2 roots, root 0 and 3 refined; dealt out by number, one after another.
struct Blocks {
  mesh::Header header;
  mesh::Octree tree;
  std::vector<double> density;
  std::vector<float> energy;
  std::vector<double> x, y, tag;
};

Blocks make_blocks(int writer, int writers) {
  Blocks out;
  mesh::Octree whole;
  whole.dim = 2;
  whole.roots = {2, 2, 1};
  whole.block = {4, 2, 1};
  whole.refined = {base::BitArray(4), base::BitArray(8)};
  whole.refined[0].set(0);
  whole.refined[0].set(3);
  whole.owned = {base::BitArray(4), base::BitArray(8)};
  for (std::size_t i = 0; i < 12; ++i)
    if (static_cast<int>(i * static_cast<std::size_t>(writers) / 12) == writer)
      whole.owned[i / 4 > 0].set(i < 4 ? i : i - 4);
  out.tree = mesh::prune(whole).tree;
  out.header.code = "FLASH";
  out.header.dim = 2;
  out.header.roots = whole.roots;
  out.header.block = whole.block;
  out.header.level_origin = 1;
  out.header.hi = {2, 2, 1};
  auto at = root_coordinates(out.tree);
  for (int level = 0; level < num_levels(out.tree); ++level) {
    if (level > 0) at = child_coordinates(out.tree, level - 1, at);
    const auto l = static_cast<std::size_t>(level);
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (unsigned y = 0; y < 2; ++y)
        for (unsigned x = 0; x < 4; ++x) {
          out.density.push_back(value_in_cell(level, 4 * at[i][0] + x, 2 * at[i][1] + y));
          out.energy.push_back(static_cast<float>(-out.density.back()));
        }
      // One particle in the middle of each leaf, and two in leaves of odd x.
      if (!out.tree.owned[l][i] || out.tree.refined[l][i]) continue;
      const double edge = level == 0 ? 1 : 0.5;
      for (unsigned n = 0; n < 1 + at[i][0] % 2; ++n) {
        out.x.push_back((at[i][0] + 0.5) * edge);
        out.y.push_back((at[i][1] + 0.25 + 0.25 * n) * edge);
        out.tag.push_back(1U + 100U * static_cast<unsigned>(level) + at[i][1] * 10 + 2 * at[i][0] + n);
      }
    }
  }
  return out;
}

void put(Writer& writer, const Blocks& blocks, const fs::path& path) {
  writer.begin_step(path, 7, 0.5);
  writer.put_attribute("real scalars/dt", 0.125);
  writer.put_attribute("real scalars", std::vector<std::string>{"dt"});
  writer.put_mesh(blocks.tree);
  ArrayView density = view_of(blocks.density), energy = view_of(blocks.energy);
  density.cells = energy.cells = num_cells(blocks.tree);
  density.block = energy.block = blocks.tree.block;
  writer.put_field("dens", density);
  writer.put_field("ener", energy);
  writer.put_particles("particles", "position_x", view_of(blocks.x));
  writer.put_particles("particles", "position_y", view_of(blocks.y));
  writer.put_particles("particles", "tag", view_of(blocks.tag));
  writer.end_step();
}

void put_once(const FlashTarget& target, const Blocks& blocks, const fs::path& path) {
  Writer writer(everyone(), blocks.header, target);
  put(writer, blocks, path);
}

mesh::Part read_whole(const mesh::Dataset& dataset) {
  std::vector<mesh::Part> parts;
  mesh::Request request;
  request.particles = true;
  for (int p = 0; p < dataset.num_parts; ++p) parts.push_back(dataset.read(p, request));
  return mesh::merge(parts);
}

void expect_blocks(const fs::path& path) {
  const mesh::Dataset dataset = formats::flash::open(path);
  const mesh::Part part = read_whole(dataset);
  const Blocks whole = make_blocks(0, 1);
  EXPECT_EQ(std::get<mesh::Octree>(part.mesh), whole.tree);
  EXPECT_EQ(dataset.header.time, 0.5);
  EXPECT_EQ(std::get<double>(dataset.header.attributes.at("real scalars/dt")), 0.125);
  ASSERT_EQ(part.fields.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), whole.density));
  EXPECT_TRUE(std::ranges::equal(part.fields[1].as<float>(), whole.energy));
  const file::hdf5::File file = file::hdf5::open(path);
  // The range is over leaves. Root 1 is a leaf; roots 0 and 3 are not.
  EXPECT_EQ(file::hdf5::read_attribute(file, "dens", "minimum"), value_in_cell(0, 0, 2));
  EXPECT_EQ(file::hdf5::read_attribute(file, "dens", "maximum"), value_in_cell(1, 15, 7));
  EXPECT_EQ(file::hdf5::read_attribute(file, "ener", "minimum"), static_cast<float>(-value_in_cell(1, 15, 7)));
  ASSERT_EQ(part.particles.size(), 1u);
  const auto find = [&](const std::string& name) {
    for (const mesh::Field& field : part.particles[0].attributes)
      if (field.info.name == name) return field.as<double>();
    ADD_FAILURE() << name;
    return std::span<const double>();
  };
  std::vector<double> tags(find("tag").begin(), find("tag").end()), expected = whole.tag;
  std::ranges::sort(tags);
  std::ranges::sort(expected);
  EXPECT_EQ(tags, expected);
}

TEST(NativeMpi, a_flash_file_written_by_all_ranks_is_the_serial_one) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  for (const bool collect : {false, true}) {
    FlashTarget target = to_flash();
    target.collect = collect;
    const Blocks blocks = make_blocks(rank(), size());
    Writer writer(everyone(), blocks.header, target);
    const fs::path path = directory.path() / (collect ? "collected" : "background");
    put(writer, blocks, path);
    put(writer, blocks, path.string() + "_2");
    writer.close();
    EXPECT_EQ(writer.statistics().steps, 2);
    EXPECT_FALSE(fs::exists(path.string() + ".partial"));
    expect_blocks(path);
    expect_blocks(path.string() + "_2");
    MPI_Barrier(everyone());
  }
}

// Faces of a block of 4 x 2: 5 x 2 or 4 x 3 faces, with one ghost around; their values follow from where they are.
std::vector<double> faces_of(const mesh::Octree& tree, std::size_t axis) {
  std::vector<double> values;
  auto at = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    if (level > 0) at = child_coordinates(tree, level - 1, at);
    for (const mesh::Coordinate& block : at)
      for (int y = -1; y < (axis == 1 ? 4 : 3); ++y)
        for (int x = -1; x < (axis == 0 ? 6 : 5); ++x)
          values.push_back(value_in_cell(level, 4.0 * block[0] + x, 2.0 * block[1] + y));
  }
  return values;
}

void put_faces(Writer& writer, const Blocks& blocks, const fs::path& path) {
  writer.begin_step(path, 7, 0.5);
  writer.put_mesh(blocks.tree);
  std::vector<std::vector<double>> held;
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    held.push_back(faces_of(blocks.tree, axis));
    ArrayView view = view_of(held.back());
    view.cells = num_cells(blocks.tree);
    view.ghost = 1;
    view.block = {axis == 0 ? 5 : 4, axis == 1 ? 3 : 2, 1};
    writer.put_field(axis == 0 ? "bx" : "by", view, "", axis == 0 ? mesh::Centring::face_x : mesh::Centring::face_y);
  }
  ArrayView density = view_of(blocks.density);
  density.cells = num_cells(blocks.tree);
  density.block = blocks.tree.block;
  writer.put_field("dens", density);
  writer.end_step();
}

TEST(NativeMpi, a_flash_file_of_the_same_name_is_replaced_once_the_new_one_is_complete) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  const fs::path path = directory.path() / "chk", folder = directory.path() / "folder";
  if (rank() == 0) {
    std::ofstream(path) << "old";
    fs::create_directory(folder);
  }
  MPI_Barrier(everyone());
  FlashTarget target = to_flash();
  const Blocks blocks = make_blocks(rank(), size());
  EXPECT_THROW(put_once(target, blocks, path), Error);
  target.replace = true;
  EXPECT_THROW(put_once(target, blocks, folder), Error);
  Writer writer(everyone(), blocks.header, target);
  put(writer, blocks, path);
  // No collective call yet that could show the new file. (Without a thread in the background end_step() is one.)
  if (rank() == 0 && !testing::single_threaded()) {
    EXPECT_EQ(fs::file_size(path), 3u);
  }
  MPI_Barrier(everyone());
  writer.wait();
  expect_blocks(path);
  MPI_Barrier(everyone());
  put(writer, blocks, path);
  writer.close();
  expect_blocks(path);
  MPI_Barrier(everyone());
}

TEST(NativeMpi, roots_stand_in_the_order_that_an_attribute_gives) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  const Blocks blocks = make_blocks(rank(), size());
  const std::int64_t roots = mesh::num_roots(blocks.tree.roots);
  std::vector<std::int64_t> order;
  for (std::int64_t root = roots; root-- > 0;) order.push_back(root);
  const auto write = [&](const std::string& name) {
    Writer writer(everyone(), blocks.header, to_flash());
    writer.begin_step(directory.path() / name, 7, 0.5);
    writer.put_attribute("flash/root order", order);
    writer.put_mesh(blocks.tree);
    ArrayView energy = view_of(blocks.energy);
    energy.cells = num_cells(blocks.tree);
    energy.block = blocks.tree.block;
    writer.put_field("ener", energy);
    writer.end_step();
    writer.close();
    return formats::flash::open(directory.path() / name);
  };
  const mesh::Dataset dataset = write("turned");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(dataset.header.attributes.at("flash/root order")), order);
  EXPECT_TRUE(std::ranges::equal(read_whole(dataset).fields.at(0).as<float>(), make_blocks(0, 1).energy));
  order.push_back(0);  // of another mesh
  EXPECT_FALSE(write("another").header.attributes.contains("flash/root order"));
  order.assign(static_cast<std::size_t>(roots), 0);
  EXPECT_THROW(write("twice"), Error);
  MPI_Barrier(everyone());
}

TEST(NativeMpi, a_step_whose_attribute_says_plotfile_is_one) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  for (const bool collect : {false, true}) {
    FlashTarget target = to_flash();
    target.collect = collect;
    const Blocks blocks = make_blocks(rank(), size());
    Writer writer(everyone(), blocks.header, target);
    const fs::path path = directory.path() / (collect ? "collected_plt_cnt_0001" : "background_plt_cnt_0001");
    writer.begin_step(path, 7, 0.5);
    writer.put_attribute("flash/kind", std::string("plotfile"));
    writer.put_attribute("flash/metadata bytes", std::int64_t{4});
    writer.put_mesh(blocks.tree);
    ArrayView energy = view_of(blocks.energy);
    energy.cells = num_cells(blocks.tree);
    energy.block = blocks.tree.block;
    writer.put_field("ener", energy);
    writer.put_particles("particles", "position_x", view_of(blocks.x));
    writer.put_particles("particles", "position_y", view_of(blocks.y));
    writer.end_step();
    writer.close();
    const mesh::Dataset dataset = formats::flash::open(path);
    for (const file::hdf5::Info& set : file::hdf5::list(file::hdf5::open(path))) EXPECT_NE(set.name, "localnp");
    EXPECT_EQ(std::get<std::int64_t>(dataset.header.attributes.at("flash/metadata bytes")), 4);
    EXPECT_EQ(std::get<std::int64_t>(dataset.header.attributes.at("logical scalars/double_precision")), 0);
    const mesh::Part part = read_whole(dataset);
    EXPECT_TRUE(part.particles.empty() || part.particles[0].count == 0);
    EXPECT_TRUE(std::ranges::equal(part.fields.at(0).as<float>(), make_blocks(0, 1).energy));
    MPI_Barrier(everyone());
  }
}

TEST(NativeMpi, a_step_that_staging_memory_cannot_hold_is_written_inside_end_step) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  if (testing::single_threaded()) GTEST_SKIP() << "no thread in the background";
  const testing::SharedDirectory directory;
  for (const std::int64_t bytes : {std::int64_t{64}, std::int64_t{1} << 20}) {
    FlashTarget target = to_flash();
    target.options.staging_bytes = bytes;
    const Blocks blocks = make_blocks(rank(), size());
    Writer writer(everyone(), blocks.header, target);
    const fs::path path = directory.path() / std::to_string(bytes);
    put(writer, blocks, path);
    writer.close();
    const WriteStatistics mine = writer.statistics();
    EXPECT_EQ(mine.waits_for_staging, bytes == 64 ? 1 : 0);
    EXPECT_EQ(mine.bytes_staged, bytes == 64 ? 0 : mine.bytes_put);
    expect_blocks(path);
    MPI_Barrier(everyone());
  }
}

TEST(NativeMpi, copies_of_a_step_take_no_memory_but_that_for_staging) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  if (testing::single_threaded()) GTEST_SKIP() << "no thread in the background";
  constexpr std::size_t blocks_of_rank = 4, cells = 64 * 64, fields = 8;
  const std::size_t count = blocks_of_rank * static_cast<std::size_t>(size());
  mesh::Octree tree;
  tree.dim = 2;
  tree.roots = {static_cast<std::int64_t>(count), 1, 1};
  tree.block = {64, 64, 1};
  tree.refined = tree.owned = {base::BitArray(count)};
  for (std::size_t b = 0; b < blocks_of_rank; ++b)
    tree.owned[0].set(b + blocks_of_rank * static_cast<std::size_t>(rank()));
  mesh::Header header;
  header.dim = 2;
  header.roots = tree.roots;
  header.block = tree.block;
  header.level_origin = 1;
  header.hi = {static_cast<double>(count), 1, 1};
  const std::vector<double> values(count * cells, 1.5);
  const testing::SharedDirectory directory;
  FlashTarget target = to_flash();
  target.options.staging_bytes = 2 << 20;
  Writer writer(everyone(), header, target);
  for (int step = 0; step < 2; ++step) {
    const std::int64_t before = testing::allocated;
    testing::most_allocated = before;
    writer.begin_step(directory.path() / std::to_string(step), step, step);
    writer.put_mesh(tree);
    for (std::size_t f = 0; f < fields; ++f) {
      ArrayView view = view_of(values);
      view.cells = count;
      view.block = tree.block;
      writer.put_field("v" + std::to_string(f), view);
    }
    writer.end_step();
    writer.wait();
    EXPECT_LT(testing::most_allocated - before, static_cast<std::int64_t>(blocks_of_rank * cells * fields * 8 / 2));
  }
  writer.close();
}

TEST(NativeMpi, face_variables_are_written_by_all_ranks_with_one_value_more_a_block) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  for (const bool collect : {false, true}) {
    FlashTarget target = to_flash();
    target.collect = collect;
    const fs::path path = directory.path() / (collect ? "collected" : "background");
    Writer writer(everyone(), make_blocks(0, 1).header, target);
    put_faces(writer, make_blocks(rank(), size()), path);
    writer.close();
    const mesh::Part part = read_whole(formats::flash::open(path));
    const mesh::Octree& tree = std::get<mesh::Octree>(part.mesh);
    ASSERT_EQ(part.fields.size(), 5u);
    EXPECT_EQ(part.fields[1].info.name, "bx_left");
    EXPECT_EQ(part.fields[1].info.centring, mesh::Centring::face_x);
    const auto bx = faces_of(tree, 0), by = faces_of(tree, 1);
    for (std::size_t cell = 0; cell < num_cells(tree); ++cell)
      for (std::size_t y = 0; y < 2; ++y)
        for (std::size_t x = 0; x < 4; ++x) {
          const std::size_t i = 8 * cell + 4 * y + x;
          EXPECT_EQ(part.fields[1].as<double>()[i], bx[28 * cell + 7 * (y + 1) + x + 1]);
          EXPECT_EQ(part.fields[2].as<double>()[i], bx[28 * cell + 7 * (y + 1) + x + 2]);
          EXPECT_EQ(part.fields[3].as<double>()[i], by[30 * cell + 6 * (y + 1) + x + 1]);
          EXPECT_EQ(part.fields[4].as<double>()[i], by[30 * cell + 6 * (y + 2) + x + 1]);
        }
    const file::hdf5::File file = file::hdf5::open(path);
    // The range is over all faces of leaves. The faces of root 1 begin at x = 4, and those of the last block end at x =
    // 16.
    EXPECT_EQ(file::hdf5::read_attribute(file, "bx  ", "minimum"), value_in_cell(0, 0, 2));
    EXPECT_EQ(file::hdf5::read_attribute(file, "bx  ", "maximum"), value_in_cell(1, 16, 7));
    MPI_Barrier(everyone());
  }
}

TEST(NativeMpi, faces_that_cannot_be_written_are_named_on_all_ranks) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  const Blocks blocks = make_blocks(rank(), size());
  ArrayView half = view_of(blocks.density);
  half.cells = num_cells(blocks.tree);
  half.block = blocks.tree.block;
  const auto refused = [&](const Target& target, mesh::Centring centring, const char* text) {
    Writer writer(everyone(), blocks.header, target);
    writer.begin_step(directory.path() / "chk", 1, 0);
    writer.put_mesh(blocks.tree);
    writer.put_field("b_left", half, "", centring);
    try {
      writer.end_step();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
    writer.close();
  };
  refused(to_flash(), mesh::Centring::face_x, "a face variable needs both");
  refused(to_flash(), mesh::Centring::node, "no variables on nodes");
  refused(to_amrex(), mesh::Centring::face_x, "not of cells");
  EXPECT_TRUE(fs::is_empty(directory.path()));
  MPI_Barrier(everyone());
}

TEST(NativeMpi, a_tree_that_is_not_whole_is_refused_on_all_ranks_and_leaves_nothing) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  Blocks blocks = make_blocks(rank(), size());
  if (rank() == size() - 1) blocks.tree.owned.back() = base::BitArray(blocks.tree.owned.back().size());
  Writer writer(everyone(), blocks.header, to_flash());
  blocks.x = blocks.y = blocks.tag = {};
  EXPECT_THROW(put(writer, blocks, directory.path() / "chk"), Error);
  EXPECT_TRUE(fs::is_empty(directory.path()));
  MPI_Barrier(everyone());
  // The writer still works.
  put(writer, make_blocks(rank(), size()), directory.path() / "chk");
  writer.close();
  expect_blocks(directory.path() / "chk");
}

TEST(NativeMpi, blocks_that_two_ranks_own_are_refused_on_all_ranks_and_leave_nothing) {
  if (size() == 1) return;
  const testing::SharedDirectory directory;
  for (const Target& target : {Target(to_flash()), Target(to_amrex())}) {
    if (std::get<FileTarget>(target).format == &formats::flash::row && !file::hdf5::available()) continue;
    Blocks blocks = rank() == 1 ? make_blocks(0, 1) : make_blocks(rank(), size());
    blocks.x = blocks.y = blocks.tag = {};
    Writer writer(everyone(), blocks.header, target);
    EXPECT_THROW(
        {
          put(writer, blocks, directory.path() / "out");
          writer.wait();
        },
        Error);
    EXPECT_TRUE(fs::is_empty(directory.path()));
    MPI_Barrier(everyone());
  }
}

TEST(NativeMpi, a_particle_in_a_block_of_another_rank_is_named) {
  if (size() == 1) return;
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const testing::SharedDirectory directory;
  Blocks blocks = make_blocks(rank(), size());
  // The first rank or the second owns the lower left corner.
  blocks.x = blocks.y = blocks.tag = {0.01};
  Writer writer(everyone(), blocks.header, to_flash());
  try {
    put(writer, blocks, directory.path() / "chk");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is in no block that this rank owns"));
  }
  writer.close();
}

// ------------------------------------------------------------------ patches

struct Boxes {
  Patches patches;
  std::vector<double> density;
  std::vector<float> energy;
  std::vector<double> x, y, mass;
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> cpu;
};

// 16 boxes of 4 x 4 on level 0, and 12 of 8 x 4 on level 1; the n-th of all is one of rank n % writers.
Boxes make_boxes(int writer, int writers) {
  Boxes out;
  out.patches.dim = 2;
  out.patches.domain = {{{0, 0, 0}, {16, 16, 1}}, {{0, 0, 0}, {32, 32, 1}}};
  out.patches.ratio = {2};
  out.patches.boxes.resize(2);
  int n = 0;
  for (std::int64_t j = 0; j < 16; j += 4)
    for (std::int64_t i = 0; i < 16; i += 4)
      if (n++ % writers == writer) out.patches.boxes[0].push_back({{i, j, 0}, {i + 4, j + 4, 1}});
  for (std::int64_t j = 8; j < 24; j += 4)
    for (std::int64_t i = 8; i < 32; i += 8)
      if (n++ % writers == writer) out.patches.boxes[1].push_back({{i, j, 0}, {i + 8, j + 4, 1}});
  for (std::size_t level = 0; level < 2; ++level)
    for (const IndexBox& box : out.patches.boxes[level])
      for_each_row(box, [&](const mesh::Index3& at, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x) {
          out.density.push_back(
              value_in_cell(static_cast<double>(level), static_cast<double>(at[0] + x), static_cast<double>(at[1])));
          out.energy.push_back(static_cast<float>(-out.density.back()));
        }
      });
  for (int i = writer; i < 40; i += writers) {
    out.x.push_back((i + 0.5) / 40);
    out.y.push_back(((i * 7) % 40 + 0.5) / 40);
    out.mass.push_back(i);
    out.id.push_back(1000000000ll * (i + 1));
    out.cpu.push_back(i);
  }
  return out;
}

void put(Writer& writer, const Boxes& boxes, const fs::path& path) {
  writer.begin_step(path, 9, 0.25);
  writer.put_attribute("level_dt", std::vector<double>{0.5, 0.25});
  writer.put_mesh(boxes.patches);
  writer.put_field("density", view_of(boxes.density));
  writer.put_field("energy", view_of(boxes.energy));
  writer.put_particles("tracers", "position_x", view_of(boxes.x));
  writer.put_particles("tracers", "position_y", view_of(boxes.y));
  writer.put_particles("tracers", "mass", view_of(boxes.mass));
  writer.put_particles("tracers", "id", view_of(boxes.id));
  writer.put_particles("tracers", "cpu", view_of(boxes.cpu));
  writer.end_step();
}

mesh::Header header_of_boxes() {
  mesh::Header header;
  header.dim = 2;
  return header;
}

TEST(NativeMpi, patches_of_other_dimensions_than_the_header_are_refused) {
  const testing::SharedDirectory directory;
  mesh::Header header = header_of_boxes();
  header.dim = 3;
  Writer writer(everyone(), header, to_amrex());
  try {
    put(writer, make_boxes(rank(), size()), directory.path() / "plt");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("patches in 2 dimensions, a header in 3"));
  }
  writer.close();
}

void expect_boxes(const fs::path& path) {
  const formats::amrex::AmrexOutput output = formats::amrex::open_output(path, {.ratio = {2}, .lo = {}, .hi = {}});
  EXPECT_EQ(output.header.time, 0.25);
  const mesh::Part part = formats::amrex::read_patches(output);
  const auto& patches = std::get<Patches>(part.mesh);
  std::size_t next = 0;
  ASSERT_EQ(patches.boxes.size(), 2u);
  EXPECT_EQ(patches.boxes[0].size(), 16u);
  EXPECT_EQ(patches.boxes[1].size(), 12u);
  ASSERT_EQ(part.fields.size(), 2u);
  for (std::size_t level = 0; level < 2; ++level)
    for (const IndexBox& box : patches.boxes[level])
      for_each_row(flat(box, 2), [&](const mesh::Index3& at, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x, ++next) {
          const double value =
              value_in_cell(static_cast<double>(level), static_cast<double>(at[0] + x), static_cast<double>(at[1]));
          ASSERT_EQ(part.fields[0].as<double>()[next], value);
          ASSERT_EQ(part.fields[1].as<double>()[next], static_cast<double>(static_cast<float>(-value)));
        }
      });
  // The table of minima and maxima agrees with the boxes.
  const auto& multifab = output.multifabs[1][0];
  for (std::size_t b = 0; b < multifab.boxes.boxes.size(); ++b) {
    const IndexBox& box = multifab.boxes.boxes[b];
    EXPECT_EQ(multifab.minima[2 * b], value_in_cell(1, static_cast<double>(box.lo[0]), static_cast<double>(box.lo[1])));
    EXPECT_EQ(multifab.maxima[2 * b],
              value_in_cell(1, static_cast<double>(box.hi[0] - 1), static_cast<double>(box.hi[1] - 1)));
  }
  ASSERT_EQ(output.particles.size(), 1u);
  EXPECT_EQ(output.particles[0].damage, "");
  EXPECT_EQ(output.particles[0].total, 40);
  EXPECT_EQ(output.particles[0].next_id, 40000000001ll);
  const Boxes all = make_boxes(0, 1);
  std::size_t found = 0;
  for (std::size_t level = 0; level < 2; ++level)
    for (std::size_t grid = 0; grid < output.particles[0].grids[level].size(); ++grid) {
      const auto particles =
          read_particles(output.particles[0], {{level, grid}}, [](const auto&, const auto&) { return true; });
      for (std::size_t i = 0; i < static_cast<std::size_t>(particles.count); ++i, ++found) {
        const auto mass = static_cast<std::size_t>(particles.attributes[2].as<double>()[i]);
        EXPECT_EQ(particles.attributes[0].as<double>()[i], all.x[mass]);
        EXPECT_EQ(particles.attributes[3].as<std::int64_t>()[i], all.id[mass]);
        EXPECT_EQ(particles.attributes[4].as<std::int32_t>()[i], all.cpu[mass]);
      }
    }
  EXPECT_EQ(found, 40u);
}

TEST(NativeMpi, plotfiles_and_checkpoints_of_boxes_of_all_ranks_are_read_back) {
  for (const AmrexKind kind : {AmrexKind::plotfile, AmrexKind::checkpoint})
    for (const int files : {0, 1, 3}) {
      const testing::SharedDirectory directory;
      AmrexTarget target = to_amrex(kind);
      target.files = files;
      const Boxes boxes = make_boxes(rank(), size());
      mesh::Header header = header_of_boxes();
      header.lo[0] = -1;
      header.periodic[1] = true;
      Writer writer(everyone(), header, target);
      put(writer, boxes, directory.path() / "a");
      put(writer, boxes, directory.path() / "b");
      // The previous step has its name now. This one gets it when a collective call finds it written.
      EXPECT_TRUE(fs::exists(directory.path() / "a"));
      while (!writer.finished()) {
      }
      EXPECT_TRUE(fs::exists(directory.path() / "b"));
      MPI_Barrier(everyone());
      if (kind == AmrexKind::plotfile) {
        expect_boxes(directory.path() / "a");
        expect_boxes(directory.path() / "b");
      } else {
        const auto output = formats::amrex::open_output(directory.path() / "a");
        EXPECT_EQ(output.family, formats::amrex::OutputFamily::hand_written);
        EXPECT_EQ(output.particles.at(0).version, "Version_Two_Dot_One_double");
        EXPECT_TRUE(output.common_form);
        EXPECT_EQ(output.header.lo[0], -1);
        EXPECT_EQ(output.header.hi[1], 1);
        EXPECT_TRUE(output.header.periodic[1] && !output.header.periodic[0]);
        EXPECT_EQ(std::get<std::vector<double>>(output.header.attributes.at("level_dt")),
                  (std::vector<double>{0.5, 0.25}));
      }
      EXPECT_THROW(put(writer, boxes, directory.path() / "a"), Error);
      writer.close();
    }
}

TEST(NativeMpi, headers_list_boxes_in_the_order_that_an_attribute_gives_whatever_the_ranks) {
  const testing::SharedDirectory directory;
  const Boxes mine = make_boxes(rank(), size()), all = make_boxes(0, 1);
  for (const bool other : {false, true}) {
    std::vector<std::int64_t> list;
    for (std::size_t level = 0; level < 2; ++level)
      for (auto box = all.patches.boxes[level].rbegin(); box != all.patches.boxes[level].rend(); ++box)
        list.insert(list.end(), {static_cast<std::int64_t>(level), box->lo[0], box->lo[1], box->hi[0], box->hi[1]});
    if (other) list.back() += 1;  // of level 1: no box of the ranks
    const fs::path path = directory.path() / (other ? "other" : "listed");
    Writer writer(everyone(), header_of_boxes(), to_amrex());
    writer.begin_step(path, 9, 0.25);
    writer.put_attribute("patches/boxes", list);
    writer.put_mesh(mine.patches);
    writer.put_field("density", view_of(mine.density));
    writer.put_field("energy", view_of(mine.energy));
    writer.put_particles("tracers", "position_x", view_of(mine.x));
    writer.put_particles("tracers", "position_y", view_of(mine.y));
    writer.put_particles("tracers", "mass", view_of(mine.mass));
    writer.put_particles("tracers", "id", view_of(mine.id));
    writer.put_particles("tracers", "cpu", view_of(mine.cpu));
    writer.end_step();
    writer.close();
    expect_boxes(path);
    const formats::amrex::AmrexOutput output = formats::amrex::open_output(path);
    for (std::size_t level = 0; level < (other ? 1u : 2u); ++level)
      EXPECT_TRUE(std::equal(output.patches.boxes[level].begin(), output.patches.boxes[level].end(),
                             all.patches.boxes[level].rbegin(), all.patches.boxes[level].rend()));
  }
}

// Who the particles of an output are: (id, cpu), sorted.
std::vector<std::pair<std::int64_t, std::int32_t>> identities_of(const fs::path& path) {
  const auto output = formats::amrex::open_output(path);
  std::vector<std::pair<std::int64_t, std::int32_t>> found;
  for (std::size_t level = 0; level < output.particles.at(0).grids.size(); ++level)
    for (std::size_t grid = 0; grid < output.particles[0].grids[level].size(); ++grid) {
      const auto particles =
          read_particles(output.particles[0], {{level, grid}}, [](const auto&, const auto&) { return true; });
      for (std::size_t i = 0; i < static_cast<std::size_t>(particles.count); ++i)
        found.emplace_back(particles.attributes[2].as<std::int64_t>()[i],
                           particles.attributes[3].as<std::int32_t>()[i]);
    }
  std::sort(found.begin(), found.end());
  return found;
}

// FLASH has tags, doubles in its files, RAMSES identities, and some have nothing.
TEST(NativeMpi, particles_of_amrex_outputs_have_an_identity_of_their_own_whatever_it_was_called) {
  for (const std::string name : {"tag", "identity", ""}) {
    const testing::SharedDirectory directory;
    const Boxes boxes = make_boxes(rank(), size());
    const std::vector<double> tag(boxes.id.begin(), boxes.id.end());
    Writer writer(everyone(), header_of_boxes(), to_amrex());
    writer.begin_step(directory.path() / "plt", 9, 0.25);
    writer.put_mesh(boxes.patches);
    writer.put_field("density", view_of(boxes.density));
    writer.put_particles("tracers", "position_x", view_of(boxes.x));
    writer.put_particles("tracers", "position_y", view_of(boxes.y));
    if (name == "tag") writer.put_particles("tracers", name, view_of(tag));
    if (name == "identity") writer.put_particles("tracers", name, view_of(boxes.id));
    writer.end_step();
    writer.close();
    const auto found = identities_of(directory.path() / "plt");
    ASSERT_EQ(found.size(), 40u);
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end()) << name;
    for (std::size_t i = 0; !name.empty() && i < found.size(); ++i)
      EXPECT_EQ(found[i], (std::pair<std::int64_t, std::int32_t>{1000000000 * (static_cast<std::int64_t>(i) + 1), 0}));
  }
}

TEST(NativeMpi, particles_whose_identity_says_nothing_are_refused_on_all_ranks) {
  for (const std::string name : {"tag", "cpu"}) {
    const testing::SharedDirectory directory;
    const Boxes boxes = make_boxes(rank(), size());
    const std::vector<double> half(boxes.id.size(), 0.5);
    Writer writer(everyone(), header_of_boxes(), to_amrex());
    writer.begin_step(directory.path() / "plt", 9, 0.25);
    writer.put_mesh(boxes.patches);
    writer.put_field("density", view_of(boxes.density));
    writer.put_particles("tracers", "position_x", view_of(boxes.x));
    writer.put_particles("tracers", "position_y", view_of(boxes.y));
    if (name == "tag")
      writer.put_particles("tracers", name, view_of(half));
    else
      writer.put_particles("tracers", name, view_of(boxes.cpu));
    EXPECT_THROW(writer.end_step(), Error);
    writer.close();
    EXPECT_FALSE(fs::exists(directory.path() / "plt"));
  }
}

TEST(NativeMpi, a_checkpoint_of_amrex_wants_a_time_step_and_keeps_ids_that_are_used_up) {
  const testing::SharedDirectory directory;
  const Boxes boxes = make_boxes(rank(), size());
  Writer writer(everyone(), header_of_boxes(), to_amrex(AmrexKind::checkpoint));
  const auto put_step = [&](const std::string& name, const std::vector<double>& dt) {
    writer.begin_step(directory.path() / name, 9, 0.25);
    if (!dt.empty()) writer.put_attribute("level_dt", dt);
    writer.put_attribute("amrex/next_id/tracers", std::int64_t{50000000000});
    writer.put_mesh(boxes.patches);
    writer.put_field("density", view_of(boxes.density));
    writer.put_particles("tracers", "position_x", view_of(boxes.x));
    writer.put_particles("tracers", "position_y", view_of(boxes.y));
    writer.put_particles("tracers", "id", view_of(boxes.id));
    writer.put_particles("tracers", "cpu", view_of(boxes.cpu));
    writer.end_step();
  };
  for (const std::vector<double>& dt : {std::vector<double>{}, std::vector<double>{0.0}}) {
    try {
      put_step("none", dt);
      ADD_FAILURE() << "written without a time step";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::usage);
      EXPECT_THAT(error.what(), HasSubstr("time step"));
    }
  }
  put_step("some", {0.5});
  writer.close();
  EXPECT_FALSE(fs::exists(directory.path() / "none"));
  EXPECT_EQ(formats::amrex::open_output(directory.path() / "some").particles.at(0).next_id, 50000000000);
}

TEST(NativeMpi, a_tree_becomes_a_plotfile_and_patches_become_a_flash_file) {
  const testing::SharedDirectory directory;
  const Blocks blocks = make_blocks(rank(), size());
  {
    Writer writer(everyone(), blocks.header, to_amrex());
    put(writer, blocks, directory.path() / "plt");
    writer.close();
    const auto output = formats::amrex::open_output(directory.path() / "plt");
    EXPECT_EQ(output.patches.domain[1], (IndexBox{{0, 0, 0}, {16, 8, 1}}));
    const mesh::Part part = formats::amrex::read_patches(output);
    std::size_t next = 0;
    const auto& patches = std::get<Patches>(part.mesh);
    for (std::size_t level = 0; level < 2; ++level)
      for (const IndexBox& box : patches.boxes[level])
        for_each_row(flat(box, 2), [&](const mesh::Index3& at, std::int64_t length) {
          for (std::int64_t x = 0; x < length; ++x, ++next)
            ASSERT_EQ(
                part.fields[0].as<double>()[next],
                value_in_cell(static_cast<double>(level), static_cast<double>(at[0] + x), static_cast<double>(at[1])));
        });
    EXPECT_EQ(next, 12u * 8);
  }
  if (!file::hdf5::available()) return;
  Boxes boxes = make_boxes(rank(), size());
  mesh::Header header = header_of_boxes();
  header.roots = {4, 4, 1};
  header.block = {4, 4, 1};
  Writer writer(everyone(), header, to_flash());
  writer.begin_step(directory.path() / "chk", 1, 0);
  writer.put_mesh(boxes.patches);
  writer.put_field("density", view_of(boxes.density));
  writer.end_step();
  writer.close();
  const mesh::Part part = read_whole(formats::flash::open(directory.path() / "chk"));
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  EXPECT_EQ(num_cells(tree), 16u + 24);
  EXPECT_EQ(part.fields[0].as<double>()[0], value_in_cell(0, 0, 0));
  MPI_Barrier(everyone());
}

TEST(NativeMpi, a_full_disk_fails_on_all_ranks_and_leaves_nothing) {
  const testing::SharedDirectory directory;
  const Boxes boxes = make_boxes(rank(), size());
  Writer writer(everyone(), header_of_boxes(), to_amrex());
  if (rank() == size() - 1)
    file::set_observer([](const file::Event& event) {
      const bool hit =
          event.operation == file::Operation::write && event.path.string().find("Cell_D") != std::string::npos;
      return hit ? file::Verdict{ENOSPC, 0} : file::Verdict{};
    });
  std::string message = "no error";
  try {
    put(writer, boxes, directory.path() / "plt");
    writer.wait();
  } catch (const Error& error) {
    message = error.what();
  }
  file::set_observer({});
  EXPECT_THAT(message, HasSubstr("No space left"));
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(message)) EXPECT_EQ(other, message);
  EXPECT_TRUE(fs::is_empty(directory.path()));
  MPI_Barrier(everyone());
  put(writer, boxes, directory.path() / "plt");
  writer.close();
  expect_boxes(directory.path() / "plt");
}

TEST(NativeMpi, ranks_that_disagree_are_told) {
  if (size() == 1) return;
  const testing::SharedDirectory directory;
  const Boxes boxes = make_boxes(rank(), size());
  Writer writer(everyone(), header_of_boxes(), to_amrex());
  writer.begin_step(directory.path() / "plt", 1, 0);
  writer.put_mesh(boxes.patches);
  writer.put_field(rank() == 0 ? "density" : "energy", view_of(boxes.density));
  try {
    writer.end_step();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("ranks disagree about the step"));
  }
}

}  // namespace
}  // namespace octavo::engine
