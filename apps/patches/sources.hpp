#pragma once
#include "apps/patches/copy_plan.hpp"
#include "apps/patches/hierarchy.hpp"

namespace octavo::patches {

inline std::array<bool, 3> periodic_axes(const Shape& shape) {
  std::array<bool, 3> periodic{};
  for (std::size_t axis = 0; axis < 3; ++axis) periodic[axis] = shape.boundary[axis] == Boundary::periodic;
  return periodic;
}

/// Calls f(number of the box, what it or one of its repetitions shares with `region`, in the box's own positions; shift
/// from there to the region) for the boxes of a level that touch a region.
template <class F>
void for_each_source(const Shape& shape, int level, const mesh::BoxIndex& boxes, const IndexBox& region, F&& f) {
  if (boxes.boxes.empty()) return;
  for (const Index3& shift : periodic_shifts(domain_of(shape, level).hi, periodic_axes(shape), shape.dim))
    for_each_touching(boxes, shifted(region, {-shift[0], -shift[1], -shift[2]}),
                      [&](std::size_t i, const IndexBox& common) { f(i, common, shift); });
}

/// The coarse cells under each box of a level.
inline mesh::BoxIndex footprints(const Level& fine, int dim) {
  std::vector<IndexBox> under;
  for (const IndexBox& box : fine.boxes) under.push_back(coarsened_box(box, 2, dim));
  return index_boxes(under, dim);
}

}  // namespace octavo::patches
