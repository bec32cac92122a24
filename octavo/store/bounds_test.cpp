#include "octavo/store/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "tests/support/random_octree.hpp"

namespace octavo::store {
namespace {

using mesh::CurveKey;

// One cell after another.
Bounds slowly(const mesh::Octree& tree, const mesh::Domain& domain) {
  Bounds bounds;
  bool any = false, leaves = false;
  auto coordinates = root_coordinates(tree);
  const auto longest = static_cast<std::uint64_t>(*std::max_element(tree.roots.begin(), tree.roots.end()));
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      if (!tree.owned[l][i]) continue;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double size = std::ldexp(domain.extent[axis] / static_cast<double>(tree.roots[axis]), -level);
        const bool used = axis < static_cast<std::size_t>(tree.dim);
        const double lo = used ? coordinates[i][axis] * size : 0;
        const double hi = used ? (coordinates[i][axis] + 1.0) * size : domain.extent[axis];
        bounds.lo[axis] = any ? std::min(bounds.lo[axis], lo) : lo;
        bounds.hi[axis] = any ? std::max(bounds.hi[axis], hi) : hi;
      }
      any = true;
      if (tree.refined[l][i]) continue;
      const int bits = static_cast<int>(std::bit_width(longest - 1)) + level;
      const CurveKey first = first_key(mesh::Curve::morton, tree.dim, 32, bits, coordinates[i]);
      CurveKey end = first;
      const int shift = tree.dim * (32 - bits);
      if (shift >= 64)
        end.high += std::uint64_t{1} << (shift - 64);
      else if ((end.low += std::uint64_t{1} << shift) < first.low)
        ++end.high;
      bounds.keys.begin = leaves ? std::min(bounds.keys.begin, first) : first;
      bounds.keys.end = leaves ? std::max(bounds.keys.end, end) : end;
      leaves = true;
    }
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
  return bounds;
}

// Owned by chance: parents and children without regard to each other, as the formats of some codes have it.
void own(mesh::Octree& tree, double share, std::mt19937_64& random) {
  std::bernoulli_distribution owned(share);
  for (auto& level : tree.owned)
    for (std::size_t i = 0; i < level.size(); ++i) level.set(i, owned(random));
}

TEST(Bounds, are_those_of_all_owned_cells_whoever_owns_their_parents) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const mesh::Index3 roots = dim == 1   ? mesh::Index3{9, 1, 1}
                               : dim == 2 ? mesh::Index3{3, 5, 1}
                                          : mesh::Index3{2, 3, 1};
    mesh::Octree tree = testing::random_octree(seed, {.dim = dim, .roots = roots, .max_levels = 6, .max_cells = 3000});
    const mesh::Domain domain{dim, {1, dim > 1 ? 2.5 : 0, dim > 2 ? 0.75 : 0}, {}};
    for (const double share : {1.0, 0.5, 0.02, 0.0}) {
      own(tree, share, random);
      EXPECT_EQ(bounds_of(tree, domain), slowly(tree, domain)) << "seed " << seed << ", " << share << " owned";
    }
  }
}

}  // namespace
}  // namespace octavo::store
