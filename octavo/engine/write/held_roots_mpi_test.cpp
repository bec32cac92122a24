#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/step/counted_memory.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/tree_index.hpp"
#include "tests/support/mpi_run.hpp"

/// Each rank holds one box of 32^3 cells of a large level 0: it pays for these alone.
namespace octavo::engine {
namespace {

using mesh::Index3;
using mesh::IndexBox;
using testing::everyone;
using testing::rank;

constexpr std::int64_t edge = 32;
constexpr std::size_t box_cells = edge * edge * edge;
constexpr std::size_t own_bytes = box_cells * sizeof(double);
constexpr std::int64_t most_bytes = 3 * own_bytes + (std::int64_t{8} << 20);

mesh::Header header_of(std::int64_t cells, std::int64_t block) {
  mesh::Header header;
  header.code = "test";
  header.roots = {cells / block, cells / block, cells / block};
  header.block = {block, block, block};
  header.hi = {1, 1, 1};
  return header;
}

// Boxes follow one another along y; none lies at the domain's corner.
IndexBox box_of(int rank) {
  const std::int64_t y = edge * (rank + 1);
  return {{edge, y, edge}, {2 * edge, y + edge, 2 * edge}};
}

mesh::Patches patches_of(std::int64_t cells, int rank) {
  mesh::Patches patches;
  patches.dim = 3;
  patches.domain = {{{0, 0, 0}, {cells, cells, cells}}};
  patches.boxes = {{box_of(rank)}};
  return patches;
}

// The cells of the box as roots.
mesh::Octree tree_of(std::int64_t cells, int rank) {
  mesh::Octree tree;
  tree.roots = {cells, cells, cells};
  mesh::RootIntervals held;
  for_each_row(box_of(rank), [&](const Index3& at, std::int64_t length) {
    const std::int64_t first = (at[2] * cells + at[1]) * cells + at[0];
    append(held, {first, first + length});
  });
  hold(tree, std::move(held));
  tree.refined = {base::BitArray(box_cells)};
  tree.owned = {base::BitArray(box_cells, true)};
  return tree;
}

// A value that follows from the cell, so that a value that came to another place is seen.
double value_at(const Index3& at) {
  return static_cast<double>(at[0]) + 1e-3 * static_cast<double>(at[1]) + 1e-6 * static_cast<double>(at[2]);
}

std::vector<double> values_of(int rank) {
  std::vector<double> values;
  for_each_row(box_of(rank), [&](const Index3& at, std::int64_t length) {
    for (std::int64_t x = 0; x < length; ++x) values.push_back(value_at({at[0] + x, at[1], at[2]}));
  });
  return values;
}

// Runs work; the memory that it took more than there was, and its largest piece.
struct Cost {
  std::int64_t bytes = 0;
  std::size_t largest = 0;
};
template <class Work>
Cost memory_of(Work&& work) {
  testing::largest_allocation = 0;
  const std::int64_t before = testing::allocated;
  testing::most_allocated = before;
  work();
  return {testing::most_allocated - before, testing::largest_allocation};
}

void expect_small(const Cost& cost, const std::string& what) {
  EXPECT_LT(cost.bytes, most_bytes) << what;
  EXPECT_LT(cost.largest, static_cast<std::size_t>(most_bytes)) << what;
  if (rank() == 0)
    std::printf("    %-28s %6.2f MB, largest piece %6.2f MB\n", what.c_str(), static_cast<double>(cost.bytes) / 1e6,
                static_cast<double>(cost.largest) / 1e6);
}

enum class Put { patches, blocks, roots };

void write(const std::filesystem::path& store, std::int64_t cells, Put put) {
  Options options;
  options.mode = Mode::sync;
  Writer writer(everyone(), store, header_of(cells, put == Put::blocks ? edge : 1), options);
  const auto values = values_of(rank());
  writer.begin_step(store::Flow::checkpoint, 1, 0.5);
  if (put == Put::roots)
    writer.put_mesh(tree_of(cells, rank()));
  else
    writer.put_mesh(patches_of(cells, rank()));
  writer.put_field("density", view_of(std::span(values)));
  writer.end_step();
  writer.close();
}

// Every cell's value is that of its place; how many there are.
std::size_t check_values(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  const auto at = root_coordinates(tree);
  const auto values = part.fields.at(0).as<double>();
  std::size_t wrong = 0, next = 0;
  for (const mesh::Coordinate& corner : at)
    mesh::for_each_row({{0, 0, 0}, tree.block}, [&](const Index3& row, std::int64_t length) {
      for (std::int64_t x = 0; x < length; ++x)
        wrong += values[next++] != value_at({corner[0] * tree.block[0] + x, corner[1] * tree.block[1] + row[1],
                                             corner[2] * tree.block[2] + row[2]});
    });
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(next, values.size());
  return next;
}

void expect_all_cells(std::size_t mine) {
  auto all = static_cast<std::uint64_t>(mine);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, everyone());
  EXPECT_EQ(all, box_cells * static_cast<std::size_t>(testing::size()));
}

void write_and_restart(std::int64_t cells, Put put, const std::string& name) {
  testing::SharedDirectory directory;
  const auto store = directory.path() / "run.octavo";
  expect_small(memory_of([&] { write(store, cells, put); }), name + " written");
  for (const bool keep : {true, false}) {
    RestartOptions options;
    options.keep_parts = keep;
    std::optional<Restart> found;
    const Cost cost = memory_of([&] { found = restart(everyone(), store, options); });
    ASSERT_TRUE(found);
    expect_small(cost, name + (keep ? " restarted" : " shared out"));
    expect_all_cells(check_values(found->part));
  }
}

void write_and_restart(std::int64_t cells) {
  write_and_restart(cells, Put::patches, "patches " + std::to_string(cells));
  write_and_restart(cells, Put::blocks, "blocks " + std::to_string(cells));
  write_and_restart(cells, Put::roots, "cells " + std::to_string(cells));
}

TEST(PatchesMpi, a_rank_with_a_box_of_a_level_of_256_cubed_cells_pays_for_the_box) { write_and_restart(256); }
TEST(PatchesMpi, a_rank_with_a_box_of_a_level_of_1024_cubed_cells_pays_for_the_box) { write_and_restart(1024); }

TEST(PatchesMpi, a_rank_with_a_box_of_a_level_of_16384_cubed_cells_pays_for_the_box) { write_and_restart(16384); }

TEST(PatchesMpi, a_rank_without_boxes_or_roots_writes_an_empty_part) {
  for (const Put put : {Put::patches, Put::roots}) {
    testing::SharedDirectory directory;
    const auto store = directory.path() / "run.octavo";
    const bool none = rank() % 2 == 1;
    const auto values = none ? std::vector<double>{} : values_of(rank());
    {
      Writer writer(everyone(), store, header_of(256, 1), {});
      writer.begin_step(store::Flow::checkpoint, 1, 0.5);
      mesh::Patches patches = patches_of(256, rank());
      mesh::Octree tree = tree_of(256, rank());
      if (none) {
        patches.boxes = {{}};
        tree.held.clear();
        tree.refined = tree.owned = {base::BitArray()};
      }
      if (put == Put::roots)
        writer.put_mesh(tree);
      else
        writer.put_mesh(patches);
      writer.put_field("density", view_of(std::span(values)));
      writer.end_step();
      writer.close();
    }
    const auto found = restart(everyone(), store, {});
    ASSERT_TRUE(found);
    auto all = static_cast<std::uint64_t>(check_values(found->part));
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, everyone());
    EXPECT_EQ(all, box_cells * static_cast<std::size_t>((testing::size() + 1) / 2));
  }
}

}  // namespace
}  // namespace octavo::engine
