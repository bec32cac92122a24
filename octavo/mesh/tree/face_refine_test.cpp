#include "octavo/mesh/tree/face_refine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

struct Block {
  int dim;
  Index3 cells;
  std::array<double, 3> size;
  std::array<std::vector<double>, 3> values;
  Block(int d, const Index3& n, const std::array<double, 3>& h) : dim(d), cells(n), size(h) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(d); ++a) values[a].resize(face_count(d, n, a));
  }
  FaceArrays<const double> view() const { return {values[0], values[1], values[2]}; }
  FaceArrays<double> writable() { return {values[0], values[1], values[2]}; }
  std::size_t at(std::size_t axis, const Index3& i) const {
    Index3 n = cells;
    ++n[axis];
    return static_cast<std::size_t>(i[0] + n[0] * (i[1] + n[1] * i[2]));
  }
  double divergence(const Index3& cell) const {
    double sum = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      Index3 high = cell;
      ++high[a];
      sum += (values[a][at(a, high)] - values[a][at(a, cell)]) / size[a];
    }
    return sum;
  }
};

template <class F>
void for_each_cell(const Block& block, F&& f) {
  for (std::int64_t z = 0; z < block.cells[2]; ++z)
    for (std::int64_t y = 0; y < block.cells[1]; ++y)
      for (std::int64_t x = 0; x < block.cells[0]; ++x) f(Index3{x, y, z});
}

Block random_block(int dim, std::uint64_t seed) {
  testing::Random random(seed);
  Index3 cells{1, 1, 1};
  std::array<double, 3> size{1, 1, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    cells[a] = static_cast<std::int64_t>(1 + random.below(5));
    size[a] = 0.25 + random.uniform();
  }
  Block block(dim, cells, size);
  for (auto& values : block.values)
    for (double& value : values) value = 2 * random.uniform() - 1;
  return block;
}

/// Two dimensions: the curl of random values on corners, whose divergence is zero.
Block solenoidal_block(std::uint64_t seed) {
  Block block = random_block(2, seed);
  testing::Random random(seed + 1000);
  const auto nx = block.cells[0] + 1, ny = block.cells[1] + 1;
  std::vector<double> corner(static_cast<std::size_t>(nx * ny));
  for (double& value : corner) value = random.uniform();
  const auto potential = [&](std::int64_t x, std::int64_t y) { return corner[static_cast<std::size_t>(x + nx * y)]; };
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      if (y + 1 < ny) block.values[0][block.at(0, {x, y, 0})] = (potential(x, y + 1) - potential(x, y)) / block.size[1];
      if (x + 1 < nx)
        block.values[1][block.at(1, {x, y, 0})] = -(potential(x + 1, y) - potential(x, y)) / block.size[0];
    }
  return block;
}

Block refined(const Block& coarse) {
  Index3 cells = coarse.cells;
  std::array<double, 3> size = coarse.size;
  for (std::size_t a = 0; a < static_cast<std::size_t>(coarse.dim); ++a) {
    cells[a] *= 2;
    size[a] /= 2;
  }
  Block fine(coarse.dim, cells, size);
  prolong_faces(coarse.dim, coarse.cells, coarse.size, coarse.view(), fine.writable());
  return fine;
}

TEST(FaceRefine, each_fine_cell_has_the_divergence_of_its_coarse_cell) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Block coarse = random_block(static_cast<int>(1 + seed % 3), seed);
    const Block fine = refined(coarse);
    for_each_cell(fine, [&](const Index3& cell) {
      Index3 father = cell;
      for (std::size_t a = 0; a < static_cast<std::size_t>(coarse.dim); ++a) father[a] /= 2;
      EXPECT_NEAR(fine.divergence(cell), coarse.divergence(father), 1e-13) << seed;
    });
  }
}

TEST(FaceRefine, no_divergence_stays_none_through_many_levels) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Block block = solenoidal_block(seed);
    for (int level = 0; level < 4; ++level) block = refined(block);
    for_each_cell(block, [&](const Index3& cell) { EXPECT_NEAR(block.divergence(cell), 0, 1e-12) << seed; });
  }
}

TEST(FaceRefine, coarsening_what_was_refined_gives_it_back) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Block coarse = random_block(static_cast<int>(1 + seed % 3), seed);
    const Block fine = refined(coarse);
    Block back = coarse;
    for (auto& values : back.values) std::fill(values.begin(), values.end(), -7);
    restrict_faces(coarse.dim, coarse.cells, fine.view(), back.writable());
    for (std::size_t a = 0; a < static_cast<std::size_t>(coarse.dim); ++a)
      for (std::size_t i = 0; i < coarse.values[a].size(); ++i)
        EXPECT_NEAR(back.values[a][i], coarse.values[a][i], 2e-16 * 4) << seed;
  }
}

TEST(FaceRefine, coarsening_keeps_the_mean_divergence) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Block fine = refined(random_block(static_cast<int>(1 + seed % 3), seed));
    testing::Random random(seed);
    for (auto& values : fine.values)
      for (double& value : values) value = random.uniform();
    Block coarse = random_block(fine.dim, seed);
    restrict_faces(coarse.dim, coarse.cells, fine.view(), coarse.writable());
    for_each_cell(coarse, [&](const Index3& cell) {
      double sum = 0;
      for_each_cell(fine, [&](const Index3& child) {
        bool inside = true;
        for (std::size_t a = 0; a < static_cast<std::size_t>(fine.dim); ++a) inside = inside && child[a] / 2 == cell[a];
        if (inside) sum += fine.divergence(child);
      });
      EXPECT_NEAR(coarse.divergence(cell), sum / static_cast<double>(1 << fine.dim), 1e-13) << seed;
    });
  }
}

TEST(FaceRefine, blocks_that_share_a_plane_agree_on_it_bit_for_bit) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const int dim = static_cast<int>(1 + seed % 3);
    const Block left = random_block(dim, seed);
    Block right = left;
    testing::Random random(seed + 5);
    for (auto& values : right.values)
      for (double& value : values) value = random.uniform();
    const auto plane = [&](Index3 cell, std::int64_t x) { return cell[0] = x, cell; };
    for_each_cell(left, [&](const Index3& c) {
      right.values[0][right.at(0, plane(c, 0))] = left.values[0][left.at(0, plane(c, left.cells[0]))];
    });
    const Block fine_left = refined(left), fine_right = refined(right);
    for_each_cell(fine_left, [&](const Index3& c) {
      EXPECT_EQ(fine_right.values[0][fine_right.at(0, plane(c, 0))],
                fine_left.values[0][fine_left.at(0, plane(c, fine_left.cells[0]))]);
    });
  }
}

TEST(FaceRefine, a_uniform_field_stays_uniform_and_wrong_sizes_are_named) {
  Block block = random_block(3, 4);
  for (std::size_t a = 0; a < 3; ++a)
    std::fill(block.values[a].begin(), block.values[a].end(), 1.0 + static_cast<double>(a));
  const Block fine = refined(block);
  for (std::size_t a = 0; a < 3; ++a)
    for (const double value : fine.values[a]) EXPECT_EQ(value, 1.0 + static_cast<double>(a));
  Block wrong = fine;
  wrong.values[1].pop_back();
  EXPECT_THROW(prolong_faces(3, block.cells, block.size, block.view(), wrong.writable()), base::Error);
  EXPECT_THROW(restrict_faces(3, block.cells, wrong.view(), block.writable()), base::Error);
  EXPECT_THROW(prolong_faces(3, block.cells, {0, 1, 1}, block.view(), wrong.writable()), base::Error);
}

}  // namespace
}  // namespace octavo::mesh
