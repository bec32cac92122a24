#include "octavo/mesh/patches/patches_to_octree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "tests/support/random_patches.hpp"

namespace octavo::mesh {
namespace {

using testing::CellKey;
using testing::CellValues;
using ::testing::HasSubstr;
using testing::RandomPatches;
using testing::values_on;

const Patches& patches_of(const Part& part) { return std::get<Patches>(part.mesh); }
const Octree& tree_of(const Part& part) { return std::get<Octree>(part.mesh); }

PatchTree plan_of(const RandomPatches& made) {
  return plan_patch_tree(patches_of(made.part), made.unfolded, made.block);
}

// Where a cell of a level of the patches lies on the tree.
CellKey on_tree(const RandomPatches& made, const PatchTree& plan, const CellKey& key) {
  const auto level = static_cast<std::size_t>(key[0]);
  const Index3& corner = patches_of(made.part).domain[level].lo;
  return {plan.index[level], key[1] - corner[0], key[2] - corner[1], key[3] - corner[2]};
}

CellValues on_tree(const RandomPatches& made, const PatchTree& plan) {
  CellValues out;
  for (const auto& [key, value] : made.values) out[on_tree(made, plan, key)] = value;
  return out;
}

CellValues owned_values(const Part& part) {
  return values_on(tree_of(part), part.fields[0],
                   [&](std::size_t level, std::size_t i) { return tree_of(part).owned[level][i]; });
}
CellValues all_values(const Part& part) {
  return values_on(tree_of(part), part.fields[0], [](std::size_t, std::size_t) { return true; });
}

double mean_of_children(const CellValues& values, const CellKey& key, int dim) {
  double sum = 0;
  for (std::int64_t c = 0; c < std::int64_t{1} << dim; ++c) {
    CellKey child{key[0] + 1, 2 * key[1] + (c & 1), 0, 0};
    if (dim > 1) child[2] = 2 * key[2] + (c >> 1 & 1);
    if (dim > 2) child[3] = 2 * key[3] + (c >> 2);
    sum += values.at(child);
  }
  return sum / static_cast<double>(std::int64_t{1} << dim);
}

// The share of the domain that owned leaves fill: 1 if each place is covered once.
double filled(const Octree& tree) {
  double volume = 0;
  for (int level = 0; level < num_levels(tree); ++level)
    volume += static_cast<double>(num_owned_leaves(tree, level)) * std::exp2(-level * tree.dim);
  return volume / static_cast<double>(tree.roots[0] * tree.roots[1] * tree.roots[2]);
}

void expect_conversion(std::uint64_t seed, const testing::PatchesKind& kind) {
  SCOPED_TRACE(seed);
  const RandomPatches made = testing::random_patches(seed, kind);
  validate(patches_of(made.part));
  const PatchTree plan = plan_of(made);
  const Part part = patches_to_octree(made.part, plan);
  validate(tree_of(part));
  EXPECT_EQ(tree_of(part).block, made.block);
  EXPECT_DOUBLE_EQ(filled(tree_of(part)), 1);
  const CellValues expected = on_tree(made, plan), all = all_values(part), owned = owned_values(part);
  for (const auto& [key, value] : expected) ASSERT_EQ(all.at(key), value);
  for (const auto& [key, value] : all) {
    if (!expected.contains(key)) {
      EXPECT_EQ(value, mean_of_children(all, key, plan.dim));
    }
    EXPECT_EQ(owned.contains(key), key[0] >= plan.unfolded) << key[0];
  }
}

TEST(patches_to_octree, values_of_patches_move_bit_for_bit_and_only_missing_ones_are_means) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) expect_conversion(seed, {.keep_covered = true, .blocks = false});
}

TEST(patches_to_octree, coarse_values_that_patches_do_not_hold_under_finer_ones_are_means) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) expect_conversion(seed, {.keep_covered = false, .blocks = false});
}

TEST(patches_to_octree, blocks_of_any_size_move_as_cells_do) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) expect_conversion(seed, {.keep_covered = true, .blocks = true});
  for (std::uint64_t seed = 0; seed < 80; ++seed) expect_conversion(seed, {.keep_covered = false, .blocks = true});
}

TEST(patches_to_octree, and_back_gives_the_same_cells_whatever_the_boxes) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const RandomPatches made = testing::random_patches(seed, {.keep_covered = true, .blocks = seed % 2 == 1});
    const Part tree = patches_to_octree(made.part, plan_of(made));
    PatchOptions options{.unfolded = made.unfolded, .ratio = patches_of(made.part).ratio};
    options.corner = patches_of(made.part).domain[0].lo;
    options.max_box = 1 + static_cast<std::int64_t>(seed % 9);
    const Part back = octree_to_patches(tree, options);
    validate(patches_of(back));
    EXPECT_EQ(values_on(patches_of(back), back.fields[0]), made.values);
    const std::size_t levels = patches_of(back).domain.size();
    for (std::size_t level = 0; level < levels; ++level)
      EXPECT_EQ(patches_of(back).domain[level], patches_of(made.part).domain[level]);
    for (const auto& boxes : patches_of(back).boxes)
      for (const IndexBox& box : boxes)
        for (std::size_t axis = 0; axis < 3; ++axis)
          EXPECT_LE(box.hi[axis] - box.lo[axis], std::max(options.max_box, made.block[axis]));
  }
}

// Brute force: a block fits if it divides the level-0 domain, all boxes, and the coarse cells under them.
bool fits(const Patches& patches, std::size_t axis, std::int64_t block) {
  const std::int64_t extent = patches.domain[0].hi[axis] - patches.domain[0].lo[axis];
  bool fits = extent % block == 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const IndexBox& box : patches.boxes[level])
      for (const std::int64_t corner : {box.lo[axis], box.hi[axis]}) {
        const std::int64_t at = corner - patches.domain[level].lo[axis];
        fits = fits && at % block == 0 && (level == 0 || at % (block * patches.ratio[level - 1]) == 0);
      }
  return fits;
}

TEST(patches_to_octree, common_blocks_are_the_largest_that_fit) {
  std::set<std::int64_t> seen;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const RandomPatches made = testing::random_patches(seed, {.blocks = seed % 2 != 0});
    const Patches& patches = patches_of(made.part);
    const Index3 block = common_block(patches, 16);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::int64_t largest = 1;
      for (std::int64_t b = 2; b <= 16 && axis < static_cast<std::size_t>(patches.dim); b *= 2)
        if (fits(patches, axis, b)) largest = b;
      EXPECT_EQ(block[axis], largest) << "seed " << seed << ", axis " << axis;
      seen.insert(largest);
    }
  }
  EXPECT_GT(seen.size(), 1u);
}

TEST(patches_to_octree, a_box_of_a_large_level_holds_its_own_roots) {
  Part part;
  Patches patches;
  patches.domain = {{{0, 0, 0}, {1024, 1024, 1024}}};
  patches.boxes = {{{{8, 4, 2}, {12, 6, 4}}}};
  part.mesh = patches;
  part.fields.push_back(make_field({.name = "density", .unit = ""}, 16));
  for (std::size_t i = 0; i < 16; ++i) part.fields[0].as<double>()[i] = static_cast<double>(i);
  const Part made = patches_to_octree(part, plan_patch_tree(patches));
  const Octree& tree = tree_of(made);
  validate(tree);
  EXPECT_EQ(tree.held.size(), 4U);
  EXPECT_EQ(tree.held[1], (RootInterval{(2 * 1024 + 5) * 1024 + 8, (2 * 1024 + 5) * 1024 + 12}));
  EXPECT_EQ(num_cells(tree), 16U);
  EXPECT_EQ(made.fields[0].bytes, part.fields[0].bytes);
  const Part back = octree_to_patches(made, {});
  EXPECT_EQ(patches_of(back).boxes, patches.boxes);
  EXPECT_EQ(back.fields[0].bytes, part.fields[0].bytes);
}

TEST(patches_to_octree, a_part_without_boxes_holds_no_root) {
  Part part;
  Patches patches;
  patches.domain = {{{0, 0, 0}, {64, 64, 64}}};
  patches.boxes = {{}};
  part.mesh = patches;
  part.fields.push_back(make_field({.name = "density", .unit = ""}, 0));
  const Part made = patches_to_octree(part, plan_patch_tree(patches));
  validate(tree_of(made));
  EXPECT_EQ(num_cells(tree_of(made)), 0U);
}

TEST(patches_to_octree, parts_own_every_cell_once_with_the_values_of_the_whole) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const RandomPatches made = testing::random_patches(seed, {.keep_covered = seed % 3 != 0, .blocks = seed % 2 == 1});
    const PatchTree plan = plan_of(made);
    const CellValues whole = owned_values(patches_to_octree(made.part, plan));
    const auto regions = plan_patch_parts(patches_of(made.part), plan, 1 + static_cast<std::int64_t>(seed * 3));
    CellValues together;
    for (const IndexBox& region : regions) {
      // Looks up the values of boxes that are cut to a region, one by one.
      Part piece;
      piece.mesh = cut_patches(patches_of(made.part), region).patches;
      Field field = make_field(made.part.fields[0].info, 0);
      std::vector<double> values;
      for (std::size_t level = 0; level < patches_of(piece).boxes.size(); ++level)
        for (const IndexBox& box : patches_of(piece).boxes[level])
          for_each_row(box, [&](const Index3& at, std::int64_t length) {
            for (std::int64_t x = 0; x < length; ++x)
              values.push_back(made.values.at({static_cast<std::int64_t>(level), at[0] + x, at[1], at[2]}));
          });
      field.bytes.resize(values.size() * sizeof(double));
      if (!values.empty()) std::memcpy(field.bytes.data(), values.data(), field.bytes.size());
      piece.fields.push_back(std::move(field));
      const Part part = patches_to_octree(piece, plan);
      validate(tree_of(part));
      for (const auto& [key, value] : owned_values(part)) {
        EXPECT_TRUE(together.emplace(key, value).second) << "owned twice, level " << key[0];
      }
    }
    EXPECT_EQ(together, whole);
  }
}

// The boxes of some contributor, and of all others; the values go along.
struct Dealt {
  Part mine;
  Patches others;
};
std::vector<Dealt> deal(const RandomPatches& made, std::size_t contributors, std::uint64_t seed) {
  testing::Random random(seed);
  std::vector<Dealt> dealt(contributors);
  for (Dealt& to : dealt) {
    to.others = patches_of(made.part);
    for (auto& boxes : to.others.boxes) boxes.clear();
    to.mine.mesh = to.others;
    to.mine.fields.push_back(make_field(made.part.fields[0].info, 0));
  }
  std::size_t first = 0;
  const auto& bytes = made.part.fields[0].bytes;
  for (std::size_t level = 0; level < patches_of(made.part).boxes.size(); ++level)
    for (const IndexBox& box : patches_of(made.part).boxes[level]) {
      const std::size_t whose = random.below(contributors);
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(first * sizeof(double));
      const auto values = static_cast<std::ptrdiff_t>(num_cells(box, patches_of(made.part).dim));
      for (std::size_t c = 0; c < contributors; ++c) {
        if (c != whose) dealt[c].others.boxes[level].push_back(box);
        if (c != whose) continue;
        std::get<Patches>(dealt[c].mine.mesh).boxes[level].push_back(box);
        auto& to = dealt[c].mine.fields[0].bytes;
        to.insert(to.end(), from, from + values * static_cast<std::ptrdiff_t>(sizeof(double)));
      }
      first += static_cast<std::size_t>(values);
    }
  return dealt;
}

TEST(patches_to_octree, trees_of_contributors_merge_to_that_of_all_patches) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const RandomPatches made = testing::random_patches(seed, {.keep_covered = seed % 3 != 0, .blocks = seed % 2 == 1});
    const PatchTree plan = plan_of(made);
    const Part whole = patches_to_octree(made.part, plan);
    std::vector<Part> parts;
    CellValues together;
    for (const Dealt& dealt : deal(made, 1 + seed % 4, seed)) {
      parts.push_back(patches_to_octree(dealt.mine, plan, dealt.others));
      validate(tree_of(parts.back()));
      for (const auto& [key, value] : owned_values(parts.back())) {
        EXPECT_TRUE(together.emplace(key, value).second) << "owned twice, level " << key[0];
      }
    }
    EXPECT_EQ(tree_of(merge(parts)).refined, tree_of(whole).refined);
    const CellValues expected = owned_values(whole);
    for (const auto& [key, value] : on_tree(made, plan)) EXPECT_EQ(together.at(key), value);
    for (const auto& [key, value] : together) EXPECT_EQ(expected.at(key), value);
    // Nobody owns a mean of cells of several contributors. That happens only between levels whose ratio is 4.
    if (seed % 3 == 0) continue;
    for (const auto& [key, value] : expected)
      if (!together.contains(key)) {
        EXPECT_FALSE(std::binary_search(plan.index.begin(), plan.index.end(), static_cast<int>(key[0])));
      }
  }
}

TEST(patches_to_octree, no_part_is_larger_than_asked_unless_it_is_one_root) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomPatches made = testing::random_patches(seed);
    const PatchTree plan = plan_of(made);
    const auto regions = plan_patch_parts(patches_of(made.part), plan, 40);
    std::int64_t cells = 0;
    for (const IndexBox& region : regions) {
      std::int64_t here = 0;
      const PatchCut cut = cut_patches(patches_of(made.part), region);
      for (const auto& boxes : cut.patches.boxes)
        for (const IndexBox& box : boxes) here += num_cells(box, plan.dim);
      const bool one_root = num_cells(region, plan.dim) == std::int64_t{1} << (plan.unfolded * plan.dim);
      EXPECT_TRUE(here <= 40 || one_root) << here;
      cells += here;
    }
    EXPECT_EQ(cells, static_cast<std::int64_t>(made.values.size()));
  }
}

// --------------------------------------------------------------------------------------------------- refused input

Part example(std::vector<IndexBox> fine, int ratio = 2) {
  Patches patches;
  patches.dim = 2;
  patches.domain = {{{0, 0, 0}, {8, 4, 1}}, {{0, 0, 0}, {8 * ratio, 4 * ratio, 1}}};
  patches.ratio = {ratio};
  patches.boxes = {{{{0, 0, 0}, {8, 4, 1}}}, std::move(fine)};
  std::size_t cells = 0;
  for (const auto& boxes : patches.boxes)
    for (const IndexBox& box : boxes) cells += static_cast<std::size_t>(num_cells(box, 2));
  return {.index = 0, .mesh = patches, .fields = {make_field({.name = "phi", .unit = ""}, cells)}, .particles = {}};
}

std::pair<base::Kind, std::string> kind_and_text(const std::function<void()>& act) {
  try {
    act();
  } catch (const base::Error& error) {
    return {error.kind(), error.what()};
  }
  return {base::Kind::interrupted, "accepted"};
}

TEST(patches_to_octree, patches_that_cover_part_of_a_parent_cell_are_refused_and_listed) {
  const Part part = example({{{3, 2, 0}, {7, 4, 1}}});
  const auto [kind, text] = kind_and_text([&] { patches_to_octree(part, plan_patch_tree(patches_of(part))); });
  EXPECT_EQ(kind, base::Kind::unsupported);
  EXPECT_THAT(text, HasSubstr("not made of whole parent cells: 4 cells"));
  EXPECT_THAT(text, HasSubstr("tree level index 1, cell (2,2)"));
  // Two patches may cover it together.
  const Part good = example({{{3, 2, 0}, {7, 4, 1}}, {{2, 2, 0}, {3, 4, 1}}, {{7, 2, 0}, {8, 4, 1}}});
  EXPECT_EQ(kind_and_text([&] { patches_to_octree(good, plan_patch_tree(patches_of(good))); }).second, "accepted");
}

TEST(patches_to_octree, patches_that_are_not_whole_blocks_are_refused_and_named) {
  const Part part = example({{{2, 2, 0}, {6, 4, 1}}});
  const auto [kind, text] = kind_and_text([&] {
    patches_to_octree(part, plan_patch_tree(patches_of(part), 0, {4, 4, 1}));
  });
  EXPECT_EQ(kind, base::Kind::unsupported);
  EXPECT_THAT(text, HasSubstr("box [2,2 to 6,4) is not made of whole blocks of 4x4 cells"));
}

TEST(patches_to_octree, ratios_other_than_2_and_4_are_unsupported) {
  const Part part = example({{{3, 3, 0}, {6, 6, 1}}}, 3);
  const auto [kind, text] = kind_and_text([&] { plan_patch_tree(patches_of(part)); });
  EXPECT_EQ(kind, base::Kind::unsupported);
  EXPECT_THAT(text, HasSubstr("refinement ratio 3"));
}

TEST(patches_to_octree, means_of_integers_are_not_formed) {
  Part part = example({{{0, 0, 0}, {4, 4, 1}}}, 4);
  part.fields[0].info.type = ScalarType::int64;
  const auto [kind, text] = kind_and_text([&] { patches_to_octree(part, plan_patch_tree(patches_of(part))); });
  EXPECT_EQ(kind, base::Kind::unsupported);
  EXPECT_THAT(text, HasSubstr("a mean of integers is not formed"));
}

TEST(patches_to_octree, a_field_of_another_size_is_refused) {
  Part part = example({});
  part.fields[0].bytes.resize(8);
  EXPECT_EQ(kind_and_text([&] { patches_to_octree(part, plan_patch_tree(patches_of(part))); }).first,
            base::Kind::usage);
}

TEST(patches_to_octree, bits_of_nan_and_minus_zero_survive) {
  Part part = example({{{0, 0, 0}, {2, 2, 1}}});
  auto values = part.fields[0].as<double>();
  values[5] = std::bit_cast<double>(0x7FF0000000000123U);
  values[6] = -0.0;
  const Part tree = patches_to_octree(part, plan_patch_tree(patches_of(part)));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(tree.fields[0].as<double>()[5]), 0x7FF0000000000123U);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(tree.fields[0].as<double>()[6]), 0x8000000000000000U);
}

TEST(patches_to_octree, unfolding_stops_where_an_extent_is_odd) {
  Patches patches;
  patches.dim = 3;
  patches.domain = {{{0, 0, 0}, {512, 512, 512}}};
  EXPECT_EQ(unfolding_for(patches, 4096), 5);
  EXPECT_EQ(unfolding_for(patches, 512LL * 512 * 512), 0);
  patches.domain[0].hi[1] = 100;
  EXPECT_EQ(unfolding_for(patches, 4096), 2);
  patches.dim = 1;
  EXPECT_EQ(unfolding_for(patches, 4096), 0);
}

TEST(octree_to_patches, leaves_on_a_level_that_is_left_out_are_refused) {
  const Part part = example({{{0, 0, 0}, {4, 4, 1}}}, 2);
  const Part tree = patches_to_octree(part, plan_patch_tree(patches_of(part)));
  PatchOptions four;
  four.ratio = {4};
  const auto [kind, text] = kind_and_text([&] { octree_to_patches(tree, four); });
  EXPECT_EQ(kind, base::Kind::unsupported);
  EXPECT_THAT(text, HasSubstr("is none of the patches' levels, but has 16 leaves"));
}

TEST(octree_to_patches, any_tree_becomes_valid_patches_with_its_values) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    Part part;
    testing::TreeOptions options;
    options.max_cells = 3000;
    if (seed % 2 == 1) options.block = {2, 1, 1};
    part.mesh = testing::random_octree(seed, options);
    const std::size_t values = num_cells(tree_of(part)) * block_size(tree_of(part));
    part.fields.push_back(make_field({.name = "v", .unit = ""}, values));
    for (double& value : part.fields[0].as<double>()) value = random.uniform();
    PatchOptions eight;
    eight.max_box = 8;
    const Part patches = octree_to_patches(part, eight);
    validate(patches_of(patches));
    EXPECT_EQ(values_on(patches_of(patches), patches.fields[0]), owned_values(part));
    const Part again = patches_to_octree(patches, plan_patch_tree(patches_of(patches), 0, tree_of(part).block));
    EXPECT_EQ(tree_of(again), tree_of(part));
    EXPECT_EQ(again.fields, part.fields);
  }
}

TEST(merge_to_boxes, a_cube_becomes_one_box_unless_it_is_too_long) {
  std::vector<Index3> cells;
  for (std::int64_t i = 0; i < 64; ++i) cells.push_back({i % 4, i / 4 % 4, i / 16});
  EXPECT_EQ(merge_to_boxes(cells, {8, 8, 8}), (std::vector<IndexBox>{{{0, 0, 0}, {4, 4, 4}}}));
  EXPECT_EQ(merge_to_boxes(cells, {2, 4, 4}).size(), 2U);
  cells.pop_back();
  EXPECT_EQ(merge_to_boxes(cells, {8, 8, 8}).size(), 3U);
}

}  // namespace
}  // namespace octavo::mesh
