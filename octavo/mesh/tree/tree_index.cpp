#include "octavo/mesh/tree/tree_index.hpp"

#include <bit>

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

DepthFirst depth_first(const Octree& tree) {
  const auto levels = static_cast<std::size_t>(num_levels(tree));
  const std::size_t family = family_size(tree);
  DepthFirst out{std::vector<std::vector<std::int64_t>>(levels), std::vector<std::vector<std::int64_t>>(levels)};
  for (std::size_t level = levels; level-- > 0;) {
    out.size[level].assign(tree.refined[level].size(), 1);
    std::size_t child = 0;
    tree.refined[level].for_each_set([&](std::size_t i) {
      for (std::size_t end = child + family; child < end; ++child) out.size[level][i] += out.size[level + 1][child];
    });
  }
  std::int64_t next = 0;
  for (std::size_t level = 0; level < levels; ++level) out.number[level].resize(tree.refined[level].size());
  for (std::size_t i = 0; i < tree.refined[0].size(); ++i) {
    out.number[0][i] = next;
    next += out.size[0][i];
  }
  for (std::size_t level = 0; level + 1 < levels; ++level) {
    std::size_t child = 0;
    tree.refined[level].for_each_set([&](std::size_t i) {
      next = out.number[level][i] + 1;
      for (std::size_t end = child + family; child < end; ++child) {
        out.number[level + 1][child] = next;
        next += out.size[level + 1][child];
      }
    });
  }
  return out;
}

}  // namespace octavo::mesh
