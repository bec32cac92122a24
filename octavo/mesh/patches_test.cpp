#include "octavo/mesh/patches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Patches& patches) {
  try {
    validate(patches);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    return error.what();
  }
  return "accepted";
}

Patches example() {
  Patches patches;
  patches.dim = 2;
  patches.domain = {{{0, 0, 0}, {16, 8, 0}}, {{0, 0, 0}, {32, 16, 0}}, {{0, 0, 0}, {128, 64, 0}}};
  patches.ratio = {2, 4};
  patches.boxes = {{{{0, 0, 0}, {8, 8, 0}}, {{8, 0, 0}, {16, 8, 0}}}, {{{4, 4, 0}, {12, 8, 0}}}, {}};
  return patches;
}

TEST(patches, good_ones_are_accepted) {
  EXPECT_EQ(refusal(example()), "accepted");
  Patches shifted = example();
  shifted.domain = {{{-4, 2, 0}, {12, 10, 0}}, {{-8, 4, 0}, {24, 20, 0}}, {{-32, 16, 0}, {96, 80, 0}}};
  shifted.boxes = {{{{-4, 2, 0}, {12, 10, 0}}}, {}, {{{-32, 16, 0}, {-31, 17, 0}}}};
  EXPECT_EQ(refusal(shifted), "accepted");
}

TEST(patches, every_kind_of_damage_is_refused_by_name) {
  constexpr auto huge = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::pair<std::function<void(Patches&)>, const char*>> damages{
      {[](Patches& p) { p.dim = 0; }, "dimensions of patches: expected 1 to 3, found 0"},
      {[](Patches& p) { p.domain.clear(); }, "patches without levels"},
      {[](Patches& p) { p.boxes.pop_back(); }, "levels of boxes: expected 3, found 2"},
      {[](Patches& p) { p.ratio.push_back(2); }, "refinement ratios: expected 2, found 3"},
      {[](Patches& p) { p.ratio[1] = 1; }, "refinement ratio: expected at least 2, found 1"},
      {[](Patches& p) { p.domain[0].hi[0] = 0; }, "an empty domain"},
      {[](Patches& p) { p.domain[2].hi[1] = 63; }, "domain [0,0 to 128,63) is not that of the level above"},
      {[](Patches& p) { p.domain[0].hi[0] = huge; }, "is not that of the level above"},
      {[](Patches& p) { p.boxes[1][0].hi[1] = 4; }, "box 0, [4,4 to 12,4), is empty"},
      {[](Patches& p) { p.boxes[1][0].lo[0] = 13; }, "is empty"},
      {[](Patches& p) { p.boxes[0][1].hi[0] = 17; }, "box 1, [8,0 to 17,8), reaches out of the domain [0,0 to 16,8)"},
      {[](Patches& p) { p.boxes[0][1].lo[1] = -1; }, "reaches out of the domain"},
      {[](Patches& p) { p.boxes[0][1].lo[0] = 7; }, "boxes 0 and 1 overlap: [0,0 to 8,8) and [7,0 to 16,8)"},
      {[](Patches& p) {
         p.boxes[1].push_back({{11, 7, 0}, {12, 8, 0}});
       },
       "level index 1"},
  };
  for (const auto& [damage, message] : damages) {
    Patches patches = example();
    damage(patches);
    EXPECT_THAT(refusal(patches), HasSubstr(message));
  }
}

// Cuts a box into pieces at random: many boxes that share sides, none overlap.
void cut(testing::Random& random, const IndexBox& box, std::size_t dim, int depth, std::vector<IndexBox>& out) {
  const std::size_t axis = random.below(dim);
  const std::int64_t extent = box.hi[axis] - box.lo[axis];
  if (depth == 0 || extent < 2) return out.push_back(box);
  const std::int64_t plane =
      box.lo[axis] + 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent - 1)));
  IndexBox below = box, above = box;
  below.hi[axis] = above.lo[axis] = plane;
  cut(random, below, dim, depth - 1, out);
  cut(random, above, dim, depth - 1, out);
}

Patches random_patches(std::uint64_t seed) {
  testing::Random random(seed);
  Patches patches;
  patches.dim = 1 + static_cast<int>(random.below(3));
  patches.domain = {{{0, 0, 0}, {1000, 1000, 1000}}};
  patches.boxes.resize(1);
  cut(random, patches.domain[0], static_cast<std::size_t>(patches.dim), 9, patches.boxes[0]);
  for (std::size_t i = patches.boxes[0].size(); i > 1; --i)
    std::swap(patches.boxes[0][i - 1], patches.boxes[0][random.below(i)]);
  return patches;
}

TEST(patches, hundreds_of_boxes_side_by_side_are_accepted) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) EXPECT_EQ(refusal(random_patches(seed)), "accepted") << seed;
}

TEST(patches, one_cell_of_overlap_among_hundreds_is_found) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Patches patches = random_patches(seed);
    testing::Random random(seed);
    IndexBox& box = patches.boxes[0][random.below(patches.boxes[0].size())];
    const std::size_t axis = random.below(static_cast<std::uint64_t>(patches.dim));
    const bool below = box.lo[axis] > 0;
    if (!below && box.hi[axis] == 1000) continue;
    (below ? box.lo : box.hi)[axis] += below ? -1 : 1;
    EXPECT_THAT(refusal(patches), HasSubstr("overlap")) << seed;
  }
}

TEST(patches, a_box_given_twice_among_thousands_is_found) {
  Patches patches;
  patches.domain = {{{0, 0, 0}, {160, 160, 160}}};
  patches.boxes.resize(1);
  for (std::int64_t x = 0; x < 160; x += 8)
    for (std::int64_t y = 0; y < 160; y += 8)
      for (std::int64_t z = 0; z < 160; z += 8) patches.boxes[0].push_back({{x, y, z}, {x + 8, y + 8, z + 8}});
  EXPECT_EQ(refusal(patches), "accepted");
  patches.boxes[0].push_back(patches.boxes[0][4321]);
  EXPECT_THAT(refusal(patches), HasSubstr("boxes 4321 and 8000 overlap"));
}

}  // namespace
}  // namespace octavo::mesh
