#include "octavo/mesh/octree.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

std::string at_level(std::size_t level) { return "level index " + std::to_string(level); }

std::string expected_found(std::size_t expected, std::size_t found) {
  return "expected " + std::to_string(expected) + ", found " + std::to_string(found);
}

// The product of three positive numbers, or 0 where it does not fit.
std::int64_t product(const Index3& n) {
  std::int64_t all = 1;
  for (std::int64_t i : n)
    if (__builtin_mul_overflow(all, i, &all)) return 0;
  return all;
}

void check_extents(const Index3& extents, int dim, const std::string& what) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t n = extents[axis];
    const bool used = axis < static_cast<std::size_t>(dim);
    if (used ? n < 1 : n != 1)
      throw Error(Kind::corrupt, what + " along axis " + std::to_string(axis) + ": expected " +
                                     (used ? "a positive number" : "1 (the axis is not used)") + ", found " +
                                     std::to_string(n));
    if (n > std::numeric_limits<std::uint32_t>::max())
      throw Error(Kind::corrupt, what + " along axis " + std::to_string(axis) + ": expected less than 2^32, found " +
                                     std::to_string(n));
  }
  if (product(extents) == 0) throw Error(Kind::corrupt, what + ": their product does not fit 64 bits");
}

// Positions are 32 bits: `roots << level` must be reached by them.
void check_positions(const Octree& tree) {
  const auto deepest = static_cast<std::size_t>(num_levels(tree) - 1);
  for (std::int64_t n : tree.roots) {
    const auto bits = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
    if (deepest > 32 || bits + deepest > 32)
      throw Error(Kind::corrupt, "more levels than 32-bit positions can reach: " + std::to_string(deepest + 1) +
                                     " levels over " + std::to_string(n) + " roots along an axis");
  }
}

std::string to_string(const RootInterval& interval) {
  return "[" + std::to_string(interval.begin) + ", " + std::to_string(interval.end) + ")";
}

void check_held(const Octree& tree) {
  // Intervals that touch would be one: trees of the same cells have equal lists.
  std::int64_t before = -1;
  const auto all = product(tree.roots);
  for (const RootInterval& interval : tree.held) {
    if (interval.begin <= before || interval.end <= interval.begin || interval.end > all)
      throw Error(Kind::corrupt, "held roots: expected ascending intervals that do not touch, below " +
                                     std::to_string(all) + ", found " + to_string(interval) +
                                     (before < 0 ? "" : " after one up to " + std::to_string(before)));
    before = interval.end;
  }
  if (tree.held == RootIntervals{{0, all}})
    throw Error(Kind::corrupt, "held roots: expected an empty list for all roots, found " + to_string(tree.held[0]));
}

void check_bits(const BitArray& bits, const std::string& name, std::size_t level) {
  const auto& words = bits.words();
  if (words.size() != (bits.size() + 63) / 64)
    throw Error(Kind::corrupt,
                name + " bits: words of storage " + expected_found((bits.size() + 63) / 64, words.size()))
        .at(at_level(level));
  // Counts take whole words: a bit past the end would be counted as a cell.
  const std::size_t tail = bits.size() % 64;
  if (tail != 0 && (words.back() >> tail) != 0)
    throw Error(Kind::corrupt, name + " bits: set bits past the last cell").at(at_level(level));
}

void check_level(const Octree& tree, std::size_t level, std::size_t expected) {
  const BitArray& refined = tree.refined[level];
  if (refined.size() != expected)
    throw Error(Kind::corrupt, "number of cells: " + expected_found(expected, refined.size())).at(at_level(level));
  if (refined.empty() && level > 0) throw Error(Kind::corrupt, "a level without cells").at(at_level(level));
  if (tree.owned[level].size() != expected)
    throw Error(Kind::corrupt, "number of ownership bits: " + expected_found(expected, tree.owned[level].size()))
        .at(at_level(level));
  check_bits(refined, "refinement", level);
  check_bits(tree.owned[level], "ownership", level);
}

template <int dim>
std::vector<Coordinate> children(const BitArray& refined, const std::vector<Coordinate>& parents) {
  constexpr std::uint32_t family = 1U << dim;
  std::vector<Coordinate> out(refined.count() * family);
  Coordinate* to = out.data();
  refined.for_each_set([&](std::size_t i) {
    for (std::uint32_t c = 0; c < family; ++c) *to++ = child_of(parents[i], c, dim);
  });
  return out;
}

}  // namespace

std::size_t num_cells(const Octree& tree) {
  std::size_t n = 0;
  for (const BitArray& level : tree.refined) n += level.size();
  return n;
}

std::vector<std::size_t> level_offsets(const Octree& tree) {
  std::vector<std::size_t> offsets{0};
  offsets.reserve(tree.refined.size() + 1);
  for (const BitArray& level : tree.refined) offsets.push_back(offsets.back() + level.size());
  return offsets;
}

std::size_t num_owned(const Octree& tree, int level) { return tree.owned[static_cast<std::size_t>(level)].count(); }

std::size_t num_owned_leaves(const Octree& tree, int level) {
  const auto& owned = tree.owned[static_cast<std::size_t>(level)].words();
  const auto& refined = tree.refined[static_cast<std::size_t>(level)].words();
  std::size_t n = 0;
  // Past the end ~refined has ones, but owned has zeros.
  for (std::size_t w = 0; w < owned.size(); ++w) n += static_cast<std::size_t>(std::popcount(owned[w] & ~refined[w]));
  return n;
}

RootIntervals held_roots(const Octree& tree) {
  const bool none = !tree.refined.empty() && tree.refined[0].empty();
  return none || !tree.held.empty() ? tree.held : RootIntervals{{0, num_roots(tree.roots)}};
}

void hold(Octree& tree, RootIntervals intervals) {
  const bool all = intervals == RootIntervals{{0, num_roots(tree.roots)}};
  tree.held = all ? RootIntervals{} : std::move(intervals);
}

std::size_t count_roots(const RootIntervals& intervals) {
  std::int64_t count = 0;
  for (const RootInterval& interval : intervals) count += interval.end - interval.begin;
  return static_cast<std::size_t>(count);
}

void append(RootIntervals& intervals, const RootInterval& interval) {
  if (!intervals.empty() && intervals.back().end == interval.begin)
    intervals.back().end = interval.end;
  else
    intervals.push_back(interval);
}

RootIntervals join(const RootIntervals& a, const RootIntervals& b) {
  RootIntervals sorted, joined;
  sorted.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(sorted),
             [](const RootInterval& x, const RootInterval& y) { return x.begin < y.begin; });
  for (const RootInterval& interval : sorted)
    if (joined.empty() || joined.back().end < interval.begin)
      joined.push_back(interval);
    else
      joined.back().end = std::max(joined.back().end, interval.end);
  return joined;
}

RootIndex::RootIndex(RootIntervals intervals) : intervals_(std::move(intervals)) {
  std::size_t before = 0;
  for (const RootInterval& interval : intervals_) {
    before_.push_back(before);
    before += static_cast<std::size_t>(interval.end - interval.begin);
  }
}

std::optional<std::size_t> RootIndex::find(std::int64_t number) const {
  // The first interval that ends behind the number.
  const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), number,
                                      [](std::int64_t root, const RootInterval& i) { return root < i.end; });
  if (after == intervals_.end() || number < after->begin) return {};
  return before_[static_cast<std::size_t>(after - intervals_.begin())] +
         static_cast<std::size_t>(number - after->begin);
}

std::vector<Coordinate> root_coordinates(const Octree& tree) {
  const RootIntervals held = held_roots(tree);
  std::vector<Coordinate> out;
  out.reserve(count_roots(held));
  for_each_root(tree.roots, held, [&](const Coordinate& at) { out.push_back(at); });
  return out;
}

std::vector<Coordinate> child_coordinates(const Octree& tree, int level, const std::vector<Coordinate>& coordinates) {
  const BitArray& refined = tree.refined[static_cast<std::size_t>(level)];
  if (tree.dim == 1) return children<1>(refined, coordinates);
  if (tree.dim == 2) return children<2>(refined, coordinates);
  return children<3>(refined, coordinates);
}

void validate(const Octree& tree) {
  if (tree.dim < 1 || tree.dim > 3)
    throw Error(Kind::corrupt, "dimensions of a tree: expected 1 to 3, found " + std::to_string(tree.dim));
  check_extents(tree.roots, tree.dim, "roots");
  check_extents(tree.block, tree.dim, "block cells");
  if (tree.refined.empty()) throw Error(Kind::corrupt, "a tree without levels: expected at least one");
  if (tree.owned.size() != tree.refined.size())
    throw Error(Kind::corrupt, "levels of ownership bits: " + expected_found(tree.refined.size(), tree.owned.size()));
  check_positions(tree);
  check_held(tree);
  std::size_t expected = count_roots(held_roots(tree));
  for (std::size_t level = 0; level < tree.refined.size(); ++level) {
    check_level(tree, level, expected);
    expected = tree.refined[level].count() * family_size(tree);
  }
  if (expected != 0)
    throw Error(Kind::corrupt, "refined cells on the deepest level: " + expected_found(0, expected / family_size(tree)))
        .at(at_level(tree.refined.size() - 1));
}

}  // namespace octavo::mesh
