#include "octavo/mesh/tree/hyper_trees.hpp"

#include <bit>
#include <utility>

#include "octavo/mesh/tree/tree_index.hpp"

namespace octavo::mesh {
namespace {

/// Each bit `times` times.
base::BitArray repeated(const base::BitArray& bits, std::size_t times) {
  base::BitArray out(bits.size() * times);
  bits.for_each_set([&](std::size_t i) {
    for (std::size_t k = i * times; k < (i + 1) * times; ++k) out.set(k);
  });
  return out;
}

}  // namespace

std::optional<int> levels_in_block(const Octree& tree) {
  const auto extent = static_cast<std::uint64_t>(tree.block[0]);
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(tree.dim); ++axis)
    if (tree.block[axis] != tree.block[0]) return {};
  if (!std::has_single_bit(extent)) return {};
  return std::countr_zero(extent);
}

Octree unfold_blocks(const Octree& tree) {
  const int more = levels_in_block(tree).value();
  if (more == 0) return tree;
  Octree out{.dim = tree.dim, .roots = tree.roots, .block = {1, 1, 1}, .refined = {}, .owned = {}, .held = tree.held};
  const std::size_t roots = num_cells(tree, 0);
  if (roots != 0)
    for (int level = 0; level < more; ++level) {
      const std::size_t cells = roots << (level * tree.dim);
      out.refined.emplace_back(cells, true);
      out.owned.emplace_back(cells);
    }
  for (std::size_t level = 0; level < tree.refined.size(); ++level) {
    out.refined.push_back(repeated(tree.refined[level], block_size(tree)));
    out.owned.push_back(repeated(tree.owned[level], block_size(tree)));
  }
  return out;
}

std::vector<std::uint32_t> unfolded_order(const Octree& tree) {
  const auto dim = static_cast<std::size_t>(tree.dim);
  std::vector<std::uint32_t> order(block_size(tree));
  for (std::size_t cell = 0; cell < order.size(); ++cell) {
    std::size_t at = 0, stride = 1;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      // A cell's number in the unfolded tree has the bits of its coordinates in turn, x lowest.
      for (std::size_t bit = 0; cell >> (bit * dim) != 0; ++bit)
        at += (cell >> (bit * dim + axis) & 1) * (stride << bit);
      stride *= static_cast<std::size_t>(tree.block[axis]);
    }
    order[cell] = static_cast<std::uint32_t>(at);
  }
  return order;
}

RootByRoot::RootByRoot(const Octree& tree) {
  const TreeIndex index(tree);
  const std::size_t roots = mesh::num_cells(tree, 0), family = family_size(tree);
  std::vector<std::uint64_t> first(roots + 1);
  for (std::size_t r = 0; r <= roots; ++r) first[r] = r;
  for (int level = 0;; ++level) {
    first_.push_back(first);
    if (level + 1 == num_levels(tree)) break;
    const std::size_t cells = mesh::num_cells(tree, level), below = mesh::num_cells(tree, level + 1);
    for (std::uint64_t& cell : first) cell = cell == cells ? below : index.family(level, cell) * family;
  }
  place_.assign(first_.size(), std::vector<std::uint64_t>(roots));
  for (std::size_t r = 0; r < roots; ++r)
    for (std::size_t level = 0; level < first_.size(); ++level) {
      place_[level][r] = cells_;
      cells_ += first_[level][r + 1] - first_[level][r];
    }
}

int RootByRoot::depth(std::size_t root) const {
  int levels = 0;
  for (const auto& begins : first_) levels += begins[root] != begins[root + 1] ? 1 : 0;
  return levels;
}

}  // namespace octavo::mesh
