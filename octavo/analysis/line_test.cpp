#include "octavo/analysis/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/random_region.hpp"

namespace octavo::analysis {
namespace {

constexpr int deepest_of_all = std::numeric_limits<int>::max();

mesh::Header lined_header(const mesh::Octree& tree, bool periodic) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    header.lo[axis] = 0.7;
    header.hi[axis] = 0.7 + 1.1 * static_cast<double>(tree.roots[axis]);
    header.periodic[axis] = periodic;
  }
  return header;
}

mesh::Part lined_part(const mesh::Octree& tree) {
  mesh::Part part;
  part.mesh = tree;
  part.fields = {testing::smooth_field(tree, "rho", 1)};
  return part;
}

/// The length of the line in the domain: between the shares at which it enters and leaves it.
double length_inside(const mesh::Header& header, const Line& line) {
  double first = 0, last = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) {
    const double d = line.to[a] - line.from[a];
    if (header.periodic[a] || d == 0) continue;
    const double s = (header.lo[a] - line.from[a]) / d, t = (header.hi[a] - line.from[a]) / d;
    first = std::max(first, std::min(s, t));
    last = std::min(last, std::max(s, t));
  }
  return std::max(0.0, last - first) * line.length;
}

TEST(Line, chords_join_to_the_bit_and_sum_to_the_length) {
  testing::Random random(3);
  const mesh::Index3 one{1, 1, 1};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::TreeOptions options{.block = one};
    options.max_cells = 3000;
    if (seed % 4 == 0) {
      options.dim = 3;
      options.block = {3, 2, 2};
    }
    const mesh::Octree tree = testing::random_octree(seed, options);
    const mesh::Header header = lined_header(tree, seed % 2 == 1);
    mesh::Point3 from{}, to{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double length = header.hi[a] - header.lo[a];
      from[a] = header.lo[a] + (1.4 * random.uniform() - 0.2) * length;
      to[a] = header.lo[a] + (1.4 * random.uniform() - 0.2) * length;
      if (seed % 3 == 0) from[a] = header.lo[a] + std::floor(4 * random.uniform()) / 4 * length;  // along sides
      if (seed % 3 == 0) to[a] = header.lo[a] + std::floor(4 * random.uniform()) / 4 * length;
    }
    if (from[0] == to[0]) to[0] = header.hi[0];
    const Line line = make_line(header, from, to, {});
    Chords chords = chords_of(lined_part(tree), header, line, {"rho"}, deepest_of_all);
    sort_chords(chords);
    EXPECT_EQ(chords.values.size(), chords.chords.size());
    double sum = 0;
    for (std::size_t c = 0; c < chords.chords.size(); ++c) {
      sum += chords.chords[c].exit - chords.chords[c].entry;
      if (c == 0) continue;
      EXPECT_EQ(chords.chords[c].entry, chords.chords[c - 1].exit) << seed;
    }
    EXPECT_NEAR(sum, length_inside(header, line), 1e-13 * line.length) << seed;
  }
}

TEST(Line, is_the_same_backwards) {
  const mesh::Octree tree = testing::random_octree(8, {.dim = 3, .max_levels = 6, .max_cells = 5000});
  const mesh::Header header = lined_header(tree, false);
  const mesh::Point3 a{header.lo[0] + 0.1, header.lo[1] + 0.2, header.lo[2] + 0.05};
  const mesh::Point3 b{header.hi[0] - 0.13, header.hi[1] - 0.31, header.hi[2] - 0.2};
  Chords there = chords_of(lined_part(tree), header, make_line(header, a, b, {}), {"rho"}, deepest_of_all);
  Chords back = chords_of(lined_part(tree), header, make_line(header, b, a, {}), {"rho"}, deepest_of_all);
  sort_chords(there);
  sort_chords(back);
  std::reverse(back.values.begin(), back.values.end());
  EXPECT_EQ(there.values, back.values);
}

/// Cells of a regular grid of 4: their value is their number.
mesh::Part grid_of_four(mesh::Header& header) {
  mesh::Part part;
  mesh::Octree tree;
  tree.roots = header.roots = {4, 4, 4};
  tree.refined = {base::BitArray(64)};
  tree.owned = {base::BitArray(64, true)};
  part.mesh = tree;
  mesh::FieldInfo info;
  info.name = "rho";
  part.fields = {mesh::make_field(info, 64)};
  auto values = part.fields[0].as<double>();
  for (std::size_t i = 0; i < 64; ++i) values[i] = static_cast<double>(i);
  return part;
}

TEST(Line, along_a_side_is_in_the_cells_above) {
  mesh::Header header;
  const mesh::Part part = grid_of_four(header);
  const auto numbers = [&](double y, double z, bool periodic) {
    header.periodic = {periodic, periodic, periodic};
    Chords chords = chords_of(part, header, make_line(header, {0, y, z}, {1, y, z}, {}), {"rho"}, deepest_of_all);
    sort_chords(chords);
    return chords.values;
  };
  EXPECT_EQ(numbers(0.5, 0.25, false), (std::vector<double>{24, 25, 26, 27}));
  EXPECT_EQ(numbers(0.0, 0.0, false), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(numbers(1.0, 1.0, false), (std::vector<double>{60, 61, 62, 63}));  // the last cells
  EXPECT_EQ(numbers(1.0, 1.0, true), (std::vector<double>{0, 1, 2, 3}));       // the first
  EXPECT_TRUE(numbers(1.1, 0.5, false).empty());
}

TEST(Line, is_in_a_region_where_its_points_are) {
  testing::Random random(12);
  int inside = 0, outside = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    mesh::Header header;
    header.dim = 1 + trial % 3;
    header.roots = {4, 3, 6};
    header.lo = {-0.5, 0.25, 1};
    header.hi = {1.5, 1.75, 4};
    for (bool& periodic : header.periodic) periodic = random.chance(0.5);
    mesh::Point3 from{}, to{};
    for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) {
      from[a] = header.lo[a] + (1.6 * random.uniform() - 0.3) * (header.hi[a] - header.lo[a]);
      to[a] = a > 0 && random.chance(0.2)
                  ? from[a]
                  : header.lo[a] + (1.6 * random.uniform() - 0.3) * (header.hi[a] - header.lo[a]);
    }
    const mesh::Region region = testing::random_region(random, header.dim, trial % 4);
    const Line line = make_line(header, from, to, region);
    for (std::size_t k = 1; k < line.in_region.size(); ++k) ASSERT_GT(line.in_region[k][0], line.in_region[k - 1][1]);
    for (int sample = 0; sample < 20; ++sample) {
      const double t = random.uniform();
      bool found = false, near_end = false;
      for (const auto& share : line.in_region) {
        found = found || (t > share[0] && t < share[1]);
        near_end = near_end || std::min(std::abs(t - share[0]), std::abs(t - share[1])) < 1e-9;
      }
      if (near_end) continue;
      mesh::Point3 place{};
      for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
        place[a] = (from[a] + t * (to[a] - from[a]) - header.lo[a]) / (header.hi[0] - header.lo[0]);
      ASSERT_EQ(found, mesh::contains(region, mesh::domain_of(header), place))
          << mesh::to_string(region, 3) << " in " << header.dim << "-D at " << place[0] << "," << place[1] << ","
          << place[2];
      ++(found ? inside : outside);
    }
  }
  EXPECT_GT(inside, 5000);
  EXPECT_GT(outside, 5000);
}

TEST(Line, regions_clip_it_exactly_across_periodic_sides_too) {
  mesh::Header header;
  header.periodic = {true, true, true};
  const mesh::Part part = grid_of_four(header);
  const auto length = [&](const mesh::Point3& from, const mesh::Point3& to, const mesh::Region& region) {
    const Chords chords = chords_of(part, header, make_line(header, from, to, region), {"rho"}, deepest_of_all);
    double sum = 0;
    for (const Chord& chord : chords.chords) sum += chord.exit - chord.entry;
    return sum;
  };
  EXPECT_NEAR(length({0, 0.5, 0.5}, {1, 0.5, 0.5}, mesh::Box{{0.3, 0, 0}, {0.7, 1, 1}}), 0.4, 1e-15);
  EXPECT_NEAR(length({0, 0.5, 0.5}, {1, 0.5, 0.5}, mesh::Box{{0.8, 0, 0}, {1.1, 1, 1}}), 0.3, 1e-15);
  EXPECT_NEAR(length({-1, 0.5, 0.5}, {2, 0.5, 0.5}, mesh::Box{{0.8, 0, 0}, {1.1, 1, 1}}), 0.9, 1e-15);
  EXPECT_NEAR(length({0, 0.5, 0.5}, {1, 0.5, 0.5}, mesh::Sphere{{0.5, 0.5, 0.5}, 0.25}), 0.5, 1e-15);
  EXPECT_NEAR(length({0, 0.5, 0.6}, {1, 0.5, 0.6}, mesh::Sphere{{0, 0.5, 0.5}, 0.125}), 0.15, 1e-15);
  EXPECT_NEAR(length({0, 0, 0}, {1, 1, 1}, mesh::Sphere{{0, 0, 0}, 0.1}), 0.2, 1e-15);
  EXPECT_EQ(length({0, 0.5, 0.5}, {1, 0.5, 0.5}, mesh::Sphere{{0.5, 0.9, 0.5}, 0.25}), 0.0);
}

TEST(Line, of_a_linear_field_integrates_it) {
  // Cells of a regular grid hold the mean of f = x + 2 y + 3 z; on the diagonal the chords pass through their middles.
  mesh::Header header;
  mesh::Part part = grid_of_four(header);
  auto values = part.fields[0].as<double>();
  for (std::size_t i = 0; i < 64; ++i)
    values[i] = (static_cast<double>(i % 4) + 0.5) / 4 + 2 * (static_cast<double>(i / 4 % 4) + 0.5) / 4 +
                3 * (static_cast<double>(i / 16) + 0.5) / 4;
  const Chords chords = chords_of(part, header, make_line(header, {0, 0, 0}, {1, 1, 1}, {}), {"rho"}, deepest_of_all);
  ASSERT_EQ(chords.chords.size(), 4U);
  double integral = 0;
  for (std::size_t c = 0; c < 4; ++c) integral += chords.values[c] * (chords.chords[c].exit - chords.chords[c].entry);
  EXPECT_NEAR(integral, 3 * std::sqrt(3.0), 1e-14);
}

TEST(Line, impossible_lines_are_refused) {
  mesh::Header header;
  const auto refused = [&](const mesh::Point3& from, const mesh::Point3& to) {
    return testing::kind_of([&] { make_line(header, from, to, {}); });
  };
  EXPECT_EQ(refused({0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}), base::Kind::usage);
  EXPECT_EQ(refused({0.5, 0.5, 0.5}, {0.5, NAN, 0.5}), base::Kind::usage);
  EXPECT_EQ(refused({0.5, 0.5, 0.5}, {0.5, 40, 0.5}), base::Kind::usage);
}

}  // namespace
}  // namespace octavo::analysis
