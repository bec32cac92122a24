#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::store {

/// Where a part lies.
struct Bounds {
  mesh::Point3 lo{}, hi{};  ///< box around all owned cells, in fractions of the x extent; zeros where none is
  mesh::KeyInterval keys;   ///< Morton keys at 32 bits an axis of the owned leaves; begin == end where there are none
  bool operator==(const Bounds&) const = default;
};

/// @pre the tree is valid. Keys are those of a cube of 2^r roots an axis, r the least that holds the longest axis.
Bounds bounds_of(const mesh::Octree& tree, const mesh::Domain& domain);

}  // namespace octavo::store
