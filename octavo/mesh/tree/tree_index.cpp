#include "octavo/mesh/tree/tree_index.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace octavo::mesh {

TreeIndex::TreeIndex(const Octree& tree) : tree_(tree), roots_(held_roots(tree)) {
  for (const base::BitArray& refined : tree.refined) {
    std::vector<std::uint32_t>& before = before_.emplace_back();
    before.reserve(refined.words().size());
    std::uint32_t count = 0;
    for (const std::uint64_t word : refined.words()) {
      before.push_back(count);
      count += static_cast<std::uint32_t>(std::popcount(word));
    }
  }
}

std::size_t TreeIndex::family(int level, std::size_t cell) const {
  const auto l = static_cast<std::size_t>(level);
  const std::uint64_t below = (std::uint64_t{1} << (cell & 63)) - 1;
  return before_[l][cell >> 6] + static_cast<std::size_t>(std::popcount(tree_.refined[l].words()[cell >> 6] & below));
}

std::optional<std::size_t> TreeIndex::find(int level, const Index3& at) const {
  if (level < 0 || level >= num_levels(tree_)) return {};
  const auto dim = static_cast<std::size_t>(tree_.dim);
  for (std::size_t axis = 0; axis < dim; ++axis)
    if (at[axis] < 0 || at[axis] >= tree_.roots[axis] << level) return {};
  Index3 root{0, 0, 0};
  for (std::size_t axis = 0; axis < dim; ++axis) root[axis] = at[axis] >> level;
  const auto on_level_0 = roots_.find((root[2] * tree_.roots[1] + root[1]) * tree_.roots[0] + root[0]);
  if (!on_level_0) return {};
  std::size_t cell = *on_level_0;
  for (int l = 0; l < level; ++l) {
    if (!tree_.refined[static_cast<std::size_t>(l)][cell]) return {};
    std::size_t child = 0;
    for (std::size_t axis = 0; axis < dim; ++axis)
      child |= static_cast<std::size_t>(at[axis] >> (level - l - 1) & 1) << axis;
    cell = (family(l, cell) << dim) + child;
  }
  return cell;
}

namespace {

// For each level from `level` on, how many of its cells the walk has visited when it comes to `cell`: those before it,
// and those below them.
void count_before(const TreeIndex& index, std::size_t level, std::size_t cell, std::vector<std::size_t>& counts) {
  const Octree& tree = index.tree();
  for (; level < counts.size(); ++level) {
    counts[level] = cell;
    if (level + 1 == counts.size()) return;
    const bool all = cell == tree.refined[level].size();
    cell = all ? tree.refined[level + 1].size() : index.family(static_cast<int>(level), cell) << tree.dim;
  }
}

}  // namespace

std::vector<std::size_t> cells_before(const TreeIndex& index, std::size_t root) {
  std::vector<std::size_t> counts(index.tree().refined.size());
  count_before(index, 0, root, counts);
  return counts;
}

std::vector<std::size_t> cut_walk(const TreeIndex& index, std::size_t cells) {
  const Octree& tree = index.tree();
  // On each level the walk is at its first cell, or at the first child of the cell that it has visited last.
  std::vector<std::size_t> counts(tree.refined.size(), 0), tried = counts;
  std::size_t siblings = tree.refined.empty() ? 0 : tree.refined[0].size();
  for (std::size_t level = 0; level < counts.size() && cells != 0; ++level, siblings = family_size(tree)) {
    // Visited from here on when it comes to that sibling.
    const auto visited = [&](std::size_t sibling) {
      count_before(index, level, counts[level] + sibling, tried);
      std::size_t sum = 0;
      for (std::size_t l = level; l < counts.size(); ++l) sum += tried[l] - counts[l];
      return sum;
    };
    std::size_t whole = 0;  // siblings that it has visited with all below them
    for (std::size_t step = std::bit_floor(siblings); step != 0; step /= 2)
      if (whole + step <= siblings && visited(whole + step) <= cells) whole += step;
    cells -= visited(whole);
    count_before(index, level, counts[level] + whole, counts);
    if (cells == 0 || whole == siblings) break;
    ++counts[level];
    --cells;
  }
  return counts;
}

Octree roots_between(const TreeIndex& index, std::size_t first, std::size_t last) {
  const Octree& tree = index.tree();
  Octree out{.dim = tree.dim, .roots = tree.roots, .block = tree.block, .refined = {}, .owned = {}, .held = {}};
  RootIntervals held;
  std::size_t before = 0;
  for (const RootInterval& interval : held_roots(tree)) {
    const auto count = static_cast<std::size_t>(interval.end - interval.begin);
    const std::size_t from = std::max(first, before), to = std::min(last, before + count);
    if (from < to)
      append(held, {interval.begin + static_cast<std::int64_t>(from - before),
                    interval.begin + static_cast<std::int64_t>(to - before)});
    before += count;
  }
  hold(out, std::move(held));
  const std::vector<std::size_t> begin = cells_before(index, first), end = cells_before(index, last);
  for (std::size_t level = 0; level < begin.size(); ++level) {
    if (level > 0 && begin[level] == end[level]) break;
    out.refined.push_back(tree.refined[level].slice(begin[level], end[level]));
    out.owned.push_back(tree.owned[level].slice(begin[level], end[level]));
  }
  return out;
}

}  // namespace octavo::mesh
