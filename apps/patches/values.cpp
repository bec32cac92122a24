#include "apps/patches/values.hpp"

namespace octavo::patches {
namespace {

// Slabs on the two sides of `hole` along each axis in turn; the rest is the hole.
void cut_out(IndexBox box, const IndexBox& hole, int dim, std::vector<IndexBox>& out) {
  const auto common = intersection(box, hole, dim);
  if (!common) return out.push_back(box);
  for (std::size_t axis = static_cast<std::size_t>(dim); axis-- > 0;) {
    IndexBox side = box;
    side.hi[axis] = common->lo[axis];
    if (side.lo[axis] < side.hi[axis]) out.push_back(side);
    side = box;
    side.lo[axis] = common->hi[axis];
    if (side.lo[axis] < side.hi[axis]) out.push_back(side);
    box.lo[axis] = common->lo[axis];
    box.hi[axis] = common->hi[axis];
  }
}

}  // namespace

std::vector<IndexBox> without(const IndexBox& box, const std::vector<IndexBox>& holes, int dim) {
  std::vector<IndexBox> left{box};
  for (const IndexBox& hole : holes) {
    std::vector<IndexBox> next;
    for (const IndexBox& piece : left) cut_out(piece, hole, dim, next);
    left = std::move(next);
  }
  return left;
}

std::vector<Index3> periodic_shifts(const Index3& extent, const std::array<bool, 3>& periodic, int dim) {
  std::vector<Index3> shifts{{0, 0, 0}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    if (!periodic[axis]) continue;
    const std::size_t count = shifts.size();
    for (std::int64_t sign : {-1, 1})
      for (std::size_t i = 0; i < count; ++i) {
        Index3 shift = shifts[i];
        shift[axis] = sign * extent[axis];
        shifts.push_back(shift);
      }
  }
  return shifts;
}

}  // namespace octavo::patches
