#include "octavo/analysis/leaves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;
using mesh::CurveKey;

CurveKey plus(const CurveKey& a, const CurveKey& b) {
  CurveKey sum{a.high + b.high, a.low + b.low};
  if (sum.low < a.low) ++sum.high;
  return sum;
}

CurveKey power_of_two(int exponent) {
  return exponent < 64 ? CurveKey{0, std::uint64_t{1} << exponent} : CurveKey{std::uint64_t{1} << (exponent - 64), 0};
}

int root_bits(const CommonGrid& grid) {
  return static_cast<int>(
      std::bit_width(static_cast<std::uint64_t>(*std::max_element(grid.base.begin(), grid.base.end()) - 1)));
}

CurveKey key_of(const CommonGrid& grid, int depth, const mesh::Coordinate& at) {
  return mesh::first_key(mesh::Curve::morton, grid.dim, grid.bits, grid.bits - grid.deepest + depth, at);
}

bool power_of_two_blocks(const mesh::Index3& block) {
  return std::all_of(block.begin(), block.end(),
                     [](std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); });
}

mesh::Coordinate scaled(const mesh::Coordinate& at, const mesh::Index3& by) {
  mesh::Coordinate out{};
  for (std::size_t axis = 0; axis < 3; ++axis) out[axis] = at[axis] * static_cast<std::uint32_t>(by[axis]);
  return out;
}

/// Positions of a block's cells from its corner, x fastest.
std::vector<mesh::Coordinate> block_positions(const mesh::Index3& block) {
  std::vector<mesh::Coordinate> cells;
  for (std::int64_t z = 0; z < block[2]; ++z)
    for (std::int64_t y = 0; y < block[1]; ++y)
      for (std::int64_t x = 0; x < block[0]; ++x)
        cells.push_back({static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)});
  return cells;
}

/// Depth first: cells of a level are visited in the order they are stored, so one cursor a level replaces all ranks
/// and positions, and keys come from their parents' by an addition.
class LeafWalk {
 public:
  LeafWalk(const mesh::Octree& tree, const CommonGrid& grid, std::size_t side, std::vector<Leaf>& leaves)
      : tree_(tree), leaves_(leaves), cursor_(tree.refined.size(), 0), block_(mesh::block_size(tree)) {
    const auto cells = block_positions(tree.block);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      const int depth = level + grid.shift[side];
      Level row;
      row.depth = static_cast<std::uint8_t>(depth);
      // A corner is a multiple of the block, a power of two: bits of keys lie apart, so keys add up.
      for (std::uint32_t c = 0; c < mesh::family_size(tree); ++c)
        row.children.push_back(key_of(grid, depth, scaled({c & 1, (c >> 1) & 1, c >> 2}, tree.block)));
      for (std::size_t k = 0; k < block_; ++k)
        row.cells.push_back({key_of(grid, depth, cells[k]), static_cast<std::uint32_t>(k), row.depth});
      std::sort(row.cells.begin(), row.cells.end(), [](const Leaf& a, const Leaf& b) { return a.key < b.key; });
      levels_.push_back(std::move(row));
    }
    const auto offsets = mesh::level_offsets(tree);
    for (std::size_t level = 0; level < levels_.size(); ++level) levels_[level].first = offsets[level];
  }

  void visit(std::size_t level, const CurveKey& key) {
    const std::size_t i = cursor_[level]++;
    if (tree_.refined[level][i]) {
      for (const CurveKey& child : levels_[level + 1].children) visit(level + 1, plus(key, child));
    } else if (tree_.owned[level][i]) {
      const auto first = static_cast<std::uint32_t>((levels_[level].first + i) * block_);
      for (const Leaf& cell : levels_[level].cells)
        leaves_.push_back({plus(key, cell.key), first + cell.value, cell.depth});
    }
  }

 private:
  struct Level {
    std::uint8_t depth = 0;
    std::size_t first = 0;
    std::vector<CurveKey> children;
    std::vector<Leaf> cells;  ///< of a block at the origin
  };
  const mesh::Octree& tree_;
  std::vector<Leaf>& leaves_;
  std::vector<std::size_t> cursor_;
  std::size_t block_;
  std::vector<Level> levels_;
};

/// Where keys of a block's cells do not follow from that of its corner.
void list_by_level(const mesh::Octree& tree, const CommonGrid& grid, std::size_t side, std::vector<Leaf>& leaves) {
  const auto cells = block_positions(tree.block);
  auto coordinates = mesh::root_coordinates(tree);
  std::size_t first = 0;
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    const int depth = level + grid.shift[side];
    tree.owned[l].for_each_set([&](std::size_t i) {
      if (tree.refined[l][i]) return;
      const mesh::Coordinate corner = scaled(coordinates[i], tree.block);
      for (std::size_t k = 0; k < cells.size(); ++k) {
        mesh::Coordinate at = corner;
        for (std::size_t axis = 0; axis < 3; ++axis) at[axis] += cells[k][axis];
        leaves.push_back({key_of(grid, depth, at), static_cast<std::uint32_t>((first + i) * cells.size() + k),
                          static_cast<std::uint8_t>(depth)});
      }
    });
    first += mesh::num_cells(tree, level);
    if (level + 1 < mesh::num_levels(tree)) coordinates = mesh::child_coordinates(tree, level, coordinates);
  }
}

/// a / b as a power of two, where it is one and the same along all axes.
std::optional<int> ratio_bits(const mesh::Index3& a, const mesh::Index3& b, int dim) {
  for (int bits = 0; bits <= 32; ++bits) {
    bool all = true;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) all = all && a[axis] == (b[axis] << bits);
    if (all) return bits;
  }
  return {};
}

mesh::Index3 cells_of_roots(const mesh::Header& header) {
  mesh::Index3 cells{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    cells[axis] = header.roots[axis] * header.block[axis];
  return cells;
}

}  // namespace

int deepest_index(const mesh::Dataset& dataset) {
  int deepest = 0;
  for (const mesh::LevelCount& count : dataset.levels)
    deepest = std::max(deepest, mesh::level_index(dataset.header, count.level));
  return deepest;
}

std::optional<CommonGrid> common_grid(const mesh::Header& a, int deepest_a, const mesh::Header& b, int deepest_b) {
  if (a.dim != b.dim) return {};
  CommonGrid grid;
  grid.dim = a.dim;
  const mesh::Index3 cells_a = cells_of_roots(a), cells_b = cells_of_roots(b);
  if (const auto finer = ratio_bits(cells_a, cells_b, a.dim)) {
    grid.base = cells_b;
    grid.shift = {*finer, 0};
  } else if (const auto coarser = ratio_bits(cells_b, cells_a, a.dim)) {
    grid.base = cells_a;
    grid.shift = {0, *coarser};
  } else {
    return {};
  }
  grid.deepest = std::max(deepest_a + grid.shift[0], deepest_b + grid.shift[1]);
  grid.bits = root_bits(grid) + grid.deepest;
  if (grid.bits > 32)
    throw Error(Kind::unsupported,
                "cells are matched by keys of at most 32 bits an axis, these need " + std::to_string(grid.bits));
  for (std::size_t axis = 0; axis < 3; ++axis) grid.extent[axis] = a.hi[axis] - a.lo[axis];
  grid.lo = a.lo;
  for (int depth = 0; depth <= grid.deepest; ++depth) {
    grid.code_level[0].push_back(mesh::code_level(a, depth - grid.shift[0]));
    grid.code_level[1].push_back(mesh::code_level(b, depth - grid.shift[1]));
  }
  return grid;
}

std::vector<Leaf> sorted_leaves(const mesh::Octree& tree, const CommonGrid& grid, std::size_t side) {
  if (mesh::num_levels(tree) - 1 + grid.shift[side] > grid.deepest)
    throw Error(Kind::corrupt, "a part has more levels than its step's headers tell");
  if (mesh::num_cells(tree) * mesh::block_size(tree) > std::numeric_limits<std::uint32_t>::max())
    throw Error(Kind::unsupported, "a part of 2^32 cells or more cannot be compared");
  std::size_t count = 0;
  for (int level = 0; level < mesh::num_levels(tree); ++level) count += mesh::num_owned_leaves(tree, level);
  std::vector<Leaf> leaves;
  leaves.reserve(count * mesh::block_size(tree));
  if (power_of_two_blocks(tree.block)) {
    LeafWalk walk(tree, grid, side, leaves);
    for (const mesh::Coordinate& root : mesh::root_coordinates(tree))
      walk.visit(0, key_of(grid, grid.shift[side], scaled(root, tree.block)));
  } else {
    list_by_level(tree, grid, side, leaves);
  }
  // A walk sorts the leaves of each root alone, and roots come x fastest.
  const auto before = [](const Leaf& a, const Leaf& b) { return a.key < b.key; };
  if (!std::is_sorted(leaves.begin(), leaves.end(), before)) std::sort(leaves.begin(), leaves.end(), before);
  return leaves;
}

CurveKey end_of(const CommonGrid& grid, const CurveKey& key, int depth) {
  return plus(key, power_of_two(grid.dim * (grid.deepest - depth)));
}

mesh::Coordinate position_of(const CommonGrid& grid, const CurveKey& key, int depth) {
  mesh::Coordinate at{};
  const auto axes = static_cast<std::size_t>(grid.dim);
  for (int bit = grid.bits - 1; bit >= grid.deepest - depth; --bit)
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const int place = bit * grid.dim + static_cast<int>(axis);
      const std::uint64_t digit = place < 64 ? key.low >> place : key.high >> (place - 64);
      at[axis] = at[axis] << 1 | static_cast<std::uint32_t>(digit & 1);
    }
  return at;
}

mesh::Point3 centre_of(const CommonGrid& grid, const CurveKey& key, int depth) {
  const mesh::Coordinate at = position_of(grid, key, depth);
  mesh::Point3 centre{};
  const auto cells = static_cast<double>(std::uint64_t{1} << depth);  // a power of two: dividing by it is exact
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis)
    centre[axis] =
        grid.lo[axis] + (at[axis] + 0.5) * (grid.extent[axis] / static_cast<double>(grid.base[axis]) / cells);
  return centre;
}

double volume_of(const CommonGrid& grid, int depth) {
  double volume = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis)
    volume *= std::ldexp(grid.extent[axis] / static_cast<double>(grid.base[axis]), -depth);
  return volume;
}

namespace {

struct Ancestor {
  CurveKey key;
  int depth = 0;
};

/// The distinct cells, of that depth or coarser, that hold the leaves; nothing where they are more than `count`.
std::optional<std::vector<Ancestor>> ancestors(const CommonGrid& grid, const std::vector<Leaf>& leaves, int depth,
                                               std::size_t count) {
  std::vector<Ancestor> found;
  CurveKey end;
  for (const Leaf& leaf : leaves) {
    if (!found.empty() && leaf.key < end) continue;
    if (found.size() == count) return {};
    const int here = std::min<int>(depth, leaf.depth);
    const int cut = grid.dim * (grid.deepest - here);
    CurveKey key = leaf.key;
    if (cut >= 64) {
      key.low = 0;
      key.high &= ~std::uint64_t{0} << (cut - 64);
    } else {
      key.low &= ~std::uint64_t{0} << cut;
    }
    found.push_back({key, here});
    end = end_of(grid, key, here);
  }
  return found;
}

}  // namespace

std::vector<mesh::Box> cover(const CommonGrid& grid, const std::vector<Leaf>& leaves, std::size_t count) {
  std::vector<Ancestor> best;
  // Below depth 0 cells are groups of roots; the first one holds all.
  for (int depth = grid.deepest - grid.bits; depth <= grid.deepest; ++depth) {
    auto next = ancestors(grid, leaves, depth, count);
    if (!next) break;
    best = std::move(*next);
  }
  std::vector<mesh::Box> boxes;
  for (const Ancestor& cell : best) {
    const mesh::Coordinate at = position_of(grid, cell.key, cell.depth);
    mesh::Box box;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dim); ++axis) {
      const double size =
          grid.extent[axis] / grid.extent[0] * std::ldexp(1.0 / static_cast<double>(grid.base[axis]), -cell.depth);
      box.lo[axis] = at[axis] * size;
      box.hi[axis] = (at[axis] + 1.0) * size;
    }
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace octavo::analysis
