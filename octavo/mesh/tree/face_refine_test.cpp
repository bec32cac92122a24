#include "octavo/mesh/tree/face_refine.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

/// The faces of 2^dim children, each array with its own strides.
struct Children {
  int dim;
  std::array<double, 3> size{1, 1, 1};
  std::array<std::vector<double>, 3> values;
  Children(int d, std::uint64_t seed) : dim(d) {
    testing::Random random(seed);
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      size[a] = 0.25 + random.uniform();
      for (std::size_t i = 0; i < fine_face_count(dim); ++i) values[a].push_back(2 * random.uniform() - 1);
    }
  }
  FaceArrays view() { return {values[0], values[1], values[2]}; }
  std::size_t at(std::size_t axis, std::array<std::size_t, 3> i) const {
    const std::size_t nx = axis == 0 ? 3 : 2, ny = axis == 1 ? 3 : 2;
    return i[0] + nx * (i[1] + ny * i[2]);
  }
  std::array<std::size_t, 3> child(std::size_t c) const { return {c & 1, c >> 1 & 1, c >> 2 & 1}; }
  std::size_t count() const { return std::size_t{1} << dim; }
  double divergence(std::size_t c) const {
    double sum = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      auto low = child(c), high = low;
      ++high[a];
      sum += (values[a][at(a, high)] - values[a][at(a, low)]) / (size[a] / 2);
    }
    return sum;
  }
  /// The volume that flows out through the sides.
  double divergence() const {
    double sum = 0;
    for (std::size_t c = 0; c < count(); ++c)
      for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
        auto side = child(c);
        const bool high = side[a] == 1;
        side[a] = high ? 2 : 0;
        sum += (high ? 1 : -1) * values[a][at(a, side)] / size[a];
      }
    return sum / static_cast<double>(count() / 2);
  }
};

TEST(FaceRefine, each_child_has_the_divergence_of_the_cell) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Children cell(static_cast<int>(1 + seed % 3), seed);
    fill_inner_faces(cell.dim, cell.size, cell.view());
    for (std::size_t c = 0; c < cell.count(); ++c) EXPECT_NEAR(cell.divergence(c), cell.divergence(), 1e-13) << seed;
  }
}

TEST(FaceRefine, faces_on_the_sides_stay_as_they_are) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Children cell(static_cast<int>(1 + seed % 3), seed);
    const Children before = cell;
    fill_inner_faces(cell.dim, cell.size, cell.view());
    for (std::size_t a = 0; a < static_cast<std::size_t>(cell.dim); ++a)
      for (std::size_t c = 0; c < cell.count(); ++c) {
        auto side = cell.child(c);
        side[a] *= 2;
        EXPECT_EQ(cell.values[a][cell.at(a, side)], before.values[a][cell.at(a, side)]);
      }
  }
}

TEST(FaceRefine, a_uniform_field_stays_uniform) {
  Children cell(3, 4);
  for (std::size_t a = 0; a < 3; ++a)
    std::fill(cell.values[a].begin(), cell.values[a].end(), 1.0 + static_cast<double>(a));
  fill_inner_faces(3, cell.size, cell.view());
  for (std::size_t a = 0; a < 3; ++a)
    for (const double value : cell.values[a]) EXPECT_EQ(value, 1.0 + static_cast<double>(a));
}

TEST(FaceRefine, the_correction_is_the_smallest) {
  // A circulation around the cell's inner edge does not change any child's divergence. The best faces have no
  // circulation.
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Children cell(2, seed);
    cell.size = {1, 1, 1};
    const Children before = cell;
    fill_inner_faces(2, cell.size, cell.view());
    const auto change = [&](std::size_t axis, std::array<std::size_t, 3> i, double mean) {
      return cell.values[axis][cell.at(axis, i)] - mean;
    };
    const auto mean = [&](std::size_t axis, std::array<std::size_t, 3> low) {
      auto high = low;
      high[axis] = 2;
      return 0.5 * (before.values[axis][before.at(axis, low)] + before.values[axis][before.at(axis, high)]);
    };
    const double circulation = change(0, {1, 0, 0}, mean(0, {0, 0, 0})) - change(0, {1, 1, 0}, mean(0, {0, 1, 0})) +
                               change(1, {1, 1, 0}, mean(1, {1, 0, 0})) - change(1, {0, 1, 0}, mean(1, {0, 0, 0}));
    EXPECT_NEAR(circulation, 0, 1e-13) << seed;
  }
}

TEST(FaceRefine, wrong_sizes_are_named) {
  Children cell(3, 4);
  EXPECT_THROW(fill_inner_faces(3, {0, 1, 1}, cell.view()), base::Error);
  EXPECT_THROW(fill_inner_faces(4, cell.size, cell.view()), base::Error);
  cell.values[1].pop_back();
  EXPECT_THROW(fill_inner_faces(3, cell.size, cell.view()), base::Error);
}

}  // namespace
}  // namespace octavo::mesh
