#pragma once
#include <cmath>

#include "octavo/mesh/region.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::testing {

inline mesh::Point3 random_direction(Random& random, int dim) {
  mesh::Point3 n{};
  if (random.chance(0.4)) {
    n[random.below(static_cast<std::uint64_t>(dim))] = random.chance(0.5) ? 1 : -1;
    return n;
  }
  double size = 0;
  while (size < 0.01) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) n[a] = random.uniform() - 0.5;
    size = std::hypot(n[0], n[1], n[2]);
  }
  for (double& x : n) x /= size;
  return n;
}

inline mesh::Region random_shape(Random& random, int dim) {
  mesh::Point3 centre;
  for (double& x : centre) x = 2 * random.uniform() - 0.5;
  const double radius = 0.02 + 0.4 * random.uniform();
  const mesh::Point3 way = random_direction(random, dim);
  switch (random.below(5)) {
    case 0: return mesh::Box{centre, {centre[0] + radius, centre[1] + radius, centre[2] + 2 * radius}};
    case 1: return mesh::Sphere{centre, radius};
    case 2: return mesh::Cylinder{centre, way, radius / 2, 0.02 + 0.6 * random.uniform()};
    case 3: return mesh::Sector{centre, radius, way, 5 + 170 * random.uniform()};
    default: return mesh::HalfSpace{centre, way};
  }
}

inline mesh::Region random_region(Random& random, int dim, int depth) {
  if (depth == 0 || random.chance(0.4)) return random_shape(random, dim);
  return mesh::join(static_cast<mesh::Join>(random.below(3)), random_region(random, dim, depth - 1),
                    random_region(random, dim, depth - 1));
}

}  // namespace octavo::testing
