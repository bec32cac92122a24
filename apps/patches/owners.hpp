#pragma once
#include <optional>

#include "apps/euler/tracers.hpp"
#include "apps/patches/hierarchy.hpp"

namespace octavo::patches {

/// The finest box that holds a point: whose it is, and which of that rank's boxes of the level.
struct Home {
  int rank = 0;
  std::size_t level = 0, slot = 0;
};
/// Nothing for a point outside of the domain.
std::optional<Home> find_box(const Hierarchy& mesh, const euler::Point3& at);

/// A point beyond a periodic side comes back on the other.
void wrap(const Shape& shape, euler::Point3& at);

/// Collective. Tracers go to the ranks of the boxes they are in; those outside of the domain vanish. Sorted by id.
void send_home(const Hierarchy& mesh, euler::Tracers& tracers);

}  // namespace octavo::patches
