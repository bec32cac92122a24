#include "octavo/store/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace octavo::store {
namespace {

using mesh::Coordinate;
using mesh::CurveKey;

constexpr int key_bits = 32;

// Keys of the leaves of one level. Within a root the cells of a level stand in Morton order, so that only the first and
// the last owned leaf of each root need a key.
class KeyRange {
 public:
  explicit KeyRange(const mesh::Octree& tree) : dim_(tree.dim) {
    const std::int64_t longest = *std::max_element(tree.roots.begin(), tree.roots.end());
    root_bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest - 1)));
  }
  void add(int level, const Coordinate& leaf) {
    const Coordinate root{leaf[0] >> level, leaf[1] >> level, leaf[2] >> level};
    if (!any_ || level != level_ || root != root_) {
      flush();
      include(level, leaf);
      root_ = root;
      level_ = level;
      any_ = true;
    }
    last_ = leaf;
  }
  mesh::KeyInterval finish() {
    flush();
    return any_ ? range_ : mesh::KeyInterval{};
  }

 private:
  void flush() {
    if (any_) include(level_, last_);
  }
  void include(int level, const Coordinate& leaf) {
    const CurveKey first = first_key(mesh::Curve::morton, dim_, key_bits, root_bits_ + level, leaf);
    const CurveKey after = past(first, dim_ * (key_bits - root_bits_ - level));
    range_.begin = std::min(range_.begin, first);
    range_.end = std::max(range_.end, after);
  }
  // key + 2^shift, which is a cell's first key and the number of keys in it.
  static CurveKey past(CurveKey key, int shift) {
    if (shift >= 64) return {key.high + (std::uint64_t{1} << (shift - 64)), key.low};
    const std::uint64_t low = key.low + (std::uint64_t{1} << shift);
    return {key.high + (low < key.low ? 1 : 0), low};
  }

  int dim_;
  int root_bits_ = 0;
  int level_ = 0;
  Coordinate root_{}, last_{};
  bool any_ = false;
  mesh::KeyInterval range_{{~std::uint64_t{0}, ~std::uint64_t{0}}, {0, 0}};
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

}  // namespace

Bounds bounds_of(const mesh::Octree& tree, const mesh::Domain& domain) {
  Bounds bounds;
  KeyRange keys(tree);
  bool first = true;
  auto coordinates = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    IndexRange range;
    tree.owned[l].for_each_set([&](std::size_t i) {
      range.add(coordinates[i]);
      if (!tree.refined[l][i]) keys.add(level, coordinates[i]);
    });
    if (range.any) {
      include(range, level, tree, domain, first, bounds);
      first = false;
    }
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
  bounds.keys = keys.finish();
  return bounds;
}

}  // namespace octavo::store
