#include "octavo/mesh/tree/regrid.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/walk.hpp"

/// From a tree to one with other blocks. plan_regrid() finds the new tree, which refines a block if the source refines
/// any of its cells; scatter() copies the values that both trees have; complete() makes those that only the new one
/// has.
namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

constexpr std::size_t most_listed = 5;

/// Cells of a source level along an axis; nothing where the level above cannot halve them.
std::optional<std::int64_t> cells_along(const Octree& source, int level, std::size_t axis) {
  const std::int64_t cells = source.roots[axis] * source.block[axis];
  if (level >= 0) return cells << level;
  return cells % (std::int64_t{1} << -level) == 0 ? std::optional(cells >> -level) : std::nullopt;
}

bool divides(const Octree& source, int level, const Index3& block) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(source.dim); ++axis) {
    const auto cells = cells_along(source, level, axis);
    if (!cells || *cells % block[axis] != 0) return false;
  }
  return true;
}

int root_level(const Octree& source, const RegridOptions& options) {
  constexpr int most_searched = 12;
  for (int level = options.root; level < options.root + most_searched; ++level)
    if (divides(source, level, options.block)) return level;
  Index3 cells = source.roots;
  for (std::size_t axis = 0; axis < 3; ++axis) cells[axis] *= source.block[axis];
  throw Error(Kind::unsupported, "the domain of " + describe_extent(cells, source.dim) +
                                     " cells cannot be divided into blocks of " +
                                     describe_extent(options.block, source.dim) + ", on no level");
}

/// Calls f(source level index, coordinate, number on the level) for each cell of each level.
template <class F>
void for_each_cell(const Octree& tree, F&& f) {
  for (LevelCells cells(tree); cells.level() < num_levels(tree); cells.next())
    cells.for_each([&](std::size_t i, const Coordinate& at) { f(cells.level(), at, i); });
}

std::uint64_t key_of(const Index3& at) {
  return static_cast<std::uint64_t>(at[0]) | static_cast<std::uint64_t>(at[1]) << 21 |
         static_cast<std::uint64_t>(at[2]) << 42;
}
using Keys = std::unordered_set<std::uint64_t>;

/// A tree from the positions of its refined cells, given level by level: is_refined(level, position). Owns nothing.
template <class F>
Octree grow(const Octree& shape, RootIntervals roots, F&& is_refined) {
  Octree tree{shape.dim, shape.roots, shape.block, {}, {}};
  // A tree without cells on level 0 holds no root.
  tree.refined = {BitArray(count_roots(roots))};
  hold(tree, std::move(roots));
  LevelCells cells(tree);
  tree.refined.clear();
  for (; cells.level() == 0 || cells.size() != 0; cells.next()) {
    BitArray refined(cells.size());
    cells.for_each([&](std::size_t i, const Coordinate& at) {
      if (is_refined(cells.level(), Index3{at[0], at[1], at[2]})) refined.set(i);
    });
    tree.owned.emplace_back(cells.size());
    tree.refined.push_back(std::move(refined));
  }
  return tree;
}

void own_all(Octree& tree) {
  for (BitArray& level : tree.owned) level = BitArray(level.size(), true);
}

/// The roots of the new tree that have some of the source's cells.
RootIntervals roots_told(const Regrid& plan, const Octree& source) {
  std::vector<std::int64_t> numbers;
  for_each_cell(source, [&](int level, const Coordinate& at, std::size_t i) {
    if (level > plan.shift) return;
    const SourceCell cell{level, at, source.refined[static_cast<std::size_t>(level)][i]};
    for_each_block_told(plan, source, cell, [&](int new_level, const Index3& root) {
      if (new_level == 0) numbers.push_back((root[2] * plan.tree.roots[1] + root[1]) * plan.tree.roots[0] + root[0]);
    });
  });
  std::sort(numbers.begin(), numbers.end());
  RootIntervals roots;
  for (const std::int64_t number : numbers)
    if (roots.empty() || number >= roots.back().end) append(roots, {number, number + 1});
  return roots;
}

/// Per new level from that of `first` on, positions of blocks with cells that the source refines.
std::vector<Keys> refined_blocks(const Octree& source, const Octree& shape, int shift, int first) {
  std::vector<Keys> keys;
  for_each_cell(source, [&](int level, const Coordinate& at, std::size_t i) {
    if (level < std::max(first, shift) || !source.refined[static_cast<std::size_t>(level)][i]) return;
    const auto j = static_cast<std::size_t>(level - shift);
    if (keys.size() <= j) keys.resize(j + 1);
    for_each_row(blocks_touching(shape, cells_of(source, at)), [&](const Index3& row, std::int64_t n) {
      for (std::int64_t x = 0; x < n; ++x) keys[j].insert(key_of({row[0] + x, row[1], row[2]}));
    });
  });
  return keys;
}

// ------------------------------------------------------------------------------------------------------------ balance

/// Calls f(position of a neighbour on the level) for each neighbour in the domain.
template <class F>
void for_each_neighbour(const Octree& tree, int level, const Index3& at, const RegridOptions& options, F&& f) {
  const auto dim = static_cast<std::size_t>(tree.dim);
  const int reach[3] = {1, dim > 1 ? 1 : 0, dim > 2 ? 1 : 0};
  for (int dz = -reach[2]; dz <= reach[2]; ++dz)
    for (int dy = -reach[1]; dy <= reach[1]; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int steps = std::abs(dx) + std::abs(dy) + std::abs(dz);
        if (steps == 0 || (steps > 1 && options.balance == Balance::faces)) continue;
        Index3 to{at[0] + dx, at[1] + dy, at[2] + dz};
        bool inside = true;
        for (std::size_t axis = 0; axis < dim; ++axis) {
          const std::int64_t extent = tree.roots[axis] << level;
          if (options.periodic[axis]) to[axis] = (to[axis] + extent) % extent;
          inside = inside && to[axis] >= 0 && to[axis] < extent;
        }
        if (inside) f(to);
      }
}

Index3 parent_of(const Index3& at, int dim) {
  Index3 up = at;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) up[axis] >>= 1;
  return up;
}

std::string to_string(const Index3& at, int dim) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    text.append(axis == 0 ? "" : ",").append(std::to_string(at[axis]));
  return text + ")";
}

/// A refined cell needs neighbours of its own level, or those beside its children differ by two.
struct Unbalanced {
  std::int64_t count = 0;
  std::string places;
};
Unbalanced find_unbalanced(const Octree& tree, const RegridOptions& options) {
  Unbalanced found;
  const TreeIndex index(tree);
  for_each_cell(tree, [&](int level, const Coordinate& at, std::size_t i) {
    if (!tree.refined[static_cast<std::size_t>(level)][i]) return;
    for_each_neighbour(tree, level, {at[0], at[1], at[2]}, options, [&](const Index3& to) {
      if (index.find(level, to)) return;
      if (++found.count <= static_cast<std::int64_t>(most_listed))
        found.places += (found.places.empty() ? "" : "; ") + std::string("level index ") + std::to_string(level) +
                        to_string(to, tree.dim);
    });
  });
  return found;
}

/// Refines unbalanced cells, from the finest level up.
void add_balance(const Octree& tree, const RegridOptions& options, std::vector<Keys>& refined) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 21) - 1;
  for (std::size_t level = refined.size(); level-- > 1;) {
    const auto above = [&](const Index3& to) { refined[level - 1].insert(key_of(parent_of(to, tree.dim))); };
    for (const std::uint64_t key : refined[level]) {
      const Index3 at{static_cast<std::int64_t>(key & mask), static_cast<std::int64_t>(key >> 21 & mask),
                      static_cast<std::int64_t>(key >> 42)};
      above(at);
      for_each_neighbour(tree, static_cast<int>(level), at, options, above);
    }
  }
}

void refuse_unbalanced(const Unbalanced& found, const RegridOptions& options) {
  throw Error(Kind::unsupported, "neighbours differ by more than one level, which the target does not allow: " +
                                     std::to_string(found.count) + " places" +
                                     (options.balance == Balance::corners ? " over faces, edges or corners" : "") +
                                     ", where no cell is at " + found.places +
                                     (found.count > static_cast<std::int64_t>(most_listed) ? " ..." : ""))
      .hint("--fill refines them");
}

// ----------------------------------------------------------------------------------------------------------- coverage

std::int64_t overlap(const IndexBox& a, const IndexBox& b, int dim) {
  const auto both = intersection(a, b, dim);
  return both ? num_cells(*both, dim) : 0;
}

/// The cells of a block of the new tree that the source holds, on a level of the source.
std::int64_t cells_held(const Octree& source, const TreeIndex& index, int level, const IndexBox& block) {
  std::int64_t held = 0;
  if (level >= num_levels(source)) return held;
  for_each_row(blocks_touching(source, block), [&](const Index3& row, std::int64_t n) {
    for (std::int64_t x = 0; x < n; ++x) {
      const Coordinate at{static_cast<std::uint32_t>(row[0] + x), static_cast<std::uint32_t>(row[1]),
                          static_cast<std::uint32_t>(row[2])};
      if (index.find(level, {at[0], at[1], at[2]})) held += overlap(cells_of(source, at), block, source.dim);
    }
  });
  return held;
}

std::int64_t cells_above_first(const Octree& tree, int shift, int first) {
  std::int64_t n = 0;
  for (int level = 0; level < num_levels(tree) && level + shift < first; ++level)
    n += static_cast<std::int64_t>(num_cells(tree, level) * block_size(tree));
  return n;
}

}  // namespace

IndexBox blocks_touching(const Octree& tree, const IndexBox& cells) {
  IndexBox out{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    out.lo[axis] = cells.lo[axis] / tree.block[axis];
    out.hi[axis] = (cells.hi[axis] - 1) / tree.block[axis] + 1;
  }
  return out;
}

int coarsest_leaf(const Octree& tree) {
  if (count_roots(held_roots(tree)) != static_cast<std::size_t>(num_roots(tree.roots))) return 0;
  for (int level = 0; level < num_levels(tree); ++level)
    if (tree.refined[static_cast<std::size_t>(level)].count() != num_cells(tree, level)) return level;
  return num_levels(tree) - 1;
}

MissingCells find_missing(const Octree& source, const Regrid& plan) {
  const Octree& tree = plan.tree;
  const TreeIndex index(source);
  MissingCells missing;
  const auto whole = static_cast<std::int64_t>(block_size(tree));
  for_each_cell(tree, [&](int level, const Coordinate& at, std::size_t i) {
    if (level + plan.shift < plan.first || !tree.owned[static_cast<std::size_t>(level)][i]) return;
    const IndexBox block = cells_of(tree, at);
    const std::int64_t here = cells_held(source, index, level + plan.shift, block);
    if (here == whole) return;
    missing.cells += whole - here;
    if (++missing.blocks <= static_cast<std::int64_t>(most_listed))
      missing.first += (missing.first.empty() ? "" : "; ") + std::string("level index ") +
                       std::to_string(level + plan.shift) + " " + describe(block, tree.dim) + " has " +
                       std::to_string(here) + " of " + std::to_string(whole);
  });
  return missing;
}

void refuse_missing(const MissingCells& missing, const Octree& tree) {
  throw Error(Kind::unsupported, "the refined regions are not made of whole blocks of " +
                                     describe_extent(tree.block, tree.dim) +
                                     " cells: " + std::to_string(missing.cells) + " cells of " +
                                     std::to_string(missing.blocks) + " blocks are missing: " + missing.first +
                                     (missing.blocks > static_cast<std::int64_t>(most_listed) ? " ..." : ""))
      .hint("smaller blocks may fit; --fill makes the missing cells from the coarser one they lie in");
}

Regrid plan_roots(const Octree& source, const RegridOptions& options) {
  Regrid plan;
  plan.first = options.first;
  plan.fill = {options.by, options.periodic, options.edge, options.specific};
  plan.shift = root_level(source, options);
  plan.tree.dim = source.dim;
  plan.tree.block = options.block;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(source.dim); ++axis)
    plan.tree.roots[axis] = *cells_along(source, plan.shift, axis) / options.block[axis];
  return plan;
}

namespace {

Octree tree_of_keys(const Regrid& plan, const std::vector<Keys>& keys, RootIntervals roots) {
  return grow(plan.tree, std::move(roots), [&](int level, const Index3& at) {
    if (level + plan.shift < plan.first) return true;
    return static_cast<std::size_t>(level) < keys.size() && keys[static_cast<std::size_t>(level)].contains(key_of(at));
  });
}

std::vector<Keys> refined_blocks(const Octree& source, const Regrid& plan) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(source.dim); ++axis)
    if (plan.tree.roots[axis] << num_levels(source) >= std::int64_t{1} << 21)
      throw Error(Kind::unsupported, "more than 2^21 cells along an axis: that is not converted to another tree");
  return refined_blocks(source, plan.tree, plan.shift, plan.first);
}

}  // namespace

Octree tree_told(const Regrid& plan, const Octree& source) {
  return tree_of_keys(plan, refined_blocks(source, plan), roots_told(plan, source));
}

Regrid plan_regrid(const Octree& source, const RegridOptions& options) {
  Regrid plan = plan_roots(source, options);
  std::vector<Keys> keys = refined_blocks(source, plan);
  const RootIntervals all{{0, num_roots(plan.tree.roots)}};
  plan.tree = tree_of_keys(plan, keys, all);
  if (options.balance != Balance::none) {
    const Unbalanced found = find_unbalanced(plan.tree, options);
    if (found.count != 0 && !options.fill) refuse_unbalanced(found, options);
    if (found.count != 0) {
      add_balance(plan.tree, options, keys);
      plan.tree = tree_of_keys(plan, keys, all);
    }
  }
  own_all(plan.tree);
  const MissingCells missing = find_missing(source, plan);
  if (missing.cells != 0 && !options.fill) refuse_missing(missing, plan.tree);
  plan.fills = missing.cells;
  plan.blocks_filled = missing.blocks;
  plan.means = cells_above_first(plan.tree, plan.shift, options.first);
  return plan;
}

// ------------------------------------------------------------------------------------------------------------- values

namespace {

void check_field(const FieldInfo& info) {
  if (info.components != 1 || info.ghost != 0)
    throw Error(Kind::usage, "a field must have one component and no ghost cells to go onto another tree")
        .at("field " + info.name);
}

/// The position, in a block of that lower corner, of a cell.
std::size_t inside(const Index3& cell, const IndexBox& box) {
  const std::int64_t nx = box.hi[0] - box.lo[0], ny = box.hi[1] - box.lo[1];
  return static_cast<std::size_t>(((cell[2] - box.lo[2]) * ny + cell[1] - box.lo[1]) * nx + cell[0] - box.lo[0]);
}

/// A run of values that one source cell and one new cell share.
struct Run {
  std::size_t from = 0, to = 0, length = 0;
};

/// Calls f(run) for what a source cell, whose cells these are and begin at value `first`, shares with the new tree's
/// cells of a level, whose cells are 2^finer times as fine and whose first is the tree's cell number `offset`.
template <class F>
void for_each_shared(const Octree& tree, const TreeIndex& index, int level, std::size_t offset, const IndexBox& cells,
                     std::size_t first, int finer, F&& f) {
  const IndexBox fine = flat(refined_box(cells, std::int64_t{1} << finer, tree.dim), tree.dim);
  for_each_row(blocks_touching(tree, fine), [&](const Index3& row, std::int64_t n) {
    for (std::int64_t x = 0; x < n; ++x) {
      const Index3 at{row[0] + x, row[1], row[2]};
      const auto found = index.find(level, at);
      if (!found) continue;
      const IndexBox block = cells_of(tree, {static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                                             static_cast<std::uint32_t>(at[2])});
      const std::size_t to = (offset + *found) * block_size(tree);
      for_each_row(*intersection(fine, block, 3), [&](const Index3& cell, std::int64_t length) {
        if (finer == 0)
          return f(Run{first + inside(cell, cells), to + inside(cell, block), static_cast<std::size_t>(length)});
        for (std::int64_t k = 0; k < length; ++k) {
          const Index3 one{cell[0] + k, cell[1], cell[2]};
          Index3 up = one;
          for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) up[axis] >>= finer;
          f(Run{first + inside(up, cells), to + inside(one, block), 1});
        }
      });
    }
  });
}

/// Calls f(run) for the values that each owned cell of the source gives to the new tree. A cell gives them to the same
/// cell; a leaf that is coarser than the new roots' cells gives them to all cells inside it.
template <class F>
void for_each_run(const Octree& source, const Regrid& plan, const Octree& tree, F&& f) {
  const TreeIndex index(tree);
  const auto offsets = level_offsets(source), to_offsets = level_offsets(tree);
  for_each_cell(source, [&](int level, const Coordinate& at, std::size_t i) {
    const auto l = static_cast<std::size_t>(level);
    const int finer = std::max(0, plan.shift - level);
    if (level < plan.first || level - plan.shift >= num_levels(tree) || !source.owned[l][i]) return;
    if (finer > 0 && source.refined[l][i]) return;
    const int to = std::max(0, level - plan.shift);
    for_each_shared(tree, index, to, to_offsets[static_cast<std::size_t>(to)], cells_of(source, at),
                    (offsets[l] + i) * block_size(source), finer, f);
  });
}

}  // namespace

void scatter(const Part& source, const Regrid& plan, const Octree& tree, std::vector<Field>& fields, BitArray& known) {
  scatter(std::get<Octree>(source.mesh), source.fields, plan, tree, fields, known);
}

void scatter(const Octree& from, const std::vector<Field>& values, const Regrid& plan, const Octree& tree,
             std::vector<Field>& fields, BitArray& known) {
  std::vector<Run> runs;
  for_each_run(from, plan, tree, [&](const Run& run) {
    runs.push_back(run);
    for (std::size_t k = run.to; k < run.to + run.length; ++k) known.set(k);
  });
  for (std::size_t f = 0; f < fields.size(); ++f) {
    check_field(fields[f].info);
    const std::size_t width = size_of(fields[f].info.type);
    if (values.at(f).size() != num_cells(from) * block_size(from))
      throw Error(Kind::usage, "a field's values do not fit its tree").at("field " + fields[f].info.name);
    for (const Run& run : runs)
      std::memcpy(fields[f].bytes.data() + run.to * width, values[f].bytes.data() + run.from * width,
                  run.length * width);
  }
}

bool gives_to(const Octree& source, const Regrid& plan, const Octree& tree) {
  bool gives = false;
  for_each_run(source, plan, tree, [&](const Run&) { gives = true; });
  return gives;
}

void complete(const Regrid& plan, const Octree& tree, std::vector<Field>& fields, const BitArray& known) {
  if (known.count() == known.size()) return;
  if (plan.fills != 0) fill_down(tree, plan.first - plan.shift, plan.fill, fields, known);
  form_means(tree, plan.first - plan.shift, fields, known, plan.fill.specific);
}

std::vector<BitArray> cells_to_complete(const Regrid& plan, const Octree& tree, const std::vector<BitArray>& owned) {
  std::vector<BitArray> needed = owned;
  RegridOptions beside;
  beside.balance = Balance::faces;
  beside.periodic = plan.fill.periodic;
  const TreeIndex index(tree);
  std::vector<std::vector<Coordinate>> at;  // of the refined cells of each level
  for (LevelCells cells(tree); cells.level() + 1 < num_levels(tree);) {
    cells.next();
    at.push_back(cells.parents());
  }
  for (int level = num_levels(tree) - 1; level-- > 0;) {
    const auto l = static_cast<std::size_t>(level);
    std::size_t next = 0;
    tree.refined[l].for_each_set([&](std::size_t i) {
      const std::size_t family = next++, child = family * family_size(tree);
      bool wanted = false;
      for (std::size_t c = 0; c < family_size(tree); ++c) wanted = wanted || needed[l + 1][child + c];
      if (!wanted) return;
      needed[l].set(i);
      if (plan.fill.by == FillBy::constant) return;
      const Coordinate& here = at[l][family];
      for_each_neighbour(tree, level, {here[0], here[1], here[2]}, beside, [&](const Index3& to) {
        if (const auto found = index.find(level, to)) needed[l].set(*found);
      });
    });
  }
  return needed;
}

}  // namespace octavo::mesh
