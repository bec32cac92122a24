#pragma once
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "tests/support/random_octree.hpp"

/// Seeded random patches, and slow, plain ways to look at patches and trees cell by cell.
namespace octavo::testing {

/// The cell of a value: level, then position.
using CellKey = std::array<std::int64_t, 4>;
using CellValues = std::map<CellKey, double>;

struct RandomPatches {
  mesh::Part part;
  mesh::Index3 block{1, 1, 1};
  int unfolded = 0;
  CellValues values;  ///< level of the patches, position on it
};

struct PatchesKind {
  bool keep_covered = true;  ///< values under finer patches, as AMReX has them
  bool blocks = false;
};

namespace detail {

inline mesh::IndexBox times(const mesh::IndexBox& box, const mesh::Index3& factor) {
  mesh::IndexBox out = box;
  for (std::size_t a = 0; a < 3; ++a) {
    out.lo[a] *= factor[a];
    out.hi[a] *= factor[a];
  }
  return out;
}

inline void add_values(RandomPatches& made, Random& random) {
  const auto& patches = std::get<mesh::Patches>(made.part.mesh);
  std::vector<double> values;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const mesh::IndexBox& box : patches.boxes[level])
      for (std::int64_t z = box.lo[2]; z < box.hi[2]; ++z)
        for (std::int64_t y = box.lo[1]; y < box.hi[1]; ++y)
          for (std::int64_t x = box.lo[0]; x < box.hi[0]; ++x) {
            values.push_back(random.uniform() - 0.5);
            made.values[{static_cast<std::int64_t>(level), x, y, z}] = values.back();
          }
  mesh::Field field = mesh::make_field({.name = "density", .unit = ""}, values.size());
  std::memcpy(field.bytes.data(), values.data(), field.bytes.size());
  made.part.fields.push_back(std::move(field));
}

}  // namespace detail

/// 1-D to 3-D, up to 4 levels, ratios 2 and 4, a domain whose corner is anywhere. Each patch is what refines one cell
/// (or block) of the level above, so that refined regions are made of whole ones; level 0 is as many patches as blocks.
inline RandomPatches random_patches(std::uint64_t seed, const PatchesKind& kind = {}) {
  Random random(seed);
  RandomPatches made;
  mesh::Patches patches;
  patches.dim = static_cast<int>(1 + random.below(3));
  made.unfolded = static_cast<int>(random.below(3));
  mesh::IndexBox domain{{0, 0, 0}, {1, 1, 1}};  // in blocks
  for (std::size_t a = 0; a < static_cast<std::size_t>(patches.dim); ++a) {
    made.block[a] = kind.blocks ? static_cast<std::int64_t>(1 + random.below(4)) : 1;
    domain.lo[a] = static_cast<std::int64_t>(random.below(7)) - 3;
    domain.hi[a] = domain.lo[a] + (static_cast<std::int64_t>(1 + random.below(3)) << made.unfolded);
  }
  std::vector<mesh::IndexBox> cells;  // blocks of this level
  for (std::int64_t z = domain.lo[2]; z < domain.hi[2]; ++z)
    for (std::int64_t y = domain.lo[1]; y < domain.hi[1]; ++y)
      for (std::int64_t x = domain.lo[0]; x < domain.hi[0]; ++x) cells.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
  const std::size_t levels = 1 + random.below(4);
  for (std::size_t level = 0; level < levels; ++level) {
    patches.domain.push_back(detail::times(domain, made.block));
    auto& boxes = patches.boxes.emplace_back();
    const int ratio = random.chance(0.3) ? 4 : 2;
    mesh::Index3 factor{1, 1, 1};
    for (std::size_t a = 0; a < static_cast<std::size_t>(patches.dim); ++a) factor[a] = ratio;
    std::vector<mesh::IndexBox> finer;
    for (const mesh::IndexBox& cell : cells) {
      const bool refine = level + 1 < levels && finer.size() < 400 && random.chance(0.3);
      if (!refine || kind.keep_covered || random.chance(0.5)) boxes.push_back(detail::times(cell, made.block));
      if (!refine) continue;
      const mesh::IndexBox fine = detail::times(cell, factor);
      for (std::int64_t z = fine.lo[2]; z < fine.hi[2]; ++z)
        for (std::int64_t y = fine.lo[1]; y < fine.hi[1]; ++y)
          for (std::int64_t x = fine.lo[0]; x < fine.hi[0]; ++x) finer.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
    }
    if (level + 1 < levels) patches.ratio.push_back(ratio);
    domain = detail::times(domain, factor);
    cells = std::move(finer);
  }
  made.part.mesh = std::move(patches);
  detail::add_values(made, random);
  return made;
}

/// Every value of a field on patches, by level and position.
inline CellValues values_on(const mesh::Patches& patches, const mesh::Field& field) {
  CellValues out;
  const auto values = field.as<double>();
  std::size_t next = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const mesh::IndexBox& box : patches.boxes[level])
      for (std::int64_t z = box.lo[2]; z < box.hi[2]; ++z)
        for (std::int64_t y = box.lo[1]; y < box.hi[1]; ++y)
          for (std::int64_t x = box.lo[0]; x < box.hi[0]; ++x)
            out[{static_cast<std::int64_t>(level), x, y, z}] = values[next++];
  return out;
}

/// The values of a tree's field on cells that pass: tree level index, position of the value's cell on that level.
template <class Pass>
CellValues values_on(const mesh::Octree& tree, const mesh::Field& field, Pass&& pass) {
  CellValues out;
  const auto values = field.as<double>();
  const mesh::Index3& b = tree.block;
  auto at = mesh::root_coordinates(tree);
  std::size_t next = 0;
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::int64_t z = 0; z < b[2]; ++z)
        for (std::int64_t y = 0; y < b[1]; ++y)
          for (std::int64_t x = 0; x < b[0]; ++x, ++next)
            if (pass(static_cast<std::size_t>(level), i))
              out[{level, at[i][0] * b[0] + x, at[i][1] * b[1] + y, at[i][2] * b[2] + z}] = values[next];
    if (level + 1 < mesh::num_levels(tree)) at = mesh::child_coordinates(tree, level, at);
  }
  return out;
}

}  // namespace octavo::testing
