#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

/// Boxes of all levels that meet a region: per level, those of the list cut to it, and the region on that level.
using Lists = std::vector<std::vector<IndexBox>>;

std::int64_t count_cells(const Lists& lists, int dim) {
  std::int64_t n = 0;
  for (const auto& boxes : lists)
    for (const IndexBox& box : boxes) n += num_cells(box, dim);
  return n;
}

Lists cut(const Lists& lists, const Patches& patches, const IndexBox& region) {
  Lists out(lists.size());
  IndexBox here = region;
  for (std::size_t level = 0; level < lists.size(); ++level) {
    if (level > 0) here = refined_box(here, patches.ratio[level - 1], patches.dim);
    for (const IndexBox& box : lists[level])
      if (const auto shared = intersection(box, here, patches.dim)) out[level].push_back(*shared);
  }
  return out;
}

/// The border nearest to the middle of the longest axis, in cells; none where all axes are one root wide.
struct Plane {
  std::size_t axis = 0;
  std::int64_t at = 0;
};
std::optional<Plane> middle(const IndexBox& region, const IndexBox& domain, const Index3& root, int dim) {
  std::optional<Plane> best;
  std::int64_t longest = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const std::int64_t wide = (region.hi[axis] - region.lo[axis]) / root[axis];
    if (wide <= longest) continue;
    longest = wide;
    // At a multiple of a power of two from the domain's corner: borders of boxes tend to lie there.
    const std::int64_t lo = (region.lo[axis] - domain.lo[axis]) / root[axis], hi = lo + wide;
    std::int64_t step = 1;
    while ((lo / (2 * step) + 1) * 2 * step < hi && 4 * step <= wide) step *= 2;
    const std::int64_t nearest = (lo + wide / 2 + step / 2) / step * step;
    const std::int64_t plane = nearest <= lo || nearest >= hi ? lo + wide / 2 : nearest;
    best = {axis, domain.lo[axis] + plane * root[axis]};
  }
  return best;
}

struct Planner {
  const Patches& patches;
  Index3 root{1, 1, 1};  ///< level-0 cells of a root, along each axis
  std::int64_t max_cells = 0;
  std::vector<IndexBox> parts;

  void split(const IndexBox& region, const Lists& lists) {
    const auto plane = count_cells(lists, patches.dim) > max_cells
                           ? middle(region, patches.domain[0], root, patches.dim)
                           : std::nullopt;
    if (!plane) return parts.push_back(region);
    IndexBox below = region, above = region;
    below.hi[plane->axis] = above.lo[plane->axis] = plane->at;
    split(below, cut(lists, patches, below));
    split(above, cut(lists, patches, above));
  }
};

}  // namespace

Index3 common_block(const Patches& patches, std::int64_t most) {
  Index3 block{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis) {
    const IndexBox& domain = patches.domain.at(0);
    std::int64_t common = std::gcd(most, domain.hi[axis] - domain.lo[axis]);
    for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
      const std::int64_t ratio = level > 0 ? patches.ratio[level - 1] : 1, lower = patches.domain[level].lo[axis];
      for (const IndexBox& box : patches.boxes[level])
        common = std::gcd(common, std::gcd((box.lo[axis] - lower) / ratio, (box.hi[axis] - lower) / ratio));
    }
    block[axis] = common;
  }
  return block;
}

PatchTree plan_patch_tree(const Patches& patches, int unfolded, const Index3& block) {
  PatchTree tree;
  tree.dim = patches.dim;
  tree.unfolded = unfolded;
  if (unfolded < 0 || unfolded > 32)
    throw Error(Kind::usage, "unfolded levels: expected 0 to 32, found " + std::to_string(unfolded));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis) {
    const std::int64_t cells = patches.domain[0].hi[axis] - patches.domain[0].lo[axis];
    const std::int64_t root = block[axis] << unfolded;
    if (root < 1 || cells % root != 0)
      throw Error(Kind::unsupported, "a domain of " + std::to_string(cells) + " cells along axis " +
                                         std::to_string(axis) + " is not made of whole roots of " +
                                         std::to_string(root) + " cells");
    tree.roots[axis] = cells / root;
    tree.block[axis] = block[axis];
  }
  tree.index.push_back(unfolded);
  for (std::size_t level = 0; level < patches.ratio.size(); ++level) {
    const int ratio = patches.ratio[level];
    if (ratio != 2 && ratio != 4)
      throw Error(Kind::unsupported,
                  "refinement ratio " + std::to_string(ratio) + ": a tree can hold patches refined by 2 or by 4 only")
          .at("levels " + std::to_string(level) + " to " + std::to_string(level + 1));
    tree.index.push_back(tree.index.back() + (ratio == 2 ? 1 : 2));
  }
  return tree;
}

int unfolding_for(const Patches& patches, std::int64_t max_roots) {
  Index3 cells{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis)
    cells[axis] = patches.domain[0].hi[axis] - patches.domain[0].lo[axis];
  int unfolded = 0;
  for (;; ++unfolded) {
    // As floating-point numbers: the product may not fit.
    if (static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]) <=
        static_cast<double>(max_roots))
      return unfolded;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis)
      if (cells[axis] % 2 != 0) return unfolded;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis) cells[axis] /= 2;
  }
}

std::vector<BoxIndex> index_levels(const Patches& patches) {
  std::vector<BoxIndex> levels;
  for (const auto& boxes : patches.boxes) levels.push_back(index_boxes(boxes, patches.dim));
  return levels;
}

PatchCut cut_patches(const Patches& patches, const IndexBox& region) {
  return cut_patches(patches, index_levels(patches), region);
}

PatchCut cut_patches(const Patches& patches, const std::vector<BoxIndex>& index, const IndexBox& region) {
  PatchCut out;
  out.patches = {patches.dim, patches.domain, patches.ratio, {}};
  out.patches.boxes.resize(patches.domain.size());
  out.source.resize(patches.domain.size());
  IndexBox here = region;
  for (std::size_t level = 0; level < patches.domain.size(); ++level) {
    if (level > 0) here = refined_box(here, patches.ratio[level - 1], patches.dim);
    out.source[level] = boxes_touching(index[level], here);
    for (std::size_t i : out.source[level])
      out.patches.boxes[level].push_back(*intersection(index[level].boxes[i], here, patches.dim));
  }
  return out;
}

std::vector<IndexBox> plan_patch_parts(const Patches& patches, const PatchTree& tree, std::int64_t max_cells) {
  Planner planner{.patches = patches, .root = {1, 1, 1}, .max_cells = max_cells, .parts = {}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis)
    planner.root[axis] = tree.block[axis] << tree.unfolded;
  planner.split(flat(patches.domain[0], patches.dim), patches.boxes);
  return planner.parts;
}

}  // namespace octavo::mesh
