#include "octavo/store/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

/// A part's bounding box and interval of keys. Both are found on words of bits, because only few cells
/// need coordinates: for the box the owned cells whose parents are not owned, for the keys two leaves of each root on
/// each level.
namespace octavo::store {
namespace {

using mesh::Coordinate;
using mesh::CurveKey;

// Keys count the finest cells that the format can name, 2^32 along an axis.
constexpr int key_bits = 32;

// Finds the coordinates of single cells through their ancestors. We need them for few cells only.
class Coordinates {
 public:
  explicit Coordinates(const mesh::Octree& tree) : tree_(tree), roots_(root_coordinates(tree)) {
    for (std::size_t level = 0; level + 1 < tree.refined.size(); ++level)
      parents_.push_back(base::set_positions(tree.refined[level]));
  }
  Coordinate of(int level, std::size_t cell) const {
    const auto dim = static_cast<std::size_t>(tree_.dim);
    Coordinate at{};
    // A cell's place in its family is one bit for each axis, x lowest: the lowest bits of the cell's number.
    for (int up = 0; up < level; ++up) {
      for (std::size_t axis = 0; axis < dim; ++axis) at[axis] |= ((cell >> axis) & 1U) << up;
      cell = parents_[static_cast<std::size_t>(level - up) - 1][cell >> dim];
    }
    for (std::size_t axis = 0; axis < dim; ++axis) at[axis] |= roots_[cell][axis] << level;
    return at;
  }

 private:
  const mesh::Octree& tree_;
  std::vector<Coordinate> roots_;
  std::vector<std::vector<std::uint32_t>> parents_;  // refined cells of each level but the last
};

struct IndexRange {
  Coordinate lo{};
  Coordinate hi{};
  bool any = false;
  void add(const Coordinate& cell) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lo[axis] = any ? std::min(lo[axis], cell[axis]) : cell[axis];
      hi[axis] = any ? std::max(hi[axis], cell[axis]) : cell[axis];
    }
    any = true;
  }
};

// Grows the box by cells [range.lo, range.hi] of a level.
void include(const IndexRange& range, int level, const mesh::Octree& tree, const mesh::Domain& domain, bool first,
             Bounds& bounds) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double size = std::ldexp(domain.extent[axis] / static_cast<double>(tree.roots[axis]), -level);
    const bool used = axis < static_cast<std::size_t>(tree.dim);
    const double lo = used ? range.lo[axis] * size : 0, hi = used ? (range.hi[axis] + 1.0) * size : domain.extent[axis];
    bounds.lo[axis] = first ? lo : std::min(bounds.lo[axis], lo);
    bounds.hi[axis] = first ? hi : std::max(bounds.hi[axis], hi);
  }
}

// Calls f(first cell of the next level) for each family whose parent is not owned. Children of an owned cell lie inside
// it and do not widen the box, so we skip them.
template <class F>
void for_each_family_unowned_above(const mesh::Octree& tree, std::size_t level, F&& f) {
  const auto& refined = tree.refined[level].words();
  const auto& owned = tree.owned[level].words();
  std::size_t before = 0;
  for (std::size_t w = 0; w < refined.size(); ++w) {
    for (std::uint64_t rest = refined[w] & ~owned[w]; rest != 0; rest &= rest - 1) {
      const std::uint64_t below = (rest & -rest) - 1;
      f((before + static_cast<std::size_t>(std::popcount(refined[w] & below))) << tree.dim);
    }
    before += static_cast<std::size_t>(std::popcount(refined[w]));
  }
}

void add_box(const mesh::Octree& tree, const mesh::Domain& domain, const Coordinates& coordinates, Bounds& bounds) {
  bool first = true;
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    IndexRange range;
    const auto add = [&](std::size_t cell) { range.add(coordinates.of(level, cell)); };
    if (level == 0) tree.owned[0].for_each_set(add);
    if (level > 0)
      for_each_family_unowned_above(tree, l - 1, [&](std::size_t family) {
        for (std::size_t cell = family; cell < family + family_size(tree); ++cell)
          if (tree.owned[l][cell]) add(cell);
      });
    if (!range.any) continue;
    include(range, level, tree, domain, first, bounds);
    first = false;
  }
}

// key + 2^shift, which is a cell's first key and the number of keys in it.
CurveKey past(CurveKey key, int shift) {
  if (shift >= 64) return {key.high + (std::uint64_t{1} << (shift - 64)), key.low};
  const std::uint64_t low = key.low + (std::uint64_t{1} << shift);
  return {key.high + (low < key.low ? 1 : 0), low};
}

// Grows the interval by the keys of one leaf.
void include(int level, const Coordinate& leaf, const mesh::Octree& tree, mesh::KeyInterval& range) {
  const std::int64_t longest = *std::max_element(tree.roots.begin(), tree.roots.end());
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest - 1))) + level;
  const CurveKey first = first_key(mesh::Curve::morton, tree.dim, key_bits, bits, leaf);
  range.begin = std::min(range.begin, first);
  range.end = std::max(range.end, past(first, tree.dim * (key_bits - bits)));
}

// Where the cells of each root begin on the next level; the last entry is the number of cells there.
void descend(const mesh::Octree& tree, std::size_t level, std::vector<std::size_t>& starts) {
  const auto& words = tree.refined[level].words();
  std::size_t word = 0, before = 0;
  for (std::size_t& start : starts) {
    for (; word < start / 64; ++word) before += static_cast<std::size_t>(std::popcount(words[word]));
    const std::uint64_t below = (std::uint64_t{1} << (start % 64)) - 1;
    const auto rest = start % 64 == 0 ? 0 : static_cast<std::size_t>(std::popcount(words[word] & below));
    start = (before + rest) << tree.dim;
  }
}

// The owned leaves of a level, as 64-bit words.
struct Leaves {
  const mesh::Octree& tree;
  std::size_t level;
  std::uint64_t word(std::size_t w) const { return tree.owned[level].words()[w] & ~tree.refined[level].words()[w]; }
};

// The first and the last owned leaf in cells [begin, end). If there is none, first > last in the result.
std::pair<std::size_t, std::size_t> ends(const Leaves& leaves, std::size_t begin, std::size_t end) {
  std::pair<std::size_t, std::size_t> found{end, begin};
  if (begin == end) return {1, 0};
  const auto masked = [&](std::size_t w) {
    std::uint64_t word = leaves.word(w);
    if (w == begin / 64) word &= ~std::uint64_t{0} << (begin % 64);
    if (w == (end - 1) / 64) word &= ~std::uint64_t{0} >> (63 - (end - 1) % 64);
    return word;
  };
  std::size_t w = begin / 64;
  while (w <= (end - 1) / 64 && masked(w) == 0) ++w;
  if (w > (end - 1) / 64) return {1, 0};
  found.first = 64 * w + static_cast<std::size_t>(std::countr_zero(masked(w)));
  w = (end - 1) / 64;
  while (masked(w) == 0) --w;
  found.second = 64 * w + 63 - static_cast<std::size_t>(std::countl_zero(masked(w)));
  return found;
}

// Within a root the cells of a level are in Morton order, so only the first and the last owned leaf of each root need a
// key.
void add_keys(const mesh::Octree& tree, const Coordinates& coordinates, Bounds& bounds) {
  mesh::KeyInterval range{{~std::uint64_t{0}, ~std::uint64_t{0}}, {0, 0}};
  std::vector<std::size_t> starts(tree.refined[0].size() + 1);
  std::iota(starts.begin(), starts.end(), std::size_t{0});
  bool any = false;
  for (int level = 0; level < num_levels(tree); ++level) {
    const Leaves leaves{tree, static_cast<std::size_t>(level)};
    for (std::size_t root = 0; root + 1 < starts.size(); ++root) {
      const auto [first, last] = ends(leaves, starts[root], starts[root + 1]);
      if (first > last) continue;
      include(level, coordinates.of(level, first), tree, range);
      if (last != first) include(level, coordinates.of(level, last), tree, range);
      any = true;
    }
    descend(tree, leaves.level, starts);
  }
  if (any) bounds.keys = range;
}

}  // namespace

Bounds bounds_of(const mesh::Octree& tree, const mesh::Domain& domain) {
  const Coordinates coordinates(tree);
  Bounds bounds;
  add_box(tree, domain, coordinates, bounds);
  add_keys(tree, coordinates, bounds);
  return bounds;
}

}  // namespace octavo::store
