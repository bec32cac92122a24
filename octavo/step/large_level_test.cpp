#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "octavo/formats/amrex/write_dataset.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/regrid.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/peak_memory.hpp"
#include "tests/support/temporary_folder.hpp"

/// Steps whose level 0 is large. Plans need memory for the cells that parts hold, and of these for their bits.
namespace octavo::step {
namespace {

using mesh::Index3;
using mesh::IndexBox;
using octavo::testing::message_of;
using ::testing::HasSubstr;

constexpr std::int64_t mega = std::int64_t{1} << 20;

/// A part that holds a box of the roots, each of them a leaf.
mesh::Octree tree_of(const mesh::Header& header, const IndexBox& box) {
  mesh::Octree tree{.dim = 3, .roots = header.roots, .block = header.block, .refined = {}, .owned = {}, .held = {}};
  mesh::RootIntervals held;
  mesh::for_each_row(box, [&](const Index3& at, std::int64_t length) {
    const std::int64_t first = (at[2] * header.roots[1] + at[1]) * header.roots[0] + at[0];
    append(held, {first, first + length});
  });
  const std::size_t cells = count_roots(held);
  hold(tree, std::move(held));
  tree.refined = {base::BitArray(cells)};
  tree.owned = {base::BitArray(cells, true)};
  return tree;
}

/// A step without values, which makes its parts when they are read. It needs no memory.
mesh::Dataset step_of(std::int64_t cells, std::int64_t block, const std::vector<IndexBox>& boxes) {
  mesh::Dataset step;
  step.path = "a large step";
  step.header.roots = {cells / block, cells / block, cells / block};
  step.header.block = {block, block, block};
  step.header.hi = {1, 1, 1};
  step.header.fields = {{"density", "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}};
  step.num_parts = static_cast<int>(boxes.size());
  step.read = [header = step.header, boxes](int part, const mesh::Request& request) {
    mesh::Part out{part, tree_of(header, boxes[static_cast<std::size_t>(part)]), {}, {}};
    if (!request.fields || !request.fields->empty())
      out.fields = {mesh::make_field(header.fields[0], num_cells(octree_of(out)) * block_size(octree_of(out)))};
    return out;
  };
  step.part_bytes = [](int) { return 0; };
  return step;
}

/// Slabs that fill the domain.
mesh::Dataset whole_step(std::int64_t cells, std::int64_t block) {
  std::vector<IndexBox> slabs;
  const std::int64_t roots = cells / block;
  for (std::int64_t z = 0; z < roots; z += roots / 8) slabs.push_back({{0, 0, z}, {roots, roots, z + roots / 8}});
  return step_of(cells, block, slabs);
}

/// The most memory that work takes more than there was; nothing where the system does not tell.
std::optional<std::int64_t> cost_of(const std::function<void()>& work) {
  if (!octavo::testing::reset_peak()) return {};
  const std::int64_t before = octavo::testing::peak_memory();
  work();
  return octavo::testing::peak_memory() - before;
}

void expect_below(std::int64_t most, const std::string& what, const std::function<void()>& work) {
  const auto cost = cost_of(work);
  if (!cost) GTEST_SKIP() << "the peak of memory cannot be reset here";
  EXPECT_LT(*cost, most) << what;
  std::printf("    %-28s %7.2f MB\n", what.c_str(), static_cast<double>(*cost) / 1e6);
}

TEST(LargeLevel, a_step_with_few_of_its_roots_is_refused_without_memory_for_the_others) {
  const octavo::testing::TemporaryFolder folder;
  const IndexBox low{{32, 32, 32}, {64, 64, 64}}, high{{4000, 4032, 4064}, {4032, 4064, 4096}};
  const mesh::Dataset step = step_of(4096, 1, {low, high});
  const std::string holes =
      "does not hold the whole domain: expected 68719476736 cells on tree level index 0, found 65536";
  RegridJob job;
  job.how.block = {16, 16, 16};
  const std::vector<std::pair<std::string, std::function<void()>>> plans{
      {"whole tree", [&] { mesh::whole_tree(step, 0); }},
      {"regrid", [&] { regrid(step, job); }},
      {"FLASH", [&] { formats::flash::write_flash(step, folder.path() / "flash_hdf5_chk_0000"); }},
      {"AMReX", [&] { formats::amrex::write_dataset(step, folder.path() / "plt00000"); }}};
  for (const auto& plan : plans)
    expect_below(8 * mega, plan.first, [&] { EXPECT_THAT(message_of(plan.second), HasSubstr(holes)); });
}

// Levels above those of the boxes hold no values, so no cell is missing where none of them has a root.
TEST(LargeLevel, holes_above_the_coarsest_boxes_are_no_reason_to_allocate_them) {
  mesh::Dataset step = step_of(4096, 1, {{{32, 32, 32}, {64, 64, 64}}});
  step.header.unfolded = 1;
  step.read = [read = step.read](int part, const mesh::Request& request) {
    mesh::Part out = read(part, request);
    auto& tree = std::get<mesh::Octree>(out.mesh);
    const std::size_t roots = num_cells(tree, 0);
    tree.refined = {base::BitArray(roots, true), base::BitArray(8 * roots)};
    tree.owned = {base::BitArray(roots), base::BitArray(8 * roots, true)};
    return out;
  };
  expect_below(8 * mega, "whole tree with holes", [&] { EXPECT_EQ(num_cells(mesh::whole_tree(step, 1), 0), 32768U); });
  expect_below(8 * mega, "regrid with holes", [&] {
    EXPECT_THAT(message_of([&] { regrid(step, {}); }), HasSubstr("expected 68719476736 roots, found 32768"));
  });
}

// 256^3 roots: their bits are 4 MB in the parts, 4 MB in the whole tree.
TEST(LargeLevel, boxes_of_AMReX_are_planned_from_bits) {
  const mesh::Dataset step = whole_step(256, 1);
  formats::amrex::BoxLayout layout;
  expect_below(24 * mega, "AMReX",
               [&] { layout = formats::amrex::plan_layout(step.header, mesh::whole_tree(step, 0), {}); });
  EXPECT_EQ(layout.patches.boxes.at(0).size(), 64U);
}

TEST(LargeLevel, blocks_are_folded_and_unfolded_from_bits) {
  RegridJob fold;
  fold.how.block = {16, 16, 16};
  Regridded folded, unfolded;
  expect_below(24 * mega, "cells to blocks", [&] { folded = regrid(whole_step(256, 1), fold); });
  EXPECT_EQ(folded.dataset.header.roots, (Index3{16, 16, 16}));
  expect_below(24 * mega, "blocks to cells", [&] { unfolded = regrid(whole_step(256, 16), {}); });
  EXPECT_EQ(unfolded.dataset.num_parts, 16);
  std::size_t owned = 0;
  expect_below(2 * mega, "a part of cells", [&] {
    for (int part = 0; part < unfolded.dataset.num_parts; ++part)
      owned += num_owned(octree_of(mesh::read_tree(unfolded.dataset, part)), 0);
  });
  EXPECT_EQ(owned, std::size_t{256} * 256 * 256);
}

}  // namespace
}  // namespace octavo::step
