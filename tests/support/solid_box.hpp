#pragma once
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/solids_fixture.hpp"

namespace octavo::testing {

/// A box from 0 to 2, 1.5 and 2.5: box_of_solids(), drawn out. Points inside are moved at random by up to `moved` of a
/// cell; those on the box's sides stay on them.
inline mesh::Solids solid_box(int n, int corners, double moved = 0) {
  mesh::Solids mesh = box_of_solids(n, corners);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> move(-moved / n, moved / n);
  for (auto [axis, size] : {std::pair{&mesh.x, 2.0}, std::pair{&mesh.y, 1.5}, std::pair{&mesh.z, 2.5}})
    for (double& place : *axis) place = size * (place == 0 || place == 1 ? place : place + move(random));
  return mesh;
}

/// Such boxes of each shape and of several, regular and not.
inline std::vector<mesh::Solids> solid_boxes() {
  std::vector<mesh::Solids> out;
  for (const int corners : {8, 6, 5, 4, 0})
    for (const double moved : {0.0, 0.2}) out.push_back(solid_box(4, corners, moved));
  return out;
}

/// A function at the points.
template <class F>
std::vector<double> values_at_points(const mesh::Solids& mesh, F&& f) {
  std::vector<double> values;
  for (std::size_t i = 0; i < mesh.x.size(); ++i) values.push_back(f(mesh.x[i], mesh.y[i], mesh.z[i]));
  return values;
}

}  // namespace octavo::testing
