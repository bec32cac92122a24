#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "octavo/analysis/leaves.hpp"
#include "octavo/analysis/select.hpp"

/// Which leaves touch: a tree over some leaves of a step, and walks that visit all that share a side or a corner.
namespace octavo::analysis {

/// A leaf and the analysis' data of it. 32 bytes.
struct ValuedLeaf {
  mesh::CurveKey key;
  double value = 0;      ///< NaN: the leaf is there, but takes no part
  std::uint32_t id = 0;  ///< the analysis's own
  std::uint8_t depth = 0;
};

/// The owned leaves of a part, ascending by key, with the values of a field where the selection takes them. `id` is the
/// place of the value in an array over all cells of the part. Throws as cell_field does.
std::vector<ValuedLeaf> valued_leaves(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                                      const Selection& selection, const std::string& field);

/// A tree down to given leaves. Where no leaf is given the step may have some: these places are unknown.
struct LeafTree {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;
  struct Node {
    double lo, hi;              ///< of the values below that are no NaN; lo > hi where there are none
    std::uint32_t child = 0;    ///< the first of 2^dim, x fastest; 0: has none
    std::uint32_t leaf = none;  ///< its place among the leaves
    bool unknown = false;       ///< something below is unknown
    bool taken() const { return lo <= hi; }
  };
  int dim = 3;
  std::vector<Node> nodes;  ///< the first holds all
};
/// @pre `leaves` ascend by key. Throws Error(corrupt) if two of them overlap.
LeafTree leaf_tree(const CommonGrid& grid, const std::vector<ValuedLeaf>& leaves);

/// The node of a cell of depth 0, or what holds it.
std::uint32_t base_node(const LeafTree& tree, const CommonGrid& grid, const mesh::Coordinate& at);

/// Nodes around a place: on the axes of the set `split` (bit 0 is x) they lie on both sides of it. nodes[w], for each
/// subset w of `split`, is on the upper side along the axes of w. A node that is larger than its neighbours may be
/// there several times.
struct NodeWindow {
  unsigned split = 0;
  std::array<std::uint32_t, 8> nodes{};
};

/// The subsets of a set of axes, ascending.
struct Subsets {
  std::array<std::uint8_t, 8> of{};
  unsigned count = 0;
};
inline constexpr std::array<Subsets, 8> subsets_of_axes = [] {
  std::array<Subsets, 8> all{};
  for (unsigned set = 0; set < 8; ++set)
    for (unsigned subset = 0; subset < 8; ++subset)
      if ((subset & ~set) == 0) all[set].of[all[set].count++] = static_cast<std::uint8_t>(subset);
  return all;
}();

/// Visits all windows below one whose nodes have no children and which are split along `wanted` axes: with 1 each pair
/// of leaves that share a side, with `dim` the leaves around each corner. Each is visited once. `bool
/// skip(const NodeWindow&)` says that nothing below a window is of interest. After Ju, Losasso, Schaefer and Warren,
/// "Dual contouring of Hermite data" (2002): cells, sides, edges and corners are all windows here.
template <class Skip, class Visit>
void for_each_window(const LeafTree& tree, int wanted, const NodeWindow& window, const Skip& skip, const Visit& visit) {
  if (skip(window)) return;
  const unsigned split = window.split, free = ((1U << tree.dim) - 1) & ~split, most = 1U << wanted;
  const Subsets& own = subsets_of_axes[split];
  bool inner = false;
  for (unsigned i = 0; i < own.count; ++i) inner = inner || tree.nodes[window.nodes[own.of[i]]].child != 0;
  if (!inner) {
    if (own.count == most) visit(window);
    return;
  }
  for (unsigned j = 0; j < subsets_of_axes[free].count; ++j) {
    const unsigned joined = subsets_of_axes[free].of[j];  // axes along which the next windows are split, too
    const Subsets &nodes = subsets_of_axes[split | joined], &halves = subsets_of_axes[free & ~joined];
    if (nodes.count > most) continue;
    for (unsigned h = 0; h < halves.count; ++h) {  // and the half in which they are, along other axes
      NodeWindow next;
      next.split = split | joined;
      for (unsigned i = 0; i < nodes.count; ++i) {
        const unsigned w = nodes.of[i];
        const std::uint32_t parent = window.nodes[w & split], child = tree.nodes[parent].child;
        next.nodes[w] = child == 0 ? parent : child + ((~w & split) | (w & joined) | halves.of[h]);
      }
      for_each_window(tree, wanted, next, skip, visit);
    }
  }
}

}  // namespace octavo::analysis
