#include "octavo/formats/ramses/file_tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"

namespace octavo::formats::ramses {
namespace {

using mesh::Coordinate;

struct Builder {
  const Coarse& coarse;
  const Owners& owners;
  const std::vector<OctTable>& known;
  FileTree tree;
  unsigned cells() const { return 1U << coarse.dim; }
  std::uint8_t all() const { return static_cast<std::uint8_t>((1U << cells()) - 1); }
};

base::Error missing(int level, const char* what) {
  return base::Error(base::Kind::corrupt, "an oct of level " + std::to_string(level + 1) + what);
}

std::uint8_t refined_of_real(const Builder& builder, int level, const Coordinate& at) {
  const auto l = static_cast<std::size_t>(level);
  const std::size_t found =
      l < builder.known.size() ? find(builder.known[l].key, oct_key(builder.coarse.dim, at)) : nowhere;
  if (found == nowhere) throw missing(level, " is in no part");
  if (builder.known[l].owned[found] != builder.all()) throw missing(level, " has a cell that no part owns");
  return builder.known[l].refined[found];
}

/// A cell in a wall is refined if the nearest cell of the domain is.
std::uint8_t refined_of_wall(const Builder& builder, int level, const Coordinate& at) {
  const auto l = static_cast<std::size_t>(level);
  unsigned refined = 0;
  for (unsigned c = 0; c < builder.cells(); ++c) {
    const Coordinate cell = nearest_real(builder.coarse, cell_at(at, c), level + 1);
    const Coordinate oct{cell[0] / 2, cell[1] / 2, cell[2] / 2};
    const std::size_t found = find(builder.known[l].key, oct_key(builder.coarse.dim, oct));
    if (found == nowhere) continue;
    const unsigned position = (cell[0] & 1) | (cell[1] & 1) << 1 | (cell[2] & 1) << 2;
    refined |= (builder.known[l].refined[found] >> position & 1U) << c;
  }
  return static_cast<std::uint8_t>(refined);
}

void add_oct(Builder& builder, int level, const Coordinate& at, std::int32_t list, std::uint32_t father, unsigned c) {
  FileLevel& to = builder.tree.levels.back();
  to.at.push_back(at);
  to.list.push_back(list);
  to.father.push_back(father);
  to.father_cell.push_back(static_cast<std::uint8_t>(c));
  to.refined.push_back(list < builder.owners.count()
                           ? refined_of_real(builder, level, without_walls(builder.coarse, at, level))
                           : refined_of_wall(builder, level, at));
}

/// Level 0 has an oct in every coarse cell, walls included.
void add_coarse(Builder& builder) {
  const Coarse& coarse = builder.coarse;
  std::vector<Coordinate> cells;
  for (std::int64_t k = 0; k < coarse.count[2]; ++k)
    for (std::int64_t j = 0; j < coarse.count[1]; ++j)
      for (std::int64_t i = 0; i < coarse.count[0]; ++i)
        cells.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(k)});
  std::sort(cells.begin(), cells.end(),
            [&](const Coordinate& a, const Coordinate& b) { return oct_key(coarse.dim, a) < oct_key(coarse.dim, b); });
  builder.tree.levels.emplace_back();
  for (const Coordinate& at : cells) {
    const std::size_t number = coarse_number(coarse, at);
    const std::int32_t region = coarse.region[number];
    if (region < 0) continue;
    const std::int32_t list =
        region > 0 ? builder.owners.count() + region - 1 : builder.owners.of(-1, without_walls(coarse, at, 0));
    add_oct(builder, 0, at, list, static_cast<std::uint32_t>(number), 0);
  }
}

/// RAMSES joins the ends of the coarse grid, with walls or without.
void link_coarse(Builder& builder) {
  const Coarse& coarse = builder.coarse;
  FileLevel& level = builder.tree.levels[0];
  std::vector<std::int32_t> oct(coarse.region.size(), -1);
  for (std::size_t i = 0; i < level.size(); ++i) oct[level.father[i]] = static_cast<std::int32_t>(i);
  level.beside.resize(level.size());
  for (std::size_t i = 0; i < level.size(); ++i)
    for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(coarse.dim); ++side) {
      Coordinate at = level.at[i];
      const auto count = static_cast<std::uint32_t>(coarse.count[side / 2]);
      at[side / 2] = (at[side / 2] + (side % 2 == 0 ? count - 1 : 1)) % count;
      level.beside[i][side] = oct[coarse_number(coarse, at)];
    }
}

/// Calls f(oct, cell) for the neighbour of a cell, if the neighbour's oct is there.
template <class F>
void beside_cell(const FileLevel& level, std::size_t oct, unsigned c, std::size_t side, F&& f) {
  const unsigned axis = 1U << (side / 2);
  const bool inside = ((c & axis) != 0) == (side % 2 == 0);
  if (inside)
    f(oct, c ^ axis);
  else if (level.beside[oct][side] >= 0)
    f(static_cast<std::size_t>(level.beside[oct][side]), c ^ axis);
}

/// Adds cells with at least 1, then 2, then 3 marked neighbours, in the octs that `grows` chooses.
template <class Grows>
void widen(const Builder& builder, const FileLevel& level, std::vector<std::uint8_t>& marks, Grows&& grows) {
  const auto sides = 2 * static_cast<std::size_t>(builder.coarse.dim);
  for (int least = 1; least <= builder.coarse.dim; ++least) {
    std::vector<std::uint8_t> wider = marks;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (!grows(i)) continue;
      for (unsigned c = 0; c < builder.cells(); ++c) {
        int count = 0;
        for (std::size_t side = 0; side < sides; ++side)
          beside_cell(level, i, c, side, [&](std::size_t oct, unsigned cell) { count += marks[oct] >> cell & 1; });
        if (count >= least) wider[i] = static_cast<std::uint8_t>(wider[i] | 1U << c);
      }
    }
    marks = std::move(wider);
  }
}

/// Returns one bit per cell: whether the file holds its children.
std::vector<std::uint8_t> authorise(const Builder& builder, int l) {
  const FileLevel& level = builder.tree.levels[static_cast<std::size_t>(l)];
  const int domain = builder.tree.domain;
  std::vector<std::uint8_t> marks(level.size(), 0);
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (level.list[i] == domain) marks[i] = builder.all();
    if (level.list[i] == domain || in_wall(level, i, builder.owners)) continue;
    for (unsigned c = 0; c < builder.cells(); ++c)
      if (builder.owners.reaches(l, without_walls(builder.coarse, cell_at(level.at[i], c), l + 1), domain))
        marks[i] = static_cast<std::uint8_t>(marks[i] | 1U << c);
  }
  for (int layer = 0; layer < builder.owners.ghost_layers; ++layer)
    widen(builder, level, marks,
          [&](std::size_t i) { return level.list[i] != domain && !in_wall(level, i, builder.owners); });
  if (builder.coarse.regions > 0)
    widen(builder, level, marks, [&](std::size_t i) { return in_wall(level, i, builder.owners); });
  return marks;
}

void link_sons(const FileLevel& above, FileLevel& level, int dim) {
  level.beside.resize(level.size());
  for (std::size_t i = 0; i < level.size(); ++i)
    for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(dim); ++side) {
      level.beside[i][side] = -1;
      beside_cell(above, level.father[i], level.father_cell[i], side, [&](std::size_t oct, unsigned cell) {
        if (above.sons[oct] >> cell & 1) level.beside[i][side] = static_cast<std::int32_t>(son_of(above, oct, cell));
      });
    }
}

/// Makes the children of a level in the order of their fathers, which is again along the Z curve.
void add_level(Builder& builder, int l) {
  const auto marks = authorise(builder, l);
  builder.tree.levels.emplace_back();
  FileLevel& above = builder.tree.levels[static_cast<std::size_t>(l)];
  for (std::size_t i = 0; i < above.size(); ++i) {
    const auto sons = static_cast<std::uint8_t>(marks[i] & above.refined[i]);
    above.sons.push_back(sons);
    above.first_son.push_back(static_cast<std::uint32_t>(builder.tree.levels.back().size()));
    for (unsigned c = 0; c < builder.cells(); ++c) {
      if ((sons >> c & 1) == 0) continue;
      const Coordinate at = cell_at(above.at[i], c);
      const std::int32_t list = in_wall(above, i, builder.owners)
                                    ? above.list[i]
                                    : builder.owners.of(l, without_walls(builder.coarse, at, l + 1));
      add_oct(builder, l + 1, at, list, static_cast<std::uint32_t>(i), c);
    }
  }
  link_sons(above, builder.tree.levels.back(), builder.coarse.dim);
}

/// Puts the own octs of a level, which follow the Z curve in `own`, into the order that RAMSES had, and takes it off
/// the front of `order`. An order of other octs is dropped: a part may hold octs that by the keys are not its own.
void reorder(std::span<std::uint32_t> own, std::span<const std::uint32_t>& order) {
  std::vector<std::uint32_t> ordered;
  std::vector<bool> used(own.size(), false);
  for (std::size_t i = 0; i < std::min(own.size(), order.size()); ++i) {
    if (order[i] >= own.size() || used[order[i]]) break;
    used[order[i]] = true;
    ordered.push_back(own[order[i]]);
  }
  const bool fits = ordered.size() == own.size();
  order = fits ? order.subspan(own.size()) : std::span<const std::uint32_t>{};
  if (fits) std::copy(ordered.begin(), ordered.end(), own.begin());
}

/// Numbers the octs level by level, list after list.
void number(Builder& builder, std::span<const std::uint32_t> order) {
  FileTree& tree = builder.tree;
  std::int64_t total = 0;
  for (FileLevel& level : tree.levels) {
    tree.level_first.push_back(static_cast<std::int32_t>(total));
    total += static_cast<std::int64_t>(level.size());
    if (total > std::numeric_limits<std::int32_t>::max() >> builder.coarse.dim)
      throw base::Error(base::Kind::unsupported, "a domain has more octs than 32-bit cell numbers reach")
          .hint("write more domains");
    level.order.resize(level.size());
    std::iota(level.order.begin(), level.order.end(), 0U);
    std::stable_sort(level.order.begin(), level.order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return level.list[a] < level.list[b]; });
    const auto is_own = [&](std::uint32_t i) { return level.list[i] == tree.domain; };
    const auto first = std::find_if(level.order.begin(), level.order.end(), is_own);
    reorder(std::span(first, std::find_if_not(first, level.order.end(), is_own)), order);
    level.counts.assign(static_cast<std::size_t>(builder.owners.count() + builder.coarse.regions), 0);
    level.index.resize(level.size());
    for (const std::uint32_t i : level.order) {
      ++level.counts[static_cast<std::size_t>(level.list[i])];
      level.index[i] = ++tree.total;
    }
  }
  tree.level_first.push_back(tree.total);
}

}  // namespace

std::size_t coarse_number(const Coarse& coarse, const Coordinate& at) {
  return at[0] + static_cast<std::size_t>(coarse.count[0]) *
                     (at[1] + static_cast<std::size_t>(coarse.count[1]) * std::size_t{at[2]});
}

Coordinate without_walls(const Coarse& coarse, const Coordinate& at, int shift) {
  Coordinate real{0, 0, 0};
  for (std::size_t a = 0; a < static_cast<std::size_t>(coarse.dim); ++a)
    real[a] = at[a] - (static_cast<std::uint32_t>(coarse.skip[a]) << shift);
  return real;
}

Coordinate nearest_real(const Coarse& coarse, const Coordinate& at, int shift) {
  Coordinate real{0, 0, 0};
  for (std::size_t a = 0; a < static_cast<std::size_t>(coarse.dim); ++a)
    real[a] = static_cast<std::uint32_t>(
        std::clamp(std::int64_t{at[a]} - (coarse.skip[a] << shift), std::int64_t{0}, (coarse.real[a] << shift) - 1));
  return real;
}

MirroredCell reference_cell(const Coarse& coarse, const Coordinate& at, int shift) {
  MirroredCell cell{nearest_real(coarse, at, shift), 0};
  for (std::size_t a = 0; a < static_cast<std::size_t>(coarse.dim); ++a) {
    const std::int64_t x = std::int64_t{at[a]} - (coarse.skip[a] << shift), cells = coarse.real[a] << shift;
    const bool low = x < 0, high = x >= cells;
    if (!(low && coarse.mirrors[a][0]) && !(high && coarse.mirrors[a][1])) continue;
    cell.at[a] = static_cast<std::uint32_t>(low ? -1 - x : 2 * cells - 1 - x);
    cell.axes |= 1U << a;
  }
  return cell;
}

std::vector<std::byte> pack_order(const OctOrder& order) {
  std::vector<std::byte> bytes(4 * order.size());
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < order.size(); last = order[i++]) base::store(&bytes[4 * i], order[i] - last);
  return bytes;
}

OctOrder unpack_order(std::span<const std::byte> bytes) {
  OctOrder order(bytes.size() / 4);
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = last += base::load<std::uint32_t>(&bytes[4 * i]);
  return order;
}

FileTree build_file_tree(const Coarse& coarse, const Owners& owners, int domain, const std::vector<OctTable>& known,
                         const OctOrder& order) {
  Builder builder{coarse, owners, known, {}};
  builder.tree.domain = domain;
  add_coarse(builder);
  link_coarse(builder);
  for (int level = 0; builder.tree.levels.back().size() > 0; ++level) add_level(builder, level);
  builder.tree.levels.pop_back();
  number(builder, order);
  return std::move(builder.tree);
}

}  // namespace octavo::formats::ramses
