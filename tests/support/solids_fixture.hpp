#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "octavo/mesh/solids.hpp"

namespace octavo::testing {

/// Adds a cell.
inline void add_solid(mesh::Solids& mesh, const std::vector<std::int64_t>& points) {
  mesh.corners.push_back(static_cast<std::uint8_t>(points.size()));
  mesh.connectivity.insert(mesh.connectivity.end(), points.begin(), points.end());
}

inline std::int64_t add_point(mesh::Solids& mesh, double x, double y, double z) {
  mesh.x.push_back(x);
  mesh.y.push_back(y);
  mesh.z.push_back(z);
  return std::ssize(mesh.x) - 1;
}

/// Adds a cube as 1 hexahedron, 2 prisms, 6 pyramids around a point in its middle, or 5 tetrahedra. `cube`: its corners
/// in VTK's order. `corners`: of the solids.
inline void add_cube(mesh::Solids& mesh, const std::vector<std::int64_t>& cube, int corners, bool odd = false) {
  using Four = std::array<int, 4>;
  const auto add = [&](std::initializer_list<int> which) {
    std::vector<std::int64_t> points;
    for (const int k : which) points.push_back(k < 8 ? cube[static_cast<std::size_t>(k)] : std::ssize(mesh.x) - 1);
    add_solid(mesh, points);
  };
  if (corners == 8) return add({0, 1, 2, 3, 4, 5, 6, 7});
  if (corners == 6) {
    add({0, 1, 2, 4, 5, 6});
    return add({0, 2, 3, 4, 6, 7});
  }
  if (corners == 4) {
    const std::vector<Four> even{{0, 1, 3, 4}, {1, 2, 3, 6}, {1, 6, 4, 5}, {3, 4, 6, 7}, {1, 3, 4, 6}};
    const std::vector<Four> other{{0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}, {0, 2, 7, 5}};
    for (const Four& one : odd ? other : even) add({one[0], one[1], one[2], one[3]});
    return;
  }
  const auto mean = [&](const std::vector<double>& axis) {
    double sum = 0;
    for (const std::int64_t point : cube) sum += axis[static_cast<std::size_t>(point)];
    return sum / 8;
  };
  add_point(mesh, mean(mesh.x), mean(mesh.y), mean(mesh.z));
  const std::vector<Four> sides{{0, 1, 2, 3}, {4, 7, 6, 5}, {0, 4, 5, 1}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 4, 0}};
  for (const Four& side : sides) add({side[0], side[1], side[2], side[3], 8});
}

/// The unit cube, cut in n cubes along each axis, each of them in solids of so many corners: 4, 5, 6 or 8; or 0:
/// columns of hexahedra and of prisms in turn, and every second hexahedron as pyramids. Cells share whole sides.
inline mesh::Solids box_of_solids(int n, int corners) {
  mesh::Solids mesh;
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      for (int k = 0; k <= n; ++k) add_point(mesh, 1.0 * i / n, 1.0 * j / n, 1.0 * k / n);
  const auto at = [&](int i, int j, int k) { return std::int64_t{(i * (n + 1) + j) * (n + 1) + k}; };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        std::vector<std::int64_t> cube;
        for (const int z : {k, k + 1})
          for (const std::int64_t point : {at(i, j, z), at(i + 1, j, z), at(i + 1, j + 1, z), at(i, j + 1, z)})
            cube.push_back(point);
        const int mixed = (i + j) % 2 == 1 ? 6 : k % 2 == 1 ? 5 : 8;
        add_cube(mesh, cube, corners == 0 ? mixed : corners, (i + j + k) % 2 == 1);
      }
  return mesh;
}

/// Moves the points by up to `most` along each axis, and gives them numbers in any order.
inline void shake(mesh::Solids& mesh, std::uint32_t seed, double most) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> move(-most, most);
  for (std::vector<double>* axis : {&mesh.x, &mesh.y, &mesh.z})
    for (double& place : *axis) place += move(random);
  mesh.global_point.resize(mesh.x.size());
  std::iota(mesh.global_point.begin(), mesh.global_point.end(), std::int64_t{0});
  std::shuffle(mesh.global_point.begin(), mesh.global_point.end(), random);
}

}  // namespace octavo::testing
