#include <gtest/gtest.h>

#include <numeric>

#include "octavo/engine/write/writer.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/read_box.hpp"
#include "tests/support/mpi_run.hpp"

/// Each rank reads another box of a step that all ranks wrote.
namespace octavo::engine {
namespace {

using mesh::Index3;
using mesh::IndexBox;
using testing::everyone;
using testing::rank;

constexpr std::int64_t cells_across = 24;            // cells of level 0
constexpr IndexBox fine{{8, 16, 24}, {32, 40, 40}};  // of level 1

double value_of_cell(int level, const Index3& at) {
  return 1e6 * level + 1e4 * double(at[0]) + 100 * double(at[1]) + double(at[2]);
}

// Slabs of a box across z, a multiple of 4 cells thick, for each rank one.
std::vector<IndexBox> slab_of(IndexBox box) {
  const std::int64_t blocks = (box.hi[2] - box.lo[2]) / 4, low = box.lo[2];
  box.lo[2] = low + 4 * (blocks * rank() / testing::size());
  box.hi[2] = low + 4 * (blocks * (rank() + 1) / testing::size());
  if (box.lo[2] == box.hi[2]) return {};
  return {box};
}

void write(const std::filesystem::path& store, std::int64_t block) {
  mesh::Header header;
  header.code = "test";
  header.roots = {cells_across / block, cells_across / block, cells_across / block};
  header.block = {block, block, block};
  mesh::Patches patches;
  patches.domain = {{{0, 0, 0}, {cells_across, cells_across, cells_across}},
                    {{0, 0, 0}, {2 * cells_across, 2 * cells_across, 2 * cells_across}}};
  patches.ratio = {2};
  patches.boxes = {slab_of(patches.domain[0]), slab_of(fine)};
  std::vector<double> values;
  for (int level = 0; level < 2; ++level)
    for (const IndexBox& box : patches.boxes[static_cast<std::size_t>(level)])
      for_each_row(box, [&](const Index3& at, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x) values.push_back(value_of_cell(level, {at[0] + x, at[1], at[2]}));
      });
  Options options;
  options.mode = Mode::sync;
  options.checkpoint.codec.method = block == 1 ? codec::Method::raw : codec::Method::automatic;
  Writer writer(everyone(), store, header, options);
  writer.begin_step(store::Flow::checkpoint, 1, 0.5);
  writer.put_mesh(patches);
  writer.put_field("density", view_of(std::span<const double>(values)));
  writer.end_step();
  writer.close();
}

// The value of the finest cell that is not finer than the level.
double expected_at(int level, const Index3& at) {
  if (level == 0) return value_of_cell(0, at);
  const Index3 on_1{at[0] >> (level - 1), at[1] >> (level - 1), at[2] >> (level - 1)};
  if (holds(fine, on_1, 3)) return value_of_cell(1, on_1);
  return value_of_cell(0, {on_1[0] >> 1, on_1[1] >> 1, on_1[2] >> 1});
}

void expect_box(const mesh::Dataset& dataset, int level, const IndexBox& box) {
  const auto count = static_cast<std::size_t>(num_cells(box, 3));
  std::vector<double> values(count, -1), expected;
  for_each_row(box, [&](const Index3& at, std::int64_t length) {
    for (std::int64_t x = 0; x < length; ++x) expected.push_back(expected_at(level, {at[0] + x, at[1], at[2]}));
  });
  step::BoxMemory array;
  array.values = values.data();
  EXPECT_EQ(read_box(dataset, "density", level, box, array), 0);
  EXPECT_EQ(values, expected) << "level " << level << ", box " << describe(box, 3);
}

TEST(RestartMpi, each_rank_reads_its_own_box_of_what_all_wrote_as_boxes) {
  for (const std::int64_t block : {1, 4}) {
    testing::SharedDirectory directory;
    write(directory.path() / "s", block);
    const mesh::Dataset dataset = step::open(directory.path() / "s", {store::Flow::checkpoint, {}});
    testing::Random random(static_cast<std::uint64_t>(rank() + 1));
    for (int i = 0; i < 12; ++i) {
      const int level = i % 3;
      IndexBox box;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        box.lo[axis] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(cells_across << level)));
        box.hi[axis] =
            std::min((cells_across << level), box.lo[axis] + 1 + static_cast<std::int64_t>(random.below(20)));
      }
      expect_box(dataset, level, box);
    }
  }
}

}  // namespace
}  // namespace octavo::engine
