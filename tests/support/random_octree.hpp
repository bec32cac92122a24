#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Seeded random trees for property tests: the same seed gives the same tree on every machine.
namespace octavo::testing {

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// In [0, n).
  std::uint64_t below(std::uint64_t n) { return bits() % n; }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t state_;
};

/// Zeros mean: chosen by the seed (1-3 dimensions, 1-3 roots an axis, 1-8 levels, on average 0.8 to 3 times as many
/// cells from a level to the next).
struct TreeOptions {
  int dim = 0;
  mesh::Index3 roots{0, 0, 0};
  mesh::Index3 block{1, 1, 1};
  int max_levels = 0;
  double refine = 0;
  std::size_t max_cells = 20000;  ///< no more refinement once there are as many
};

/// A valid tree, every cell owned.
inline mesh::Octree random_octree(std::uint64_t seed, const TreeOptions& options = {}) {
  Random random(seed);
  mesh::Octree tree;
  const auto drawn_dim = static_cast<int>(1 + random.below(3));
  tree.dim = options.dim != 0 ? options.dim : drawn_dim;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto drawn = static_cast<std::int64_t>(1 + random.below(3));
    tree.roots[axis] = axis >= static_cast<std::size_t>(tree.dim) ? 1
                       : options.roots[axis] != 0                 ? options.roots[axis]
                                                                  : drawn;
  }
  tree.block = options.block;
  const auto drawn_levels = static_cast<int>(1 + random.below(8));
  const int max_levels = options.max_levels != 0 ? options.max_levels : drawn_levels;
  const double drawn_refine = (0.8 + 2.2 * random.uniform()) / static_cast<double>(family_size(tree));
  const double refine = options.refine != 0 ? options.refine : drawn_refine;
  auto cells = static_cast<std::size_t>(tree.roots[0] * tree.roots[1] * tree.roots[2]);
  for (std::size_t total = 0; cells != 0;) {
    total += cells;
    base::BitArray refined(cells);
    std::size_t count = 0;
    for (std::size_t i = 0; i < cells && num_levels(tree) + 1 < max_levels; ++i)
      if (total + (count + 1) * family_size(tree) <= options.max_cells && random.chance(refine)) {
        refined.set(i);
        ++count;
      }
    // Not to die out early.
    if (count == 0 && num_levels(tree) + 1 < max_levels && total + family_size(tree) <= options.max_cells) {
      refined.set(random.below(cells));
      count = 1;
    }
    tree.refined.push_back(std::move(refined));
    tree.owned.emplace_back(cells, true);
    cells = count * family_size(tree);
  }
  return tree;
}

/// Ownership by chance: each cell, leaf or not, is owned with this probability.
inline void own_randomly(mesh::Octree& tree, double share, std::uint64_t seed) {
  Random random(seed);
  for (base::BitArray& level : tree.owned)
    for (std::size_t i = 0; i < level.size(); ++i) level.set(i, random.chance(share));
}

namespace detail {
__extension__ using Key = unsigned __int128;
/// Bits of a cell centre's position interleaved, in units of half the deepest cell: order along a Z curve.
inline Key z_order(const mesh::Octree& tree, int level, const mesh::Coordinate& cell) {
  Key key = 0;
  const int shift = num_levels(tree) - 1 - level;
  for (int bit = 33; bit >= 0; --bit)
    for (std::size_t axis = static_cast<std::size_t>(tree.dim); axis-- > 0;) {
      const std::uint64_t centre = (2 * std::uint64_t{cell[axis]} + 1) << shift;
      key = key << 1 | (centre >> bit & 1);
    }
  return key;
}
}  // namespace detail

/// Copies of the tree, one a domain, each owning one contiguous stretch of a Z curve of equal leaf count, as a real
/// code's domains do: every cell is owned by the domain that its own centre falls into, so a refined cell can belong to
/// another domain than the cells below it. The trees are whole: prune them to get those of a reader.
inline std::vector<mesh::Octree> random_domains(const mesh::Octree& whole, std::size_t count) {
  std::vector<std::vector<mesh::Coordinate>> positions{root_coordinates(whole)};
  for (int level = 0; level + 1 < num_levels(whole); ++level)
    positions.push_back(child_coordinates(whole, level, positions.back()));
  using detail::Key;
  std::vector<Key> leaves;
  for (std::size_t level = 0; level < positions.size(); ++level)
    for (std::size_t i = 0; i < positions[level].size(); ++i)
      if (!whole.refined[level][i])
        leaves.push_back(detail::z_order(whole, static_cast<int>(level), positions[level][i]));
  std::sort(leaves.begin(), leaves.end());
  std::vector<Key> starts;
  for (std::size_t d = 1; d < count; ++d) starts.push_back(leaves[leaves.size() * d / count]);
  std::vector<mesh::Octree> domains(count, whole);
  for (mesh::Octree& domain : domains)
    for (base::BitArray& level : domain.owned) level = base::BitArray(level.size());
  for (std::size_t level = 0; level < positions.size(); ++level)
    for (std::size_t i = 0; i < positions[level].size(); ++i) {
      const Key key = detail::z_order(whole, static_cast<int>(level), positions[level][i]);
      const auto owner = std::upper_bound(starts.begin(), starts.end(), key) - starts.begin();
      domains[static_cast<std::size_t>(owner)].owned[level].set(i);
    }
  return domains;
}

/// A field of random bits on every cell of the tree (float types: NaN and infinity among them).
inline mesh::Field random_field(const mesh::Octree& tree, mesh::FieldInfo info, std::uint64_t seed) {
  Random random(seed);
  const auto width = block_size(tree) * static_cast<std::size_t>(info.components);
  mesh::Field field = mesh::make_field(std::move(info), num_cells(tree) * width);
  for (std::byte& byte : field.bytes) byte = static_cast<std::byte>(random.bits() & 0xFF);
  return field;
}

/// A smooth-ish positive double field: a refined cell has the mean of its children, as real outputs nearly have.
inline mesh::Field smooth_field(const mesh::Octree& tree, const std::string& name, std::uint64_t seed) {
  Random random(seed);
  mesh::FieldInfo info;
  info.name = name;
  mesh::Field field = mesh::make_field(info, num_cells(tree) * block_size(tree));
  const auto values = field.as<double>();
  const auto offsets = level_offsets(tree);
  const std::size_t block = block_size(tree), family = family_size(tree);
  for (std::size_t i = 0; i < offsets[1] * block; ++i) values[i] = 1 + random.uniform();
  for (std::size_t level = 0; level + 1 < tree.refined.size(); ++level) {
    std::size_t child = offsets[level + 1] * block;
    tree.refined[level].for_each_set([&](std::size_t i) {
      for (std::size_t c = 0; c < family * block; ++c)
        values[child++] = values[(offsets[level] + i) * block + c % block] * (0.9 + 0.2 * random.uniform());
    });
  }
  for (std::size_t level = tree.refined.size() - 1; level-- > 0;) {
    std::size_t child = offsets[level + 1] * block;
    tree.refined[level].for_each_set([&](std::size_t i) {
      for (std::size_t b = 0; b < block; ++b) {
        double sum = 0;
        for (std::size_t c = 0; c < family; ++c) sum += values[child + c * block + b];
        values[(offsets[level] + i) * block + b] = sum / static_cast<double>(family);
      }
      child += family * block;
    });
  }
  return field;
}

}  // namespace octavo::testing
