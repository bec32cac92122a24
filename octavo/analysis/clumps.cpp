#include "octavo/analysis/clumps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

/// Leaves are joined twice: first within each part, then across parts, where the sets are clumps of parts. Ranks
/// exchange the leaves that may touch another part's, and a row of sums for each clump, but never cells.
namespace octavo::analysis {
namespace {

using mesh::Point3;

/// Windows of two nodes below which a pair can be: both have cells of clumps, or one has and the other is unknown.
bool no_pair(const LeafTree& tree, const NodeWindow& window) {
  const LeafTree::Node& low = tree.nodes[window.nodes[0]];
  if (window.split == 0) return !low.taken();
  const LeafTree::Node& high = tree.nodes[window.nodes[window.split]];
  const bool joined = low.taken() && high.taken();
  return !joined && !(low.taken() && high.unknown) && !(high.taken() && low.unknown);
}

/// Calls visit(low, high) for the nodes of each pair that no_pair() leaves.
template <class Visit>
void for_each_pair(const LeafTree& tree, const NodeWindow& from, const Visit& visit) {
  for_each_window(
      tree, 1, from, [&](const NodeWindow& window) { return no_pair(tree, window); },
      [&](const NodeWindow& window) { visit(tree.nodes[window.nodes[0]], tree.nodes[window.nodes[window.split]]); });
}

// ------------------------------------------------------------------------------------------------ within a part

/// Sets that hang together, by the smallest number in each.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// A part's leaves and the values that clumps need of them.
struct ClumpCells {
  const mesh::Header& header;
  const CommonGrid& grid;
  const std::vector<ValuedLeaf>& leaves;
  std::vector<double> density;  ///< by value; empty where there is none
};

bool at_periodic_side(const ClumpCells& cells, const mesh::Coordinate& at, int depth) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(cells.grid.dim); ++axis)
    if (cells.header.periodic[axis] &&
        (at[axis] == 0 || std::uint64_t{at[axis]} + 1 == static_cast<std::uint64_t>(cells.grid.base[axis]) << depth))
      return true;
  return false;
}

void add_cell(const ClumpCells& cells, const ValuedLeaf& leaf, const mesh::Coordinate& at, ClumpSums& to) {
  const double volume = volume_of(cells.grid, leaf.depth);
  const double mass = cells.density.empty() ? volume : cells.density[leaf.id] * volume;
  Point3 centre{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(cells.grid.dim); ++axis) {
    const double size =
        std::ldexp(cells.grid.extent[axis] / static_cast<double>(cells.grid.base[axis]), -int{leaf.depth});
    const double lo = cells.grid.lo[axis] + at[axis] * size, hi = cells.grid.lo[axis] + (at[axis] + 1.0) * size;
    centre[axis] = cells.grid.lo[axis] + (at[axis] + 0.5) * size;
    to.lo[axis] = to.cells == 0 ? lo : std::min(to.lo[axis], lo);
    to.hi[axis] = to.cells == 0 ? hi : std::max(to.hi[axis], hi);
    to.moment[axis].add(mass * centre[axis]);
  }
  const int level = cells.grid.code_level[0][leaf.depth];
  if (to.cells == 0 || leaf.value > to.peak) {
    to.peak = leaf.value;
    to.peak_at = centre;
  }
  to.deepest = to.cells == 0 ? level : std::max(to.deepest, level);
  to.volume.add(volume);
  to.mass.add(mass);
  ++to.cells;
}

/// The leaves of a part, and which hang together in it.
struct PartSets {
  std::vector<ValuedLeaf> leaves;
  std::vector<std::uint32_t> clump;  ///< of each leaf; none where its value is not above the threshold
  std::vector<char> border;          ///< whether the leaf may touch one of another part
  std::uint32_t count = 0;           ///< of clumps
};

PartSets part_sets(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                   const Selection& selection, const ClumpPlan& plan) {
  PartSets out;
  out.leaves = valued_leaves(part, header, grid, selection, plan.field);
  for (ValuedLeaf& leaf : out.leaves)
    // The leaf stays in the tree: its place is known, and no other part's leaf can be there.
    if (!(leaf.value > plan.above)) leaf.value = std::numeric_limits<double>::quiet_NaN();
  Sets sets(out.leaves.size());
  out.border.assign(out.leaves.size(), 0);
  const LeafTree tree = leaf_tree(grid, out.leaves);
  for_each_pair(tree, {}, [&](const LeafTree::Node& low, const LeafTree::Node& high) {
    if (low.taken() && high.taken()) sets.join(low.leaf, high.leaf);
    if (low.taken() && high.unknown) out.border[low.leaf] = 1;
    if (high.taken() && low.unknown) out.border[high.leaf] = 1;
  });
  out.clump.assign(out.leaves.size(), LeafTree::none);
  std::vector<std::uint32_t> number(out.leaves.size(), LeafTree::none);  // of the first leaf of a set
  for (std::size_t i = 0; i < out.leaves.size(); ++i) {
    if (std::isnan(out.leaves[i].value)) continue;
    std::uint32_t& of_set = number[sets.find(static_cast<std::uint32_t>(i))];
    if (of_set == LeafTree::none) of_set = out.count++;
    out.clump[i] = of_set;
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ across parts

using Periods = std::array<std::int32_t, 3>;

Periods plus(const Periods& a, const Periods& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Periods minus(const Periods& a, const Periods& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// Sets of clumps of parts, with the periods by which each is moved to be in one piece with the first of its set.
class PeriodicSets {
 public:
  explicit PeriodicSets(std::size_t count) : parent_(count), moved_(count), around_(count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  struct Place {
    std::uint32_t first;
    Periods moved;
  };
  Place find(std::uint32_t i) {
    Place place{i, {}};
    for (; parent_[place.first] != place.first; place.first = parent_[place.first])
      place.moved = plus(place.moved, moved_[place.first]);
    // `left` are the periods from i to the first of its set.
    for (Periods left = place.moved; parent_[i] != place.first && i != place.first;) {  // shortens the way
      const Periods step = moved_[i];
      const std::uint32_t next = parent_[i];
      parent_[i] = place.first;
      moved_[i] = left;
      left = minus(left, step);
      i = next;
    }
    return place;
  }
  /// b, moved by these periods, touches a.
  void join(std::uint32_t a, std::uint32_t b, const Periods& by) {
    const Place of_a = find(a), of_b = find(b);
    const Periods b_to_a = minus(plus(by, of_a.moved), of_b.moved);
    if (of_a.first == of_b.first) {
      // The two hang together already. If this way between them differs from the known one, the set goes around the
      // domain.
      for (std::size_t axis = 0; axis < 3; ++axis) around_[of_a.first][axis] |= b_to_a[axis] != 0;
      return;
    }
    const bool a_first = of_a.first < of_b.first;
    const std::uint32_t first = std::min(of_a.first, of_b.first), other = std::max(of_a.first, of_b.first);
    parent_[other] = first;
    moved_[other] = a_first ? b_to_a : minus({}, b_to_a);
    for (std::size_t axis = 0; axis < 3; ++axis) around_[first][axis] |= around_[other][axis];
  }
  const std::array<bool, 3>& around(std::uint32_t first) const { return around_[first]; }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<Periods> moved_;
  std::vector<std::array<bool, 3>> around_;
};

/// Pairs across the periodic sides of one axis: the low node of a window is the last along the axis.
template <class Join>
void join_across(const LeafTree& tree, const CommonGrid& grid, std::size_t axis, const Join& join) {
  mesh::Index3 cells{1, 1, 1};
  for (std::size_t other = 0; other < static_cast<std::size_t>(grid.dim); ++other)
    cells[other] = other == axis ? 1 : grid.base[other];
  mesh::Index3 at{};
  for (at[2] = 0; at[2] < cells[2]; ++at[2])
    for (at[1] = 0; at[1] < cells[1]; ++at[1])
      for (at[0] = 0; at[0] < cells[0]; ++at[0]) {
        mesh::Coordinate first{static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                               static_cast<std::uint32_t>(at[2])};
        mesh::Coordinate last = first;
        last[axis] = static_cast<std::uint32_t>(grid.base[axis] - 1);
        NodeWindow window;
        window.split = 1U << axis;
        window.nodes[0] = base_node(tree, grid, last);
        window.nodes[window.split] = base_node(tree, grid, first);
        for_each_pair(tree, window, join);
      }
}

PeriodicSets sets_of(const PartClumps& found, const mesh::Header& header, const CommonGrid& grid) {
  PeriodicSets sets(found.clumps.size());
  const LeafTree tree = leaf_tree(grid, found.border);
  const auto joining = [&](const Periods& by) {
    return [&sets, &found, by](const LeafTree::Node& low, const LeafTree::Node& high) {
      if (low.taken() && high.taken()) sets.join(found.border[low.leaf].id, found.border[high.leaf].id, by);
    };
  };
  for_each_pair(tree, {}, joining({}));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis) {
    Periods one{};
    one[axis] = 1;
    if (header.periodic[axis]) join_across(tree, grid, axis, joining(one));
  }
  return sets;
}

void move_by(ClumpSums& sums, std::size_t axis, double length) {
  sums.lo[axis] += length;
  sums.hi[axis] += length;
  sums.moment[axis].add(sums.mass.value() * length);
}

void add_clump(ClumpSums& to, const ClumpSums& later, const CommonGrid& grid) {
  if (to.cells == 0) {
    to = later;
    return;
  }
  to.cells += later.cells;
  to.volume.add(later.volume);
  to.mass.add(later.mass);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis) {
    to.moment[axis].add(later.moment[axis]);
    to.lo[axis] = std::min(to.lo[axis], later.lo[axis]);
    to.hi[axis] = std::max(to.hi[axis], later.hi[axis]);
  }
  if (later.peak > to.peak) {
    to.peak = later.peak;
    to.peak_at = later.peak_at;
  }
  to.deepest = std::max(to.deepest, later.deepest);
}

/// Sets the centre, and moves the clump by whole periods so that this is inside the domain.
void place_clump(Clump& clump, const mesh::Header& header, const CommonGrid& grid) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis) {
    const double extent = grid.extent[axis];
    clump.centre[axis] = clump.sums.moment[axis].value() / clump.sums.mass.value();
    if (clump.around[axis]) {
      clump.sums.lo[axis] = grid.lo[axis];
      clump.sums.hi[axis] = grid.lo[axis] + extent;
    } else if (header.periodic[axis]) {
      const double away = -extent * std::floor((clump.centre[axis] - grid.lo[axis]) / extent);
      if (away == 0 || !std::isfinite(away)) continue;
      move_by(clump.sums, axis, away);
      clump.centre[axis] += away;
    }
  }
}

JoinedClumps sorted_by_weight(std::vector<Clump> clumps, const std::vector<std::uint32_t>& joined,
                              const std::vector<std::uint32_t>& counts, bool by_mass) {
  const auto weight = [&](std::uint32_t i) {
    return by_mass ? clumps[i].sums.mass.value() : clumps[i].sums.volume.value();
  };
  std::vector<std::uint32_t> order(clumps.size()), rank(clumps.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); });
  JoinedClumps out;
  for (const std::uint32_t i : order) {
    rank[i] = static_cast<std::uint32_t>(out.clumps.size());
    out.clumps.push_back(clumps[i]);
  }
  std::size_t next = 0;
  for (const std::uint32_t count : counts) {
    out.parts.emplace_back();
    for (std::uint32_t i = 0; i < count; ++i) out.parts.back().push_back(rank[joined[next++]]);
  }
  return out;
}

}  // namespace

PartClumps part_clumps(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                       const Selection& selection, const ClumpPlan& plan) {
  const PartSets sets = part_sets(part, header, grid, selection, plan);
  ClumpCells cells{header, grid, sets.leaves, {}};
  if (!plan.density.empty()) cells.density = mesh::to_doubles(cell_field(part, plan.density));
  PartClumps found;
  found.clumps.resize(sets.count);
  found.counts = {sets.count};
  for (std::size_t i = 0; i < sets.leaves.size(); ++i) {
    const std::uint32_t number = sets.clump[i];
    if (number == LeafTree::none) continue;
    const ValuedLeaf& leaf = sets.leaves[i];
    const mesh::Coordinate at = position_of(grid, leaf.key, leaf.depth);
    add_cell(cells, leaf, at, found.clumps[number]);
    if (sets.border[i] != 0 || at_periodic_side(cells, at, leaf.depth))
      found.border.push_back({leaf.key, leaf.value, number, leaf.depth});
  }
  return found;
}

std::vector<std::uint32_t> part_labels(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                                       const Selection& selection, const ClumpPlan& plan) {
  const PartSets sets = part_sets(part, header, grid, selection, plan);
  const mesh::Octree& tree = mesh::octree_of(part);
  std::vector<std::uint32_t> labels(mesh::num_cells(tree) * mesh::block_size(tree), 0);
  for (std::size_t i = 0; i < sets.leaves.size(); ++i)
    if (sets.clump[i] != LeafTree::none) labels[sets.leaves[i].id] = sets.clump[i] + 1;
  return labels;
}

void add(PartClumps& to, PartClumps&& later) {
  const auto before = static_cast<std::uint32_t>(to.clumps.size());
  to.clumps.insert(to.clumps.end(), later.clumps.begin(), later.clumps.end());
  for (ValuedLeaf& leaf : later.border) {
    leaf.id += before;
    to.border.push_back(leaf);
  }
  to.counts.insert(to.counts.end(), later.counts.begin(), later.counts.end());
}

JoinedClumps join_clumps(PartClumps found, const mesh::Header& header, const CommonGrid& grid, const ClumpPlan& plan) {
  std::sort(found.border.begin(), found.border.end(),
            [](const ValuedLeaf& a, const ValuedLeaf& b) { return a.key < b.key; });
  PeriodicSets sets = sets_of(found, header, grid);
  std::vector<Clump> clumps;
  std::vector<std::uint32_t> place(found.clumps.size(), LeafTree::none);
  std::vector<std::uint32_t> joined(found.clumps.size());
  for (std::size_t i = 0; i < found.clumps.size(); ++i) {
    const PeriodicSets::Place at = sets.find(static_cast<std::uint32_t>(i));
    if (place[at.first] == LeafTree::none) {
      place[at.first] = static_cast<std::uint32_t>(clumps.size());
      clumps.emplace_back();
      clumps.back().around = sets.around(at.first);
    }
    joined[i] = place[at.first];
    Clump& clump = clumps[place[at.first]];
    ClumpSums& sums = found.clumps[i];
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis)
      // No move along an axis makes a clump that goes around it one piece; its box is the domain's.
      if (!clump.around[axis] && at.moved[axis] != 0) move_by(sums, axis, at.moved[axis] * grid.extent[axis]);
    add_clump(clump.sums, sums, grid);
  }
  for (Clump& clump : clumps) place_clump(clump, header, grid);
  return sorted_by_weight(std::move(clumps), joined, found.counts, !plan.density.empty());
}

}  // namespace octavo::analysis
