#include "octavo/mesh/boxes.hpp"

#include <algorithm>

namespace octavo::mesh {
namespace {

// Towards minus infinity: boxes may lie at negative positions.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

IndexBox around(const std::vector<IndexBox>& boxes) {
  IndexBox out = boxes.front();
  for (const IndexBox& box : boxes)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out.lo[axis] = std::min(out.lo[axis], box.lo[axis]);
      out.hi[axis] = std::max(out.hi[axis], box.hi[axis]);
    }
  return out;
}

std::optional<IndexBox> intersection(const IndexBox& a, const IndexBox& b, int dim) {
  IndexBox out{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    out.lo[axis] = std::max(a.lo[axis], b.lo[axis]);
    out.hi[axis] = std::min(a.hi[axis], b.hi[axis]);
    if (out.lo[axis] >= out.hi[axis]) return std::nullopt;
  }
  return out;
}

IndexBox refined_box(const IndexBox& box, std::int64_t ratio, int dim) {
  IndexBox out{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    out.lo[axis] = box.lo[axis] * ratio;
    out.hi[axis] = box.hi[axis] * ratio;
  }
  return out;
}

IndexBox coarsened_box(const IndexBox& box, std::int64_t ratio, int dim) {
  IndexBox out{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    out.lo[axis] = floor_div(box.lo[axis], ratio);
    out.hi[axis] = floor_div(box.hi[axis] - 1, ratio) + 1;
  }
  return out;
}

std::string describe(const IndexBox& box, int dim) {
  std::string lo, hi;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    lo.append(axis == 0 ? "[" : ",").append(std::to_string(box.lo[axis]));
    hi.append(axis == 0 ? "" : ",").append(std::to_string(box.hi[axis]));
  }
  return lo.append(" to ").append(hi).append(")");
}

std::string describe_extent(const Index3& extent, int dim) {
  std::string text;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    text.append(axis == 0 ? "" : "x").append(std::to_string(extent[axis]));
  return text;
}

}  // namespace octavo::mesh
