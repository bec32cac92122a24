#include "apps/patches/nesting.hpp"

#include <algorithm>

#include "apps/patches/cluster.hpp"
#include "octavo/base/error.hpp"

namespace octavo::patches {
namespace {

IndexBox domain_in_blocks(const Shape& shape, int level) {
  return coarsened_box(domain_of(shape, level), shape.block, shape.dim);
}

// A position beyond a periodic border comes back on the other side; false beyond another one.
bool wrap(const Shape& shape, const IndexBox& domain, Index3& at) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) {
    if (at[axis] >= 0 && at[axis] < domain.hi[axis]) continue;
    if (shape.boundary[axis] != Boundary::periodic) return false;
    at[axis] = (at[axis] + domain.hi[axis]) % domain.hi[axis];
  }
  return true;
}

// Blocks of the level below that have to be refined for these to have a neighbour on all sides.
Blocks parents_of_grown(const Shape& shape, int level, const Blocks& blocks) {
  const IndexBox domain = domain_in_blocks(shape, level);
  Blocks parents;
  for (const Index3& block : blocks)
    for_each_cell(grown({block, {block[0] + 1, block[1] + 1, block[2] + 1}}, 1, shape.dim), [&](Index3 at) {
      if (!wrap(shape, domain, at)) return;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) at[axis] /= 2;
      parents.push_back(at);
    });
  make_set(parents);
  return parents;
}

Blocks blocks_in(const std::vector<IndexBox>& boxes) {
  Blocks blocks;
  for (const IndexBox& box : boxes) for_each_cell(box, [&](const Index3& at) { blocks.push_back(at); });
  make_set(blocks);
  return blocks;
}

// Blocks of level l - 1 that boxes of level l refine.
Blocks refined_by(const std::vector<IndexBox>& boxes, const Shape& shape) {
  std::vector<IndexBox> under;
  for (const IndexBox& box : boxes) under.push_back(coarsened_box(box, 2 * shape.block, shape.dim));
  return blocks_in(under);
}

// Boxes of the next level that refine these blocks and no others: the same for the same blocks, however found.
std::vector<IndexBox> boxes_over(const Shape& shape, const Blocks& refined) {
  const std::int64_t longest = shape.max_box / (2 * shape.block);
  std::vector<IndexBox> boxes = cluster(refined, shape.dim, 1.0, {longest, longest, longest});
  for (IndexBox& box : boxes) box = refined_box(box, 2 * shape.block, shape.dim);
  return boxes;
}

}  // namespace

void make_set(Blocks& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

Blocks blocks_touching(const std::vector<IndexBox>& boxes, const Shape& shape) {
  std::vector<IndexBox> coarse;
  for (const IndexBox& box : boxes) coarse.push_back(coarsened_box(box, shape.block, shape.dim));
  return blocks_in(coarse);
}

std::vector<std::vector<IndexBox>> plan_levels(const Shape& shape, std::vector<Blocks> flagged) {
  flagged.resize(static_cast<std::size_t>(shape.max_level));
  std::vector<std::vector<IndexBox>> levels(flagged.size());
  const std::int64_t longest = shape.max_box / (2 * shape.block);
  for (std::size_t l = flagged.size(); l-- > 0;) {
    make_set(flagged[l]);
    const Blocks refined = blocks_in(cluster(flagged[l], shape.dim, shape.efficiency, {longest, longest, longest}));
    levels[l] = boxes_over(shape, refined);
    if (l == 0) break;
    const Blocks needed = parents_of_grown(shape, static_cast<int>(l), refined);
    flagged[l - 1].insert(flagged[l - 1].end(), needed.begin(), needed.end());
  }
  while (!levels.empty() && levels.back().empty()) levels.pop_back();
  return levels;
}

void check_nesting(const Shape& shape, const std::vector<std::vector<IndexBox>>& boxes) {
  const auto fail = [](std::size_t level, const std::string& what) {
    throw base::Error(base::Kind::unsupported, what)
        .at("level " + std::to_string(level))
        .hint("go on with the coarsest mesh and the blocks of the run that wrote the boxes");
  };
  std::int64_t volume = 1;
  for (int axis = 0; axis < shape.dim; ++axis) volume *= shape.block;
  Blocks below;
  for (std::size_t l = 0; l < boxes.size(); ++l) {
    std::int64_t cells = 0;
    for (const IndexBox& box : boxes[l]) cells += num_cells(box, shape.dim);
    if (l == 0 && cells != num_cells(domain_of(shape, 0), shape.dim))
      fail(l, "boxes do not cover the domain of " + mesh::describe_extent(shape.cells, shape.dim) + " cells");
    if (l == 0) continue;
    Blocks refined = refined_by(boxes[l], shape);
    if (static_cast<std::int64_t>(refined.size()) * (volume << shape.dim) != cells)
      fail(l, "what is refined is not of whole blocks of " + std::to_string(shape.block) + " cells");
    const Blocks needed = l == 1 ? Blocks{} : parents_of_grown(shape, static_cast<int>(l) - 1, refined);
    if (!std::includes(below.begin(), below.end(), needed.begin(), needed.end()))
      fail(l, "the level below does not surround it by a block: ghost cells would have no values");
    below = std::move(refined);
  }
}

std::vector<std::vector<IndexBox>> regular_boxes(const Shape& shape, const std::vector<std::vector<IndexBox>>& boxes) {
  std::vector<std::vector<IndexBox>> levels;
  for (std::size_t l = 1; l < boxes.size(); ++l) levels.push_back(boxes_over(shape, refined_by(boxes[l], shape)));
  while (!levels.empty() && levels.back().empty()) levels.pop_back();
  return levels;
}

}  // namespace octavo::patches
