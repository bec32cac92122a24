#include "octavo/formats/ramses/numbering.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::formats::ramses {
namespace {

using mesh::Coordinate;
using mesh::Octree;

std::size_t coarse_cells(const Octree& tree) {
  return static_cast<std::size_t>(tree.roots[0] * tree.roots[1] * tree.roots[2]) >> tree.dim;
}

std::size_t num_families(const Octree& tree, int level) {
  return level == 0 ? coarse_cells(tree) : mesh::num_cells(tree, level) >> tree.dim;
}

unsigned count_in_oct(const Octree& tree, const std::vector<base::BitArray>& bits, int level, std::uint32_t oct) {
  unsigned count = 0;
  for (unsigned c = 0; c < (1U << tree.dim); ++c)
    if (bits[static_cast<std::size_t>(level)][cell_of_oct(tree, level, oct, c)]) ++count;
  return count;
}

bool any_of_oct(const Octree& tree, const std::vector<base::BitArray>& bits, int level, std::uint32_t oct) {
  return count_in_oct(tree, bits, level, oct) > 0;
}

base::Error shared_oct(int domain, int level) {
  return base::Error(base::Kind::unsupported, "an oct of level " + std::to_string(level + 1) +
                                                  " of which the domain owns some cells only: RAMSES has whole ones")
      .at("part " + std::to_string(domain));
}

/// The list, from 0, that an oct stands in: its owner's, told by the centre of its father.
int list_of(const Octree& tree, const Owners& owners, int domain, int level, std::uint32_t oct,
            const std::vector<Coordinate>& cells) {
  const unsigned own = count_in_oct(tree, tree.owned, level, oct);
  if (own == (1U << tree.dim)) return domain;
  if (own > 0) throw shared_oct(domain, level);
  Coordinate father = coarse_position(tree, oct);
  if (level > 0) {
    father = cells[cell_of_oct(tree, level, oct, 0)];
    for (auto& x : father) x >>= 1;
  }
  const int owner = owners.of(level - 1, father);
  if (owner != domain) return owner;
  if (owners.count() == 1)
    throw base::Error(base::Kind::unsupported, "cells of level " + std::to_string(level + 1) +
                                                   " belong to no domain: only whole steps can be written")
        .at("part 0");
  return (domain + 1) % owners.count();  // not its own: what it does not own must not count as its leaves
}

}  // namespace

int Owners::of(int level, const Coordinate& cell) const {
  if (bounds.empty()) {
    for (int d = 0; d < domains; ++d) {
      bool inside = true;
      for (int a = 0; a < dim; ++a) {
        const auto at = static_cast<std::size_t>(d + a * domains);
        const double x = std::ldexp(cell[static_cast<std::size_t>(a)] + 0.5, -(level + 1)) * coarse_cell;
        inside = inside && box_min[at] <= x && x < box_max[at];
      }
      if (inside) return d;
    }
    return domains - 1;
  }
  const auto key = mesh::centre_key(mesh::Curve::hilbert, dim, bits, level + 1 + coarse_bits, cell);
  const auto above = std::upper_bound(bounds.begin() + 1, bounds.end() - 1, key);
  return static_cast<int>(above - bounds.begin()) - 1;
}

Coordinate coarse_position(const Octree& tree, std::uint32_t oct) {
  Coordinate position{0, 0, 0};
  for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) {
    const auto count = static_cast<std::uint32_t>(tree.roots[a] / 2);
    position[a] = oct % count;
    oct /= count;
  }
  return position;
}

std::size_t cell_of_oct(const Octree& tree, int level, std::uint32_t oct, unsigned c) {
  if (level > 0) return (static_cast<std::size_t>(oct) << tree.dim) + c;
  const Coordinate at = coarse_position(tree, oct);
  std::size_t cell = 0;
  for (std::size_t a = static_cast<std::size_t>(tree.dim); a-- > 0;)
    cell = cell * static_cast<std::size_t>(tree.roots[a]) + 2 * at[a] + (c >> a & 1);
  return cell;
}

OctPosition position_of_cell(const Octree& tree, int level, std::size_t cell) {
  const auto mask = (std::size_t{1} << tree.dim) - 1;
  if (level > 0) return {static_cast<std::uint32_t>(cell >> tree.dim), static_cast<unsigned>(cell & mask)};
  OctPosition position;
  std::uint32_t stride = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) {
    const auto width = static_cast<std::size_t>(tree.roots[a]);
    const std::size_t x = cell % width;
    cell /= width;
    position.oct += static_cast<std::uint32_t>(x / 2) * stride;
    position.c |= static_cast<unsigned>(x & 1) << a;
    stride *= static_cast<std::uint32_t>(width / 2);
  }
  return position;
}

Numbering number_octs(const Octree& tree, const Owners& owners, int domain) {
  Numbering numbering;
  numbering.domain = domain;
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    numbering.cells.push_back(level == 0 ? mesh::root_coordinates(tree)
                                         : mesh::child_coordinates(tree, level - 1, numbering.cells.back()));
    const std::size_t families = num_families(tree, level);
    std::vector<std::vector<std::uint32_t>> lists(static_cast<std::size_t>(owners.count()));
    for (std::uint32_t oct = 0; oct < families; ++oct) {
      const bool there = level > 0 || any_of_oct(tree, tree.owned, 0, oct) || any_of_oct(tree, tree.refined, 0, oct);
      if (!there) continue;
      const int list = list_of(tree, owners, domain, level, oct, numbering.cells.back());
      lists[static_cast<std::size_t>(list)].push_back(oct);
    }
    auto& octs = numbering.octs.emplace_back();
    auto& counts = numbering.counts.emplace_back();
    auto& index = numbering.index.emplace_back(families, 0);
    for (const auto& list : lists) {
      counts.push_back(static_cast<std::uint32_t>(list.size()));
      for (const std::uint32_t oct : list) index[oct] = ++numbering.total;
      octs.insert(octs.end(), list.begin(), list.end());
    }
  }
  return numbering;
}

}  // namespace octavo::formats::ramses
