#include "octavo/mesh/tree/finer.hpp"

#include <algorithm>
#include <utility>

#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/refine.hpp"
#include "octavo/mesh/tree/tree_index.hpp"

namespace octavo::mesh {
namespace {

using base::BitArray;

std::vector<Coordinate> coordinates_of(const Octree& tree, int level) {
  std::vector<Coordinate> at = root_coordinates(tree);
  for (int l = 0; l < level; ++l) at = child_coordinates(tree, l, at);
  return at;
}

Index3 place_of(const Coordinate& at) { return {at[0], at[1], at[2]}; }

/// Drops cells that are no longer owned.
void keep_owned(Part& part, std::vector<BitArray> owned) {
  Octree tree = octree_of(part);
  tree.owned = std::move(owned);
  Extract extract = prune(tree);
  for (Field& field : part.fields)
    field.bytes = gather(tree, extract, field.bytes, block_size(tree) * size_of(field.info.type));
  part.mesh = std::move(extract.tree);
}

std::vector<BitArray> nothing_owned(const Octree& tree) {
  std::vector<BitArray> owned;
  for (const BitArray& level : tree.owned) owned.emplace_back(level.size());
  return owned;
}

/// The cells of `refined` (a refinement of `tree` and others) that `tree` owned, and those below them from `level` on.
std::vector<BitArray> owned_by(const Octree& tree, const Octree& refined, int level) {
  std::vector<BitArray> owned = nothing_owned(refined);
  const TreeIndex index(tree);
  std::vector<Coordinate> at = root_coordinates(refined);
  for (int l = 0; l < num_levels(refined); ++l) {
    if (l > 0) at = child_coordinates(refined, l - 1, at);
    const auto n = static_cast<std::size_t>(l);
    if (l <= level) {
      for (std::size_t i = 0; i < at.size(); ++i)
        if (const auto cell = index.find(l, place_of(at[i])); cell && tree.owned[n][*cell]) owned[n].set(i);
      continue;
    }
    std::size_t child = 0;
    refined.refined[n - 1].for_each_set([&](std::size_t i) {
      for (std::size_t c = 0; c < family_size(refined); ++c) owned[n].set(child + c, owned[n - 1][i]);
      child += family_size(refined);
    });
  }
  return owned;
}

}  // namespace

std::vector<Index3> cells_beside(const Octree& tree, int level, const std::array<bool, 3>& periodic) {
  std::vector<Index3> beside;
  if (level >= num_levels(tree)) return beside;
  const auto l = static_cast<std::size_t>(level);
  const TreeIndex index(tree);
  const std::vector<Coordinate> at = coordinates_of(tree, level);
  const auto look = [&](Index3 cell, std::size_t axis, std::vector<Index3>& found) {
    const std::int64_t extent = tree.roots[axis] << level, here = cell[axis];
    // Two cells, in blocks.
    const std::int64_t reach = (2 + tree.block[axis] - 1) / tree.block[axis];
    for (std::int64_t by = -reach; by <= reach; ++by) {
      cell[axis] = periodic[axis] ? (here + by + reach * extent) % extent : here + by;
      if (by == 0 || cell[axis] < 0 || cell[axis] >= extent) continue;
      const auto own = index.find(level, cell);
      if (!own || !tree.owned[l][*own]) found.push_back(cell);
    }
  };
  // One axis after another, also from the cells found along the axes before.
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    std::vector<Index3> found = beside;
    tree.owned[l].for_each_set([&](std::size_t i) {
      if (!tree.refined[l][i]) look(place_of(at[i]), axis, found);
    });
    for (const Index3& cell : beside) look(cell, axis, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    beside = std::move(found);
  }
  return beside;
}

Part only_cells(const Part& part, int level, std::span<const Index3> cells) {
  const Octree& tree = octree_of(part);
  std::vector<BitArray> owned = nothing_owned(tree);
  if (level < num_levels(tree)) {
    const TreeIndex index(tree);
    const auto l = static_cast<std::size_t>(level);
    for (const Index3& at : cells)
      if (const auto cell = index.find(level, at); cell && tree.owned[l][*cell]) owned[l].set(*cell);
  }
  Part out{.index = part.index, .mesh = tree, .fields = part.fields, .particles = {}};
  keep_owned(out, std::move(owned));
  return out;
}

Part refine_level(Part part, std::vector<Part> beside, int level, int times, const FillOptions& options) {
  const Octree own = octree_of(part);
  std::vector<Particles> particles = std::exchange(part.particles, {});
  const int index = part.index;
  beside.insert(beside.begin(), std::move(part));
  Part whole = beside.size() == 1 ? std::move(beside.front()) : merge(beside);
  beside.clear();
  for (int l = level; l < level + times; ++l)
    whole = refine_leaves(whole, options, [l](int of, const Coordinate&) { return of == l; });
  const Octree& refined = octree_of(whole);
  keep_owned(whole, owned_by(own, refined, level));
  whole.index = index;
  whole.particles = std::move(particles);
  return whole;
}

}  // namespace octavo::mesh
