#include "octavo/mesh/tree/slopes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace octavo::mesh {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double no_slope = std::numeric_limits<double>::quiet_NaN();
constexpr int key_bits = 32;  // an axis

/// Keys of cells: positions on the grid of 2^32 cells an axis, of which level 0 has its first ones.
class CellKeys {
 public:
  CellKeys(int dim, const Index3& roots, const Index3& block) : dim_(dim) {
    std::int64_t most = 1;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      most = std::max(most, roots[axis] * block[axis]);
    base_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most - 1)));
  }
  CurveKey first(const LevelCell& cell) const {
    return first_key(Curve::morton, dim_, key_bits, base_ + cell.level, cell.at);
  }
  /// One past the last key of the cell that begins there.
  CurveKey end(const CurveKey& key, int level) const {
    const Wide end = (Wide{key.high} << 64 | key.low) + (Wide{1} << (dim_ * (key_bits - base_ - level)));
    return {static_cast<std::uint64_t>(end >> 64), static_cast<std::uint64_t>(end)};
  }

 private:
  int dim_, base_ = 0;
};

CellKeys keys_of(const Header& header) { return {header.dim, header.roots, header.block}; }

using Leaf = LeafTable::Leaf;

bool before(const Leaf& leaf, const CurveKey& key) { return leaf.key < key; }

// ------------------------------------------------------------------------------------------------ tables of leaves

void add_leaves_of(const Octree& tree, int level, const Coordinate& at, std::size_t first, std::vector<Leaf>& to) {
  std::size_t place = first;
  for (std::uint32_t z = 0; z < tree.block[2]; ++z)
    for (std::uint32_t y = 0; y < tree.block[1]; ++y)
      for (std::uint32_t x = 0; x < tree.block[0]; ++x) {
        const Coordinate cell{at[0] * static_cast<std::uint32_t>(tree.block[0]) + x,
                              at[1] * static_cast<std::uint32_t>(tree.block[1]) + y,
                              at[2] * static_cast<std::uint32_t>(tree.block[2]) + z};
        to.push_back({{}, {level, cell}, static_cast<std::uint32_t>(place++)});
      }
}

void sort_leaves(std::vector<Leaf>& leaves) {
  std::sort(leaves.begin(), leaves.end(),
            [](const Leaf& a, const Leaf& b) { return a.key != b.key ? a.key < b.key : a.cell.level < b.cell.level; });
}

/// Adds a leaf with its values.
void take_leaf(LeafTable& to, const LeafTable& from, const Leaf& leaf) {
  to.leaves.push_back(leaf);
  to.leaves.back().place = static_cast<std::uint32_t>(to.values[0].size());
  for (std::size_t f = 0; f < from.values.size(); ++f) to.values[f].push_back(from.values[f][leaf.place]);
}

void add_table(LeafTable& to, const LeafTable& more) {
  if (more.leaves.empty()) return;
  const auto offset = static_cast<std::uint32_t>(to.values[0].size());
  for (std::size_t f = 0; f < to.values.size(); ++f)
    to.values[f].insert(to.values[f].end(), more.values[f].begin(), more.values[f].end());
  for (Leaf leaf : more.leaves) {
    leaf.place += offset;
    to.leaves.push_back(leaf);
  }
  sort_leaves(to.leaves);
  // A part that is asked twice gives a leaf twice.
  const auto same = [](const Leaf& a, const Leaf& b) { return a.cell == b.cell; };
  to.leaves.erase(std::unique(to.leaves.begin(), to.leaves.end(), same), to.leaves.end());
}

// ------------------------------------------------------------------------------------------------ cells on a side

/// Cells by key and level, for those that others were asked for.
class CellSet {
 public:
  bool has(const CurveKey& key, int level) const {
    return std::binary_search(cells_.begin(), cells_.end(), std::pair(key, level));
  }
  void add(std::vector<std::pair<CurveKey, int>> more) {
    cells_.insert(cells_.end(), more.begin(), more.end());
    std::sort(cells_.begin(), cells_.end());
  }

 private:
  std::vector<std::pair<CurveKey, int>> cells_;
};

/// The leaves that fill a cell: [first, last) of the table. A single one may be larger than the cell.
struct Filling {
  std::size_t first = 0, last = 0;
};

/// A side of a leaf: between which cells of one level the slope is. Nothing beside: the domain ends.
struct LeafSide {
  int level = 0;
  Filling here, beside;
};

class SlopeFinder {
 public:
  SlopeFinder(LeafTable table, const Header& header, std::span<const SlopeOf> wanted)
      : table_(std::move(table)), header_(header), wanted_(wanted), keys_(keys_of(header)) {
    for (int less = 0; less < key_bits; ++less) share_.push_back(std::ldexp(1.0, -header.dim * less));
    for (const SlopeOf& slope : wanted) along_[slope.axis] = true;
    found_.assign(wanted.size(), std::vector<double>(table_.values.empty() ? 0 : table_.values[0].size(), no_slope));
  }

  std::vector<std::vector<double>> find(const LeavesBeside& beside) {
    std::vector<Leaf> open = table_.leaves, again;
    while (!open.empty()) {
      again.clear();
      for (const Leaf& leaf : open)
        if (!find_at(leaf)) again.push_back(leaf);
      open.swap(again);
      if (!open.empty()) ask(beside);
    }
    return std::move(found_);
  }

 private:
  /// False if leaves are missing that others may have.
  bool find_at(const Leaf& leaf) {
    std::array<std::array<std::optional<LeafSide>, 2>, 3> sides;
    const std::size_t before = missing_.size();
    const auto own = filling(leaf.cell);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const int way : {-1, 1})
        if (own && along_[axis]) sides[axis][way > 0 ? 1 : 0] = side_of(leaf.cell, *own, axis, way);
    if (missing_.size() != before) return false;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const auto& [field, axis] = wanted_[i];
      const auto& [low, high] = sides[axis];
      const double below = low ? -slope_to(*low, field, axis) : 0, above = high ? slope_to(*high, field, axis) : 0;
      found_[i][leaf.place] = low && high ? (below + above) / 2 : low ? below : high ? above : no_slope;
    }
    return true;
  }

  std::optional<LeafSide> side_of(const LevelCell& cell, const Filling& own, std::size_t axis, int way) {
    const std::int64_t extent = (header_.roots[axis] * header_.block[axis]) << cell.level;
    std::int64_t next = std::int64_t{cell.at[axis]} + way;
    if (header_.periodic[axis]) next = (next + extent) % extent;
    if (next < 0 || next >= extent) return {};
    LevelCell other = cell;
    other.at[axis] = static_cast<std::uint32_t>(next);
    const auto beside = filling(other);
    if (!beside) return {};
    const int level = std::min(cell.level, table_.leaves[beside->first].cell.level);
    if (level == cell.level) return LeafSide{level, own, *beside};
    LevelCell larger{level, cell.at};
    for (std::uint32_t& x : larger.at) x >>= cell.level - level;
    const auto here = filling(larger);
    if (!here) return {};
    return LeafSide{level, *here, *beside};
  }

  /// Nothing where leaves are missing; notes the cell if others may have them.
  std::optional<Filling> filling(const LevelCell& cell) {
    const CurveKey key = keys_.first(cell), end = keys_.end(key, cell.level);
    const auto& leaves = table_.leaves;
    const auto first = std::lower_bound(leaves.begin(), leaves.end(), key, before);
    const auto at = static_cast<std::size_t>(first - leaves.begin());
    if (first != leaves.end() && first->key == key) {
      CurveKey next = key;
      std::size_t last = at;
      for (; last < leaves.size() && leaves[last].key == next && next < end; ++last)
        next = keys_.end(next, leaves[last].cell.level);
      if (next >= end) return Filling{at, last};
    } else if (at > 0 && keys_.end(leaves[at - 1].key, leaves[at - 1].cell.level) > key) {
      return Filling{at - 1, at};
    }
    if (!asked_[1].has(key, cell.level)) missing_.emplace_back(key, cell);
    return {};
  }

  double value_of(const Filling& cells, int level, std::size_t field) const {
    const std::vector<double>& values = table_.values[field];
    if (cells.last - cells.first == 1) return values[table_.leaves[cells.first].place];
    double sum = 0;
    for (std::size_t i = cells.first; i < cells.last; ++i) {
      const Leaf& leaf = table_.leaves[i];
      sum += values[leaf.place] * share_[static_cast<std::size_t>(leaf.cell.level - level)];
    }
    return sum;
  }
  double slope_to(const LeafSide& side, std::size_t field, std::size_t axis) const {
    return (value_of(side.beside, side.level, field) - value_of(side.here, side.level, field)) /
           cell_size(header_, side.level)[axis];
  }

  /// Gets missing leaves: of others first, then of the part itself.
  void ask(const LeavesBeside& beside) {
    const auto by_key = [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second.level < b.second.level;
    };
    std::sort(missing_.begin(), missing_.end(), by_key);
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    std::vector<LevelCell> cells;
    std::vector<std::pair<CurveKey, int>> keys;
    const auto choose = [&](auto&& is_open) {
      for (const auto& [key, cell] : missing_)
        if (is_open(key, cell.level)) {
          cells.push_back(cell);
          keys.emplace_back(key, cell.level);
        }
    };
    choose([&](const CurveKey& key, int level) { return !asked_[0].has(key, level); });
    const bool own = cells.empty();
    if (own) choose([](const CurveKey&, int) { return true; });
    missing_.clear();
    asked_[own ? 1 : 0].add(std::move(keys));
    add_table(table_, beside(cells, own));
  }

  LeafTable table_;
  const Header& header_;
  std::span<const SlopeOf> wanted_;
  CellKeys keys_;
  std::vector<double> share_;  ///< of the volume of a cell that one some levels deeper has
  std::array<bool, 3> along_{};
  std::vector<std::vector<double>> found_;
  std::vector<std::pair<CurveKey, LevelCell>> missing_;
  std::array<CellSet, 2> asked_;  ///< of others; of the part itself
};

}  // namespace

LeafTable leaf_table(const Octree& tree, std::vector<std::vector<double>> values) {
  LeafTable table{{}, std::move(values)};
  std::vector<Coordinate> coordinates = root_coordinates(tree);
  std::size_t first = 0;
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    for (std::size_t i = 0; i < coordinates.size(); ++i, first += block_size(tree))
      if (tree.owned[l][i] && !tree.refined[l][i]) add_leaves_of(tree, level, coordinates[i], first, table.leaves);
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
  const CellKeys keys(tree.dim, tree.roots, tree.block);
  for (Leaf& leaf : table.leaves) leaf.key = keys.first(leaf.cell);
  sort_leaves(table.leaves);
  return table;
}

LeafTable leaves_at(const LeafTable& table, const Header& header, std::span<const LevelCell> cells) {
  LeafTable out{{}, std::vector<std::vector<double>>(table.values.size())};
  const CellKeys keys = keys_of(header);
  std::vector<KeyInterval> stretches;
  for (const LevelCell& cell : cells) stretches.push_back({keys.first(cell), keys.end(keys.first(cell), cell.level)});
  std::sort(stretches.begin(), stretches.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::size_t next = 0;
  CurveKey reach{};  // stretches may lie within others
  for (const Leaf& leaf : table.leaves) {
    const CurveKey end = keys.end(leaf.key, leaf.cell.level);
    for (; next < stretches.size() && stretches[next].begin < end; ++next) reach = std::max(reach, stretches[next].end);
    if (leaf.key < reach) take_leaf(out, table, leaf);
  }
  return out;
}

LeafTable compact(const LeafTable& table) {
  LeafTable out{{}, std::vector<std::vector<double>>(table.values.size())};
  for (const Leaf& leaf : table.leaves) take_leaf(out, table, leaf);
  return out;
}

std::size_t bytes_of(const LeafTable& table) {
  std::size_t bytes = table.leaves.size() * sizeof(Leaf);
  for (const auto& values : table.values) bytes += values.size() * sizeof(double);
  return bytes;
}

std::vector<Box> boxes_around(const Header& header, std::vector<LevelCell> cells, std::size_t count) {
  const auto less = [](const LevelCell& a, const LevelCell& b) {
    return a.level != b.level ? a.level < b.level : a.at < b.at;
  };
  int deepest = 0;
  for (const LevelCell& cell : cells) deepest = std::max(deepest, cell.level);
  while (true) {
    std::sort(cells.begin(), cells.end(), less);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    if (cells.size() <= count || deepest == 0) break;
    --deepest;
    for (LevelCell& cell : cells) {
      if (cell.level <= deepest) continue;
      for (std::uint32_t& x : cell.at) x >>= 1;
      --cell.level;
    }
  }
  constexpr double inside = 1e-3;  // a cell does not touch those beside it
  std::vector<Box> boxes;
  for (const LevelCell& cell : cells) {
    const Point3 size = cell_size(header, cell.level);
    Box box;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
      const double unit = header.hi[0] - header.lo[0];
      box.lo[axis] = (cell.at[axis] + inside) * size[axis] / unit;
      box.hi[axis] = (cell.at[axis] + 1 - inside) * size[axis] / unit;
    }
    boxes.push_back(box);
  }
  return boxes;
}

std::vector<std::vector<double>> slopes(LeafTable table, const Header& header, std::span<const SlopeOf> wanted,
                                        const LeavesBeside& beside) {
  return SlopeFinder(std::move(table), header, wanted).find(beside);
}

}  // namespace octavo::mesh
