#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::store {

/// The region that a part covers.
struct Bounds {
  mesh::Point3 lo{}, hi{};  ///< box around all owned cells, in fractions of the x extent; zeros if there are none
  mesh::KeyInterval keys;   ///< Morton keys of the owned leaves, 32 bits an axis; begin == end if there are none
  bool operator==(const Bounds&) const = default;
};

/// Keys count in a cube of 2^r roots an axis, with the smallest r that holds the longest axis. @pre the tree is valid
Bounds bounds_of(const mesh::Octree& tree, const mesh::Domain& domain);

}  // namespace octavo::store
