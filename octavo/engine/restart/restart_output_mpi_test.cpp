#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/amrex/output.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/tree_index.hpp"
#include "octavo/step/finer.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/write.hpp"
#include "tests/support/amrex_fixture.hpp"
#include "tests/support/amrex_whole.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/random_octree.hpp"

// A run starts from what another code wrote.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using testing::barrier;
using testing::CellMap;
using testing::everyone;
using testing::expect_same_everywhere;
using ::testing::HasSubstr;
using testing::message_of;
using testing::rank;
using testing::SharedDirectory;
using testing::size;

// The cells of all ranks, each owned once. Collective.
CellMap gather(const CellMap& mine) {
  struct Row {
    testing::CellAt at;
    double value;
  };
  std::string text;
  for (const auto& [at, value] : mine) {
    const Row row{at, value};
    text.append(reinterpret_cast<const char*>(&row), sizeof row);
  }
  CellMap all;
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(text))
    for (std::size_t i = 0; i < other.size(); i += sizeof(Row)) {
      Row row;
      std::memcpy(&row, other.data() + i, sizeof row);
      EXPECT_TRUE(all.emplace(row.at, row.value).second) << "owned twice";
    }
  return all;
}

CellMap cells_of(const Restart& start, const std::string& field) {
  return testing::cells_of_step(testing::step_of(start.header, {start.part}), field).all;
}

CellMap cells_of_boxes(const Restart& start) {
  const auto& patches = std::get<mesh::Patches>(start.part.mesh);
  const auto values = start.part.fields[0].as<double>();
  CellMap cells;
  std::size_t k = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
    const mesh::IndexBox& domain = patches.domain[level];
    for (const mesh::IndexBox& box : patches.boxes[level])
      for (std::int64_t z = box.lo[2]; z < box.hi[2]; ++z)
        for (std::int64_t y = box.lo[1]; y < box.hi[1]; ++y)
          for (std::int64_t x = box.lo[0]; x < box.hi[0]; ++x)
            cells[{domain.hi[0] - domain.lo[0], x - domain.lo[0], y - domain.lo[1], z - domain.lo[2]}] = values[k++];
  }
  EXPECT_EQ(k, values.size());
  return cells;
}

std::int64_t particles_of_all(const Restart& start) {
  std::int64_t count = 0;
  for (const mesh::Particles& species : start.part.particles) count += species.count;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, everyone());
  return count;
}

std::int64_t particles_of(const mesh::Dataset& dataset) {
  std::int64_t count = 0;
  for (const mesh::SpeciesInfo& species : dataset.species) count += species.count;
  return count;
}

struct Output {
  SharedDirectory directory;
  fs::path path;
  std::string field;
};

void write_amrex(Output& output, bool checkpoint, int ratio = 2) {
  output.path = output.directory.path() / (checkpoint ? "chk00007" : "plt00007");
  testing::AmrexFixture fixture;
  fixture.with_particles = fixture.packed = true;
  fixture.ratio = ratio;
  if (rank() == 0)
    testing::put_files(output.path,
                       checkpoint ? testing::amrex_core_checkpoint(fixture) : testing::amrex_plotfile(fixture));
  barrier();
  output.field = step::open(output.path).header.fields[0].name;
}

// Blocks of 2 x 2 cells.
void write_flash(Output& output) {
  write_amrex(output, false);
  const fs::path amrex = std::exchange(output.path, output.directory.path() / "run_hdf5_chk_0003");
  formats::WriteRequest options;
  options.to = "flash";
  options.block = 2;
  options.rename["two words"] = "two";
  if (rank() == 0) step::write(step::open(amrex), output.path, options);
  barrier();
  output.field = step::open(output.path).header.fields[0].name;
}

void expect_same_step(const Output& output) {
  const mesh::Dataset whole = step::open(output.path);
  const auto start = restart(everyone(), output.path);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->id.step, 7);
  mesh::Header header = whole.header;
  if (header.code == "FLASH") header.attributes["flash/file number"] = std::int64_t{3};
  EXPECT_EQ(start->header, header);
  EXPECT_TRUE(testing::same(gather(cells_of(*start, output.field)), testing::cells_of_step(whole, output.field).all));
  EXPECT_EQ(particles_of_all(*start), particles_of(whole));
  // The number that it returned finds it, too.
  RestartOptions by_number;
  by_number.step = 7;
  EXPECT_EQ(restart(everyone(), output.path, by_number)->id.step, 7);
}

TEST(RestartOutputMpi, a_flash_checkpoint_is_shared_by_any_number_of_ranks) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  Output output;
  write_flash(output);
  expect_same_step(output);
}

TEST(RestartOutputMpi, amrex_outputs_are_shared_by_any_number_of_ranks) {
  for (const bool checkpoint : {false, true}) {
    Output output;
    write_amrex(output, checkpoint);
    expect_same_step(output);
  }
}

TEST(RestartOutputMpi, blocks_of_flash_become_boxes) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  Output output;
  write_flash(output);
  RestartOptions options;
  options.as = MeshKind::patches;
  options.fields = {{output.field}};
  const auto start = restart(everyone(), output.path, options);
  EXPECT_TRUE(
      testing::same(gather(cells_of_boxes(*start)), testing::cells_of_step(step::open(output.path), output.field).all));
}

TEST(RestartOutputMpi, boxes_of_amrex_keep_their_levels_and_ratio) {
  for (const int ratio : {2, 4}) {
    Output output;
    write_amrex(output, false, ratio);
    RestartOptions options;
    options.as = MeshKind::patches;
    options.fields = {{output.field}};
    const auto start = restart(everyone(), output.path, options);
    EXPECT_EQ(std::get<mesh::Patches>(start->part.mesh).ratio, std::vector<int>{ratio});
    // Only the levels that AMReX has: 8 cells, and those of the refined ones.
    CellMap expected = testing::cells_of_step(step::open(output.path), output.field).all;
    std::erase_if(expected, [&](const auto& cell) { return cell.first[0] != 8 && cell.first[0] != 8 * ratio; });
    EXPECT_TRUE(testing::same(gather(cells_of_boxes(*start)), expected));
  }
}

TEST(RestartOutputMpi, boxes_of_amrex_become_blocks_with_their_particles) {
  Output output;
  write_amrex(output, true);
  RestartOptions options;
  options.block = mesh::Index3{2, 2, 1};
  const auto start = restart(everyone(), output.path, options);
  EXPECT_EQ(std::get<mesh::Octree>(start->part.mesh).block, (mesh::Index3{2, 2, 1}));
  const CellMap all = gather(cells_of(*start, output.field));
  const testing::AllCells expected = testing::cells_of_step(step::open(output.path), output.field);
  for (const auto& [at, value] : expected.leaves) EXPECT_EQ(all.at(at), value);
  EXPECT_EQ(particles_of_all(*start), particles_of(step::open(output.path)));
}

// Particles all over the domain, also on its borders, beside the patches of the fixture.
void add_many_particles(const fs::path& path, std::int64_t count) {
  const auto output = formats::amrex::open_output(path);
  mesh::Part part = formats::amrex::read_patches(output);
  testing::Random random(7);
  std::vector<std::vector<double>> position(2);
  for (std::size_t axis = 0; axis < 2; ++axis)
    for (std::int64_t i = 0; i < count; ++i)
      position[axis].push_back(output.header.lo[axis] +
                               (i == 0 ? 0 : random.uniform()) * (output.header.hi[axis] - output.header.lo[axis]));
  part.particles = {
      {"dust", count, {mesh::attribute_of("position_x", position[0]), mesh::attribute_of("position_y", position[1])}}};
  formats::amrex::write_plotfile(path.string() + "_dust", output.header, part);
}

// Tree cell of this rank's share in which a particle lies, at its deepest level.
bool is_in_own_leaf(const mesh::Octree& tree, const mesh::TreeIndex& index, const mesh::Header& header,
                    const std::array<double, 2>& position) {
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (int level = 0; level < num_levels(tree); ++level) {
    mesh::Index3 at{0, 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis)
      at[axis] = static_cast<std::int64_t>((position[axis] - header.lo[axis]) / (header.hi[axis] - header.lo[axis]) *
                                           static_cast<double>(tree.roots[axis] << level));
    if (const auto cell = index.find(level, at)) found = {static_cast<std::size_t>(level), *cell};
  }
  return found && tree.owned[found->first][found->second] && !tree.refined[found->first][found->second];
}

TEST(RestartOutputMpi, particles_go_to_the_rank_that_owns_their_cell_in_any_blocks) {
  Output output;
  write_amrex(output, false);
  const std::int64_t count = 77;
  if (rank() == 0) add_many_particles(output.path, count);
  barrier();
  using Blocks = std::optional<mesh::Index3>;
  for (const Blocks& block : {Blocks{}, Blocks{{1, 1, 1}}, Blocks{{2, 2, 1}}, Blocks{{4, 4, 1}}}) {
    RestartOptions options;
    options.block = block;
    options.fill = true;
    const auto start = restart(everyone(), output.path.string() + "_dust", options);
    EXPECT_EQ(particles_of_all(*start), count);
    const auto& tree = std::get<mesh::Octree>(start->part.mesh);
    const mesh::TreeIndex index(tree);
    for (const mesh::Particles& species : start->part.particles)
      for (std::size_t i = 0; i < static_cast<std::size_t>(species.count); ++i)
        EXPECT_TRUE(is_in_own_leaf(tree, index, start->header,
                                   {species.attributes[0].as<double>()[i], species.attributes[1].as<double>()[i]}))
            << "particle " << i << " of rank " << rank() << ", blocks " << (block ? (*block)[0] : 0);
  }
}

TEST(RestartOutputMpi, a_finer_mesh_has_the_coarser_cells_and_more) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  Output output;
  write_flash(output);
  RestartOptions options;
  options.refine = 1;
  options.fields = {{output.field}};
  const auto start = restart(everyone(), output.path, options);
  const CellMap all = gather(cells_of(*start, output.field));
  const CellMap before = testing::cells_of_step(step::open(output.path), output.field).all;
  for (const auto& [at, value] : before) EXPECT_EQ(all.at(at), value);
  const auto finest = [&](const CellMap& cells) {
    const std::int64_t width = cells.rbegin()->first[0];
    return std::count_if(cells.begin(), cells.end(), [&](const auto& cell) { return cell.first[0] == width; });
  };
  EXPECT_EQ(all.rbegin()->first[0], 2 * before.rbegin()->first[0]);
  EXPECT_EQ(finest(all), 4 * finest(before));
}

// 16 blocks of 4 x 4 cells, with a density and a mass fraction.
mesh::Dataset mixture() {
  mesh::Part part;
  part.mesh = mesh::Octree{2, {4, 4, 1}, {4, 4, 1}, {base::BitArray(16)}, {base::BitArray(16, true)}};
  testing::Random random(7);
  for (const char* name : {"dens", "h1"}) {
    const mesh::FieldInfo info{name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0};
    part.fields.push_back(mesh::make_field(info, 256));
    for (double& value : part.fields.back().as<double>()) value = 0.1 + random.uniform();
  }
  mesh::Header header;
  header.code = "FLASH";
  return testing::step_of(header, {part});
}

TEST(RestartOutputMpi, a_finer_mesh_is_weighted_by_a_density_that_nobody_asked_for) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const SharedDirectory directory;
  const fs::path path = directory.path() / "run_hdf5_chk_0001";
  if (rank() == 0) formats::flash::write_flash(mixture(), path);
  barrier();
  RestartOptions options;
  options.refine = 1;
  options.fields = {{"h1"}};
  options.per_mass = {"h1"};
  const auto start = restart(everyone(), path, options);
  EXPECT_EQ(start->part.fields.size(), 1u);
  const mesh::Dataset whole = step::open(path);
  const CellMap expected = testing::cells_of_step(step::finer(whole, 1, mesh::FillBy::linear, {"h1"}), "h1").all;
  EXPECT_TRUE(testing::same(gather(cells_of(*start, "h1")), expected));
  EXPECT_FALSE(testing::same(expected, testing::cells_of_step(step::finer(whole, 1), "h1").all));
}

TEST(RestartOutputMpi, a_store_begun_from_an_output_goes_on_by_itself) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  Output output;
  write_flash(output);
  RestartOptions options;
  options.fields = {{output.field}};
  const auto start = restart(everyone(), output.path, options);
  const fs::path store = output.directory.path() / "run.octavo";
  Options how;
  how.mode = testing::single_threaded() ? Mode::sync : Mode::background;
  Writer writer(everyone(), store, start->header, how, start->id);
  writer.begin_step(store::Flow::checkpoint, 7, start->header.time);
  const auto& tree = std::get<mesh::Octree>(start->part.mesh);
  writer.put_mesh(tree);
  ArrayView view = view_of(start->part.fields[0].as<double>());
  view.block = tree.block;
  view.cells = num_cells(tree);
  writer.put_field(output.field, view);
  writer.end_step();
  writer.close();
  barrier();
  EXPECT_TRUE(testing::same(testing::cells_of_step(step::open(store), output.field).all,
                            testing::cells_of_step(step::open(output.path), output.field).all));
}

TEST(RestartOutputMpi, what_is_wrong_with_an_output_is_told_to_all) {
  Output output;
  write_amrex(output, false);
  RestartOptions options;
  options.step = 8;
  const std::string other = message_of([&] { restart(everyone(), output.path, options); });
  EXPECT_THAT(other, HasSubstr("one step"));
  expect_same_everywhere(other);
  if (rank() == 0) fs::remove_all(output.path / "Level_1");
  barrier();
  const std::string gone = message_of([&] { restart(everyone(), output.path); });
  EXPECT_THAT(gone, HasSubstr("Level_1"));
  expect_same_everywhere(gone);
}

}  // namespace
}  // namespace octavo::engine
