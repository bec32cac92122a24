#pragma once
#include <span>

#include "apps/euler/state.hpp"

namespace octavo::euler {

/// One box of a mesh, as the kernel sees it: a FLASH-like block or an AMReX-like patch, with its ghosts in memory.
struct Box {
  Shape shape;
  Point3 lo{0, 0, 0};     ///< lower corner, without ghosts [code length]
  Point3 width{1, 1, 1};  ///< of a cell [code length]; 1 beyond dim
  int level = 0;          ///< 0: the coarsest
  std::size_t index = 0;  ///< of this rank's boxes
  std::span<double> state{};
};
inline double cell_volume(const Box& box) {
  double volume = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.shape.dim); ++axis) volume *= box.width[axis];
  return volume;
}
inline Point3 centre_of(const Box& box, int i, int j, int k) {
  return {box.lo[0] + (i + 0.5) * box.width[0], box.lo[1] + (j + 0.5) * box.width[1],
          box.lo[2] + (k + 0.5) * box.width[2]};
}

}  // namespace octavo::euler
