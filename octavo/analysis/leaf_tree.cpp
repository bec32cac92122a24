#include "octavo/analysis/leaf_tree.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

mesh::CurveKey plus_cells(const mesh::CurveKey& key, std::uint64_t cells, int bits) {
  mesh::CurveKey add{};
  if (bits >= 64) {
    add.high = cells << (bits - 64);
  } else {
    add.low = cells << bits;
    add.high = bits == 0 ? 0 : cells >> (64 - bits);
  }
  mesh::CurveKey sum{key.high + add.high, key.low + add.low};
  if (sum.low < add.low) ++sum.high;
  return sum;
}

class TreeBuilder {
 public:
  TreeBuilder(const CommonGrid& grid, const std::vector<ValuedLeaf>& leaves, LeafTree& tree)
      : grid_(grid), leaves_(leaves), nodes_(tree.nodes) {
    nodes_.reserve(leaves.size() + leaves.size() / 2 + 16);
    nodes_.emplace_back();
  }

  /// `level`: halvings of the cube of all keys.
  void build(std::size_t node, std::size_t first, std::size_t last, int level, const mesh::CurveKey& key) {
    LeafTree::Node made{infinite, -infinite, 0, LeafTree::none, first == last};
    if (first != last && level_of(leaves_[first]) <= level) {
      if (last - first > 1 || level_of(leaves_[first]) < level)
        throw base::Error(base::Kind::corrupt, "two leaves of the step overlap");
      const double value = leaves_[first].value;
      if (value == value) made.lo = made.hi = value;
      made.leaf = static_cast<std::uint32_t>(first);
    } else if (first != last) {
      made = with_children(first, last, level, key);
    }
    // Written last: the calls above make `nodes_` grow, and a reference would dangle.
    nodes_[node] = made;
  }

 private:
  int level_of(const ValuedLeaf& leaf) const { return grid_.bits - grid_.deepest + leaf.depth; }

  LeafTree::Node with_children(std::size_t first, std::size_t last, int level, const mesh::CurveKey& key) {
    LeafTree::Node made{infinite, -infinite, 0, LeafTree::none, false};
    const unsigned children = 1U << grid_.dim;
    if (nodes_.size() + children >= LeafTree::none)
      throw base::Error(base::Kind::unsupported, "a tree of 2^32 leaves or more");
    made.child = static_cast<std::uint32_t>(nodes_.size());
    nodes_.resize(nodes_.size() + children);
    const int bits = grid_.dim * (grid_.bits - level - 1);
    for (unsigned c = 0; c < children; ++c) {
      const mesh::CurveKey begin = plus_cells(key, c, bits), end = plus_cells(key, c + 1, bits);
      const auto from = leaves_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto to = std::partition_point(from, leaves_.begin() + static_cast<std::ptrdiff_t>(last),
                                           [&](const ValuedLeaf& leaf) { return leaf.key < end; });
      const std::size_t next = first + static_cast<std::size_t>(to - from);
      build(made.child + c, first, next, level + 1, begin);
      const LeafTree::Node& child = nodes_[made.child + c];
      made.lo = std::min(made.lo, child.lo);
      made.hi = std::max(made.hi, child.hi);
      made.unknown = made.unknown || child.unknown;
      first = next;
    }
    return made;
  }

  const CommonGrid& grid_;
  const std::vector<ValuedLeaf>& leaves_;
  std::vector<LeafTree::Node>& nodes_;
};

}  // namespace

std::vector<ValuedLeaf> valued_leaves(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                                      const Selection& selection, const std::string& field) {
  const mesh::Octree& tree = mesh::octree_of(part);
  const std::vector<Leaf> leaves = sorted_leaves(tree, grid, 0);
  const std::vector<double> values = mesh::to_doubles(cell_field(part, field));
  std::vector<double> taken(values.size(), std::numeric_limits<double>::quiet_NaN());
  for_each_selected(part, header, selection, [&](const Cells& cells) {
    for (const std::size_t k : cells.values) taken[k] = values[k];
  });
  std::vector<ValuedLeaf> out;
  out.reserve(leaves.size());
  for (const Leaf& leaf : leaves) out.push_back({leaf.key, taken[leaf.value], leaf.value, leaf.depth});
  return out;
}

LeafTree leaf_tree(const CommonGrid& grid, const std::vector<ValuedLeaf>& leaves) {
  LeafTree tree;
  tree.dim = grid.dim;
  TreeBuilder(grid, leaves, tree).build(0, 0, leaves.size(), 0, {});
  return tree;
}

std::uint32_t base_node(const LeafTree& tree, const CommonGrid& grid, const mesh::Coordinate& at) {
  std::uint32_t node = 0;
  for (int bit = grid.bits - grid.deepest - 1; bit >= 0 && tree.nodes[node].child != 0; --bit) {
    unsigned half = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis)
      half |= (at[axis] >> bit & 1U) << axis;
    node = tree.nodes[node].child + half;
  }
  return node;
}

}  // namespace octavo::analysis
