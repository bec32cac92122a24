#include "octavo/mesh/patches.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;
using Pair = std::pair<std::size_t, std::size_t>;
using BoxIndices = std::vector<std::size_t>;

std::string at_patch_level(std::size_t level) { return "level index " + std::to_string(level); }

std::string to_string(const IndexBox& box, int dim) {
  std::string lo, hi;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    lo.append(axis == 0 ? "[" : ",").append(std::to_string(box.lo[axis]));
    hi.append(axis == 0 ? "" : ",").append(std::to_string(box.hi[axis]));
  }
  return lo.append(" to ").append(hi).append(")");
}

bool is_empty(const IndexBox& box, std::size_t dim) {
  for (std::size_t axis = 0; axis < dim; ++axis)
    if (box.lo[axis] >= box.hi[axis]) return true;
  return false;
}

bool is_inside(const IndexBox& box, const IndexBox& outer, std::size_t dim) {
  for (std::size_t axis = 0; axis < dim; ++axis)
    if (box.lo[axis] < outer.lo[axis] || box.hi[axis] > outer.hi[axis]) return false;
  return true;
}

bool boxes_overlap(const IndexBox& a, const IndexBox& b, std::size_t dim) {
  for (std::size_t axis = 0; axis < dim; ++axis)
    if (a.lo[axis] >= b.hi[axis] || b.lo[axis] >= a.hi[axis]) return false;
  return true;
}

void check_domain(const Patches& patches, std::size_t level) {
  const auto dim = static_cast<std::size_t>(patches.dim);
  const IndexBox& here = patches.domain[level];
  if (is_empty(here, dim))
    throw Error(Kind::corrupt, "an empty domain: " + to_string(here, patches.dim)).at(at_patch_level(level));
  if (level == 0) return;
  const std::int64_t ratio = patches.ratio[level - 1];
  if (ratio < 2)
    throw Error(Kind::corrupt, "refinement ratio: expected at least 2, found " + std::to_string(ratio))
        .at(at_patch_level(level - 1));
  const IndexBox& coarse = patches.domain[level - 1];
  for (std::size_t axis = 0; axis < dim; ++axis) {
    std::int64_t lo = 0, hi = 0;
    const bool fits =
        !__builtin_mul_overflow(coarse.lo[axis], ratio, &lo) && !__builtin_mul_overflow(coarse.hi[axis], ratio, &hi);
    if (!fits || here.lo[axis] != lo || here.hi[axis] != hi)
      throw Error(Kind::corrupt, "domain " + to_string(here, patches.dim) + " is not that of the level above, " +
                                     to_string(coarse, patches.dim) + ", refined by " + std::to_string(ratio))
          .at(at_patch_level(level));
  }
}

// Where to cut a set of boxes in two: the plane through the middle of the lower sides that fewest boxes cross.
struct BoxCut {
  std::size_t axis = 0;
  std::int64_t plane = 0;
  std::size_t larger = std::numeric_limits<std::size_t>::max();  // boxes on the fuller side, crossing ones included
};

BoxCut find_cut(const std::vector<IndexBox>& boxes, const BoxIndices& which, std::size_t dim) {
  BoxCut best;
  std::vector<std::int64_t> sides(which.size());
  for (std::size_t axis = 0; axis < dim; ++axis) {
    std::transform(which.begin(), which.end(), sides.begin(), [&](std::size_t i) { return boxes[i].lo[axis]; });
    const auto middle = sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2);
    std::nth_element(sides.begin(), middle, sides.end());
    const std::int64_t plane = *middle;
    std::size_t below = 0, above = 0;
    for (std::size_t i : which) {
      if (boxes[i].lo[axis] < plane) ++below;
      if (boxes[i].hi[axis] > plane) ++above;
    }
    if (std::max(below, above) < best.larger) best = {axis, plane, std::max(below, above)};
  }
  return best;
}

std::optional<Pair> find_overlap_slowly(const std::vector<IndexBox>& boxes, const BoxIndices& which, std::size_t dim) {
  for (std::size_t a = 0; a < which.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (boxes_overlap(boxes[which[a]], boxes[which[b]], dim)) return Pair{which[b], which[a]};
  return std::nullopt;
}

// Halves space until few boxes are left: n log n where boxes are disjoint and not contrived.
std::optional<Pair> find_overlap(const std::vector<IndexBox>& boxes, const BoxIndices& which, std::size_t dim) {
  if (which.size() <= 16) return find_overlap_slowly(boxes, which, dim);
  const BoxCut cut = find_cut(boxes, which, dim);
  // A plane does not pay where the fuller side keeps more than seven eighths.
  if (cut.larger + which.size() / 8 > which.size()) return find_overlap_slowly(boxes, which, dim);
  // A box that crosses the plane is on both sides, so that no pair is lost.
  BoxIndices below, above;
  for (std::size_t i : which) {
    if (boxes[i].lo[cut.axis] < cut.plane) below.push_back(i);
    if (boxes[i].hi[cut.axis] > cut.plane) above.push_back(i);
  }
  const auto found = find_overlap(boxes, below, dim);
  return found ? found : find_overlap(boxes, above, dim);
}

void check_boxes(const Patches& patches, std::size_t level) {
  const auto dim = static_cast<std::size_t>(patches.dim);
  const auto& boxes = patches.boxes[level];
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const std::string box = "box " + std::to_string(i) + ", " + to_string(boxes[i], patches.dim);
    if (is_empty(boxes[i], dim)) throw Error(Kind::corrupt, box + ", is empty").at(at_patch_level(level));
    if (!is_inside(boxes[i], patches.domain[level], dim))
      throw Error(Kind::corrupt, box + ", reaches out of the domain " + to_string(patches.domain[level], patches.dim))
          .at(at_patch_level(level));
  }
  BoxIndices all(boxes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (const auto pair = find_overlap(boxes, all, dim))
    throw Error(Kind::corrupt, "boxes " + std::to_string(pair->first) + " and " + std::to_string(pair->second) +
                                   " overlap: " + to_string(boxes[pair->first], patches.dim) + " and " +
                                   to_string(boxes[pair->second], patches.dim))
        .at(at_patch_level(level));
}

}  // namespace

void validate(const Patches& patches) {
  if (patches.dim < 1 || patches.dim > 3)
    throw Error(Kind::corrupt, "dimensions of patches: expected 1 to 3, found " + std::to_string(patches.dim));
  const std::size_t levels = patches.domain.size();
  if (levels == 0) throw Error(Kind::corrupt, "patches without levels: expected at least one");
  if (patches.boxes.size() != levels)
    throw Error(Kind::corrupt, "levels of boxes: expected " + std::to_string(levels) + ", found " +
                                   std::to_string(patches.boxes.size()));
  if (patches.ratio.size() + 1 != levels)
    throw Error(Kind::corrupt, "refinement ratios: expected " + std::to_string(levels - 1) + ", found " +
                                   std::to_string(patches.ratio.size()));
  for (std::size_t level = 0; level < levels; ++level) check_domain(patches, level);
  for (std::size_t level = 0; level < levels; ++level) check_boxes(patches, level);
}

}  // namespace octavo::mesh
