#include <gmock/gmock.h>

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/mesh/boxes.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

using testing::everyone;
using testing::rank;
using testing::size;

constexpr std::int64_t block_edge = 4;  // cells of a block along each axis

double value_at(int level, std::int64_t x, std::int64_t y) {
  return level * 1e6 + static_cast<double>(x) * 1e3 + static_cast<double>(y);
}

// 3 x 2 blocks in 2-D, two of them refined; a block in turn to each rank, parents too; a particle in each leaf.
struct Blocks {
  mesh::Header header;
  mesh::Octree tree;
  std::vector<double> density;
  std::vector<double> x, y;
  std::vector<std::int64_t> id;
};

Blocks make_blocks() {
  Blocks out;
  mesh::Octree& tree = out.tree;
  tree.dim = 2;
  tree.roots = {3, 2, 1};
  tree.block = {block_edge, block_edge, 1};
  tree.refined = {base::BitArray(6), base::BitArray(8)};
  tree.owned = tree.refined;
  tree.refined[0].set(1);
  tree.refined[0].set(5);
  auto at = root_coordinates(tree);
  std::size_t number = 0;
  for (int level = 0; level < 2; ++level) {
    const auto l = static_cast<std::size_t>(level);
    for (std::size_t i = 0; i < at.size(); ++i, ++number) {
      if (static_cast<int>(number) % size() == rank()) tree.owned[l].set(i);
      for (std::int64_t y = 0; y < block_edge; ++y)
        for (std::int64_t x = 0; x < block_edge; ++x)
          out.density.push_back(value_at(level, block_edge * at[i][0] + x, block_edge * at[i][1] + y));
      if (tree.refined[l][i] || !tree.owned[l][i]) continue;
      const double width = 1.0 / (1 << level);
      out.x.push_back((at[i][0] + 0.3) * width);
      out.y.push_back((at[i][1] + 0.6) * width);
      out.id.push_back(static_cast<std::int64_t>(number) + 1);
    }
    if (level == 0) at = child_coordinates(tree, level, at);
  }
  out.header.code = "test";
  out.header.dim = 2;
  out.header.roots = tree.roots;
  out.header.block = tree.block;
  out.header.hi = {3, 2, 1};
  return out;
}

const OutputOptions unsynced{.mode = Mode::sync, .sync = false};

// Collective.
std::filesystem::path write(const std::filesystem::path& folder, const Target& target) {
  const Blocks blocks = make_blocks();
  const auto path =
      folder / (std::get<FileTarget>(target).format == &formats::flash::row ? "run_hdf5_chk_0007" : "plt00007");
  Writer writer(everyone(), blocks.header, target);
  writer.begin_step(path, 7, 1.5);
  writer.put_mesh(blocks.tree);
  ArrayView view = view_of(blocks.density);
  view.cells = num_cells(blocks.tree);
  view.block = blocks.tree.block;
  writer.put_field("density", view);
  writer.put_particles("tracers", "position_x", view_of(blocks.x));
  writer.put_particles("tracers", "position_y", view_of(blocks.y));
  writer.put_particles("tracers", "id", view_of(blocks.id));
  writer.end_step();
  writer.close();
  return path;
}

// Cells of leaves that a share has, all of which must have their values.
std::int64_t check_leaves(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  const double* value = part.fields.at(0).as<double>().data();
  std::int64_t found = 0;
  auto at = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    for (std::size_t i = 0; i < at.size(); ++i, value += block_edge * block_edge) {
      if (!tree.owned[l][i] || tree.refined[l][i]) continue;
      found += block_edge * block_edge;
      for (std::int64_t c = 0; c < block_edge * block_edge; ++c)
        EXPECT_EQ(value[c],
                  value_at(level, block_edge * at[i][0] + c % block_edge, block_edge * at[i][1] + c / block_edge));
    }
    if (level + 1 < num_levels(tree)) at = child_coordinates(tree, level, at);
  }
  return found;
}

std::int64_t check_boxes(const mesh::Part& part) {
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  const double* value = part.fields.at(0).as<double>().data();
  std::int64_t found = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const mesh::IndexBox& box : patches.boxes[level])
      mesh::for_each_row(flat(box, 2), [&](const mesh::Index3& row, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x)
          EXPECT_EQ(*value++, value_at(static_cast<int>(level), row[0] + x, row[1]));
        found += length;
      });
  return found;
}

std::int64_t sum(MPI_Comm comm, std::int64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, comm);
  return mine;
}

TEST(RestartOutputMpi, by_own_names_an_output_is_blocks_and_boxes_on_any_ranks) {
  const testing::SharedDirectory directory;
  for (const Target& target : {Target(FlashTarget{unsynced}), Target(AmrexTarget{.options = unsynced})}) {
    const auto path = write(directory.path(), target);
    for (int ranks = 1; ranks <= size(); ++ranks) {
      const ranks::OwnComm comm = ranks::split(everyone(), rank() < ranks ? 0 : 1, rank());
      if (rank() < ranks)
        for (const MeshKind as : {MeshKind::octree, MeshKind::patches}) {
          RestartOptions options;
          options.as = as;
          options.block = mesh::Index3{block_edge, block_edge, 1};
          options.own_names = true;
          const auto from = restart(comm.get(), path, options);
          ASSERT_TRUE(from);
          EXPECT_EQ(from->id.step, 7);
          EXPECT_EQ(from->header.time, 1.5);
          EXPECT_EQ(from->part.fields.at(0).info.name, "density");
          const bool octree = as == MeshKind::octree;
          EXPECT_EQ(sum(comm.get(), octree ? check_leaves(from->part) : check_boxes(from->part)),
                    (octree ? 12 : 14) * block_edge * block_edge);
          EXPECT_EQ(sum(comm.get(), from->part.particles.empty() ? 0 : from->part.particles[0].count), 12);
        }
      MPI_Barrier(everyone());
    }
  }
}

TEST(RestartOutputMpi, a_run_that_refuses_a_step_on_one_rank_does_so_on_all) {
  const testing::SharedDirectory directory;
  EXPECT_FALSE(is_output(everyone(), directory.path()));
  EXPECT_FALSE(is_output(everyone(), directory.path() / "nowhere"));
  const auto path = write(directory.path(), FlashTarget{unsynced});
  EXPECT_TRUE(is_output(everyone(), path));
  RestartOptions options;
  options.check = [](const mesh::Header& header) {
    if (rank() == size() - 1) throw base::Error(base::Kind::usage, "not this " + header.code);
  };
  const std::string refusal = testing::message_of([&] { restart(everyone(), path, options); });
  EXPECT_THAT(refusal, ::testing::HasSubstr("not this FLASH"));
  testing::expect_same_everywhere(refusal);
}

}  // namespace
}  // namespace octavo::engine
