#include "octavo/mesh/patches/octree_to_patches.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

/// An owned tree cell and where its values are.
struct OwnedCell {
  Index3 at{0, 0, 0};
  std::size_t cell = 0;  ///< in an array over all levels
};

bool before(const Index3& a, const Index3& b) { return std::tie(a[2], a[1], a[0]) < std::tie(b[2], b[1], b[0]); }

// Neighbours along an axis that agree along all others become one, unless a multiple of `max` lies between. The boxes
// are sorted so that such neighbours follow one another.
std::vector<IndexBox> merge_along(std::vector<IndexBox> boxes, std::size_t axis, std::int64_t max) {
  const auto others = [&](const IndexBox& box) {
    IndexBox key = box;
    key.lo[axis] = key.hi[axis] = 0;
    return std::tuple(key.lo[2], key.lo[1], key.lo[0], key.hi[2], key.hi[1], key.hi[0]);
  };
  std::sort(boxes.begin(), boxes.end(), [&](const IndexBox& a, const IndexBox& b) {
    return std::pair(others(a), a.lo[axis]) < std::pair(others(b), b.lo[axis]);
  });
  std::vector<IndexBox> out;
  for (const IndexBox& box : boxes) {
    const bool joins = !out.empty() && others(out.back()) == others(box) && out.back().hi[axis] == box.lo[axis] &&
                       box.lo[axis] % max != 0;
    if (joins)
      out.back().hi[axis] = box.hi[axis];
    else
      out.push_back(box);
  }
  return out;
}

/// Which tree level each level of the patches is.
std::vector<int> levels_to_keep(const Octree& tree, const PatchOptions& options) {
  std::vector<int> keep{options.unfolded};
  for (std::size_t step = 0;; ++step) {
    const int ratio = step < options.ratio.size() ? options.ratio[step] : 2;
    if (ratio != 2 && ratio != 4)
      throw Error(Kind::unsupported, "refinement ratio " + std::to_string(ratio) + ": a tree gives 2 and 4 only");
    const int next = keep.back() + (ratio == 2 ? 1 : 2);
    if (next >= std::max(num_levels(tree), options.levels)) return keep;
    keep.push_back(next);
  }
}

void refuse_lost_leaves(const Octree& tree, const std::vector<int>& keep) {
  for (int level = 0; level < num_levels(tree); ++level) {
    if (std::find(keep.begin(), keep.end(), level) != keep.end()) continue;
    const std::size_t leaves = num_owned_leaves(tree, level);
    if (leaves != 0)
      throw Error(Kind::unsupported, "tree level index " + std::to_string(level) + " is none of the patches' levels, " +
                                         "but has " + std::to_string(leaves) + " leaves");
  }
}

/// Owned cells of the wanted levels, each list sorted by z, y, x.
std::vector<std::vector<OwnedCell>> list_places(const Octree& tree, const std::vector<int>& keep) {
  std::vector<std::vector<OwnedCell>> places;
  const auto offsets = level_offsets(tree);
  std::vector<Coordinate> at = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    if (level > 0) at = child_coordinates(tree, level - 1, at);
    if (std::find(keep.begin(), keep.end(), level) == keep.end()) continue;
    const auto l = static_cast<std::size_t>(level);
    std::vector<OwnedCell>& list = places.emplace_back();
    tree.owned[l].for_each_set([&](std::size_t i) {
      list.push_back({{at[i][0], at[i][1], at[i][2]}, offsets[l] + i});
    });
    std::sort(list.begin(), list.end(), [](const OwnedCell& a, const OwnedCell& b) { return before(a.at, b.at); });
  }
  return places;
}

std::size_t find_cell(const std::vector<OwnedCell>& places, const Index3& at) {
  const auto found =
      std::lower_bound(places.begin(), places.end(), at,
                       [](const OwnedCell& place, const Index3& wanted) { return before(place.at, wanted); });
  return found->cell;
}

Index3 largest_box(const Octree& tree, std::int64_t max_box) {
  Index3 cells{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
    cells[axis] = std::max<std::int64_t>(1, max_box / tree.block[axis]);
  return cells;
}

/// A box of tree cells as a box of their values' cells, from the domain's corner on that level.
IndexBox in_cells(const IndexBox& box, const Octree& tree, const Index3& corner) {
  IndexBox out{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    out.lo[axis] = box.lo[axis] * tree.block[axis] + corner[axis];
    out.hi[axis] = box.hi[axis] * tree.block[axis] + corner[axis];
  }
  return out;
}

/// For each run of values on the patches, in order, where in the tree it begins; a run is a block's row.
std::vector<std::size_t> list_rows(const Octree& tree, const std::vector<IndexBox>& boxes,
                                   const std::vector<OwnedCell>& places) {
  std::vector<std::size_t> rows;
  const Index3& b = tree.block;
  for (const IndexBox& box : boxes)
    for (std::int64_t z = box.lo[2] * b[2]; z < box.hi[2] * b[2]; ++z)
      for (std::int64_t y = box.lo[1] * b[1]; y < box.hi[1] * b[1]; ++y)
        for (std::int64_t x = box.lo[0]; x < box.hi[0]; ++x) {
          const std::size_t cell = find_cell(places, {x, y / b[1], z / b[2]});
          const auto inside = static_cast<std::size_t>((z % b[2] * b[1] + y % b[1]) * b[0]);
          rows.push_back(cell * block_size(tree) + inside);
        }
  return rows;
}

void check_field(const Octree& tree, const Field& field) {
  if (field.info.components != 1 || field.info.ghost != 0 || field.size() != num_cells(tree) * block_size(tree))
    throw Error(Kind::usage, "a field on a tree must have one value a cell and no ghost cells to go onto patches")
        .at("field " + field.info.name);
}

}  // namespace

std::vector<IndexBox> merge_to_boxes(std::vector<Index3> cells, const Index3& max) {
  std::vector<IndexBox> boxes;
  boxes.reserve(cells.size());
  for (const Index3& cell : cells) boxes.push_back({cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}});
  // Along x first: rows are the runs in which values are copied later.
  for (std::size_t axis = 0; axis < 3; ++axis) boxes = merge_along(std::move(boxes), axis, max[axis]);
  std::sort(boxes.begin(), boxes.end(), [](const IndexBox& a, const IndexBox& b) { return before(a.lo, b.lo); });
  return boxes;
}

TreePatches plan_patches(const Octree& tree, const PatchOptions& options) {
  const std::vector<int> keep = levels_to_keep(tree, options);
  refuse_lost_leaves(tree, keep);
  auto places = list_places(tree, keep);
  places.resize(keep.size());
  TreePatches plan;
  plan.patches.dim = tree.dim;
  plan.run = static_cast<std::size_t>(tree.block[0]);
  for (std::size_t level = 0; level < keep.size(); ++level) {
    const int finer = keep[level] - options.unfolded;
    Index3 corner{0, 0, 0}, extent{1, 1, 1};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
      corner[axis] = options.corner[axis] * (std::int64_t{1} << finer);
      extent[axis] = tree.roots[axis] << keep[level];
    }
    std::vector<Index3> cells;
    for (const OwnedCell& place : places[level]) cells.push_back(place.at);
    const auto boxes = merge_to_boxes(std::move(cells), largest_box(tree, options.max_box));
    plan.patches.domain.push_back(in_cells({{0, 0, 0}, extent}, tree, corner));
    if (level > 0) plan.patches.ratio.push_back(1 << (keep[level] - keep[level - 1]));
    std::vector<IndexBox>& out = plan.patches.boxes.emplace_back();
    for (const IndexBox& box : boxes) out.push_back(in_cells(box, tree, corner));
    const auto level_rows = list_rows(tree, boxes, places[level]);
    plan.rows.insert(plan.rows.end(), level_rows.begin(), level_rows.end());
  }
  return plan;
}

std::vector<std::byte> values_on(const TreePatches& plan, std::span<const std::byte> values, std::size_t width) {
  std::vector<std::byte> moved(plan.rows.size() * plan.run * width);
  std::byte* out = moved.data();
  for (std::size_t row : plan.rows) {
    std::memcpy(out, values.data() + row * width, plan.run * width);
    out += plan.run * width;
  }
  return moved;
}

Part octree_to_patches(const Part& part, const PatchOptions& options) {
  const auto& tree = std::get<Octree>(part.mesh);
  TreePatches plan = plan_patches(tree, options);
  Part out{.index = part.index, .mesh = std::move(plan.patches), .fields = {}, .particles = part.particles};
  for (const Field& field : part.fields) {
    check_field(tree, field);
    out.fields.push_back({field.info, values_on(plan, field.bytes, size_of(field.info.type))});
  }
  return out;
}

}  // namespace octavo::mesh
