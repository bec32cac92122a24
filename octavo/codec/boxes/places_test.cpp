#include "octavo/codec/boxes/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace octavo::codec {
namespace {

/// Distinct places in a cube, and one so far away that a table of all places would be too large.
std::vector<BoxPlace> random_places(std::uint32_t count, std::uint32_t side, bool is_flat, bool one_far) {
  std::mt19937 random(side);
  std::uniform_int_distribution<std::uint32_t> any(0, side - 1);
  std::set<BoxPlace> all;
  while (all.size() < count) all.insert({7 + any(random), any(random), is_flat ? 5 : 9 + any(random)});
  std::vector<BoxPlace> places(all.begin(), all.end());
  std::shuffle(places.begin(), places.end(), random);
  if (one_far) places.push_back({4000000000u, 1, 3000000000u});
  return places;
}

void expect_neighbours(const std::vector<BoxPlace>& places) {
  std::map<BoxPlace, std::uint32_t> at;
  for (std::uint32_t b = 0; b < places.size(); ++b) at[places[b]] = b;
  const auto none = static_cast<std::uint32_t>(places.size());
  BoxGrid grid({{2, 2, 2}, places}, 8 * places.size());
  for (const bool prepared : {false, true}) {
    if (prepared) grid.prepare(6);
    for (std::uint32_t b = 0; b < places.size(); ++b)
      for (std::size_t axis = 0; axis < 3; ++axis)
        for (const std::int64_t steps : {-5, -3, -2, -1, 1, 2, 3, 4}) {
          BoxPlace to = places[b];
          to[axis] += static_cast<std::uint32_t>(steps);  // may wrap to a place that no box has
          const auto found = at.find(to);
          ASSERT_EQ(grid.find(b, axis, steps), found == at.end() ? none : found->second) << b << ' ' << axis;
        }
  }
}

TEST(Places, boxes_beside_a_box_are_found_in_bricks_in_a_plane_and_in_a_table) {
  expect_neighbours(random_places(300, 12, false, false));
  expect_neighbours(random_places(40, 9, true, false));
  expect_neighbours(random_places(300, 12, false, true));
}

TEST(Places, each_value_of_boxes_has_one_stage) {
  const auto places = random_places(300, 12, false, false);
  for (const std::array<std::uint32_t, 3> shape : {std::array{2u, 2u, 2u}, {8u, 8u, 4u}, {3u, 2u, 1u}, {1u, 1u, 1u}}) {
    const std::size_t cells = std::size_t{shape[0]} * shape[1] * shape[2];
    BoxGrid grid({shape, places}, cells * places.size());
    for (const unsigned strides : {0u, 1u, 2u, 5u}) {
      grid.prepare(strides);
      std::size_t values = 0;
      for (const Stage& stage : stages_of(strides)) {
        std::size_t by_rows = 0;
        for (const std::uint32_t box : grid.boxes_of(stage)) by_rows += grid.rows_of(stage, box).count();
        EXPECT_EQ(grid.values_of(stage), by_rows);
        values += by_rows;
      }
      EXPECT_EQ(values, cells * places.size());
    }
  }
}

TEST(Places, a_grid_is_kept_for_the_same_boxes_only) {
  auto places = random_places(100, 8, false, false);
  const Boxes boxes{{2, 2, 2}, places};
  const BoxGrid* const first = &grid_of(boxes, 800);
  EXPECT_EQ(&grid_of(boxes, 800), first);
  EXPECT_EQ(grid_of(boxes, 1600).components, 2u);
  EXPECT_EQ(&grid_of(boxes, 800), first);
  places[3][0] += 1000;
  EXPECT_EQ(grid_of(boxes, 800).boxes.at[3], places[3]);
}

}  // namespace
}  // namespace octavo::codec
