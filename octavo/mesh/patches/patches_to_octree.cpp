#include "octavo/mesh/patches/patches_to_octree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/box_index.hpp"
#include "octavo/mesh/sides.hpp"

/// From boxes to a tree, level by level from the roots. Each box carries the numbers of the cells that it covers on the
/// level at hand; cells under a deeper box are refined, and the numbers of their children follow. Means of cells that
/// no box has come last, from the finest level up. Memory: four bytes for each cell of the boxes on one level, and
/// bits.
namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;
using Indices = std::vector<std::uint32_t>;

/// One box of the patches on its way down the tree: at tree level s, `cells` is the box coarsened to that level (in
/// tree cells from the domain's corner), and at[i] the index, on that level, of its i-th cell, x fastest.
struct DescendingBox {
  bool own = true;        ///< else it says what other contributors hold, and has no values
  std::size_t level = 0;  ///< of the patches
  std::size_t first = 0;  ///< its first value in a field
  IndexBox cells;         ///< at tree level `index[level]`
  IndexBox coarse;        ///< at the tree level that `at` is for
  Indices at;
};

/// The tree under construction, and the state of the cells of its levels.
struct Growth {
  Octree tree;
  std::vector<BitArray> stored;     ///< the patches hold a value
  std::vector<BitArray> elsewhere;  ///< those of another contributor do
  std::vector<BitArray> complete;   ///< stored, or refined and all children complete
};

IndexBox coarsened(const IndexBox& box, std::size_t dim, int levels) {
  IndexBox out = box;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    out.lo[axis] = box.lo[axis] >> levels;
    out.hi[axis] = ((box.hi[axis] - 1) >> levels) + 1;
  }
  return out;
}

std::string to_string(const Coordinate& at, int dim) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    text.append(axis == 0 ? "" : ",").append(std::to_string(at[axis]));
  return text + ")";
}

Error not_aligned(const IndexBox& box, int dim, std::size_t level, const Index3& block) {
  return Error(Kind::unsupported, "box " + describe(box, dim) + " is not made of whole blocks of " +
                                      describe_extent(block, dim) + " cells")
      .at("level " + std::to_string(level));
}

/// The box in tree cells from the domain's corner.
IndexBox in_tree_cells(const IndexBox& box, const Patches& patches, std::size_t level, const Index3& block) {
  IndexBox out{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis) {
    const std::int64_t lo = box.lo[axis] - patches.domain[level].lo[axis];
    const std::int64_t hi = box.hi[axis] - patches.domain[level].lo[axis];
    if (lo % block[axis] != 0 || hi % block[axis] != 0) throw not_aligned(box, patches.dim, level, block);
    out.lo[axis] = lo / block[axis];
    out.hi[axis] = hi / block[axis];
  }
  return out;
}

std::vector<DescendingBox> list_pieces(const Patches& patches, const PatchTree& plan) {
  std::vector<DescendingBox> pieces;
  std::size_t first = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const IndexBox& box : patches.boxes[level]) {
      DescendingBox piece;
      piece.level = level;
      piece.first = first;
      piece.cells = in_tree_cells(box, patches, level, plan.block);
      piece.coarse = coarsened(piece.cells, static_cast<std::size_t>(plan.dim), plan.index[level]);
      first += static_cast<std::size_t>(num_cells(box, patches.dim));
      pieces.push_back(std::move(piece));
    }
  return pieces;
}

DescendingBox piece_of_others(const IndexBox& cells, std::size_t level, const Patches& patches, const PatchTree& plan) {
  DescendingBox piece;
  piece.own = false;
  piece.level = level;
  piece.cells = in_tree_cells(cells, patches, level, plan.block);
  piece.coarse = coarsened(piece.cells, static_cast<std::size_t>(plan.dim), plan.index[level]);
  return piece;
}

/// A box of one level as cells of another; the coarser one that holds all of it.
IndexBox on_level(IndexBox box, const Patches& patches, const PatchTree& plan, std::size_t from, std::size_t to) {
  for (std::size_t level = from; level < to; ++level) box = refined_box(box, patches.ratio[level], patches.dim);
  if (from <= to) return box;
  IndexBox cells = coarsened(in_tree_cells(box, patches, from, plan.block), static_cast<std::size_t>(patches.dim),
                             plan.index[from] - plan.index[to]);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis) {
    cells.lo[axis] = cells.lo[axis] * plan.block[axis] + patches.domain[to].lo[axis];
    cells.hi[axis] = cells.hi[axis] * plan.block[axis] + patches.domain[to].lo[axis];
  }
  return cells;
}

void refuse_shared_cells(const BoxIndex& others, const Patches& patches, std::size_t level) {
  for (const IndexBox& box : patches.boxes[level])
    for_each_touching(others, box, [&](std::size_t, const IndexBox& shared) {
      throw Error(Kind::usage, "box " + describe(box, patches.dim) + " shares the cells " +
                                   describe(shared, patches.dim) + " with one of another contributor")
          .at("level " + std::to_string(level));
    });
}

/// Lists the cells of this part's tree that others hold: one level below its own cells, which are refined there, and
/// above its own cells, where the value of the others counts. A deeper cell of others stands for the cell on that one
/// level that contains it, which need not have a value of its own.
void list_pieces_of_others(const Patches& patches, const Patches& others, const PatchTree& plan,
                           std::vector<DescendingBox>& pieces) {
  for (std::size_t level = 0; level < others.boxes.size(); ++level) {
    if (others.boxes[level].empty()) continue;
    const BoxIndex index = index_boxes(others.boxes[level], patches.dim);
    for (std::size_t from = 0; from < patches.boxes.size(); ++from) {
      if (from == level) {
        refuse_shared_cells(index, patches, level);
        continue;
      }
      const std::size_t at = std::min(level, from + 1);
      for (const IndexBox& own : patches.boxes[from]) {
        const IndexBox here = on_level(own, patches, plan, from, level);
        for (std::size_t i : boxes_touching(index, here)) {
          const IndexBox shared = *intersection(index.boxes[i], here, patches.dim);
          pieces.push_back(piece_of_others(on_level(shared, patches, plan, level, at), at, patches, plan));
        }
      }
    }
  }
}

/// Calls f(roots) for each row of the roots that a piece lies in.
template <class F>
void for_each_root_row(const DescendingBox& piece, const PatchTree& plan, F&& f) {
  for_each_row(piece.coarse, [&](const Index3& start, std::int64_t length) {
    const std::int64_t first = (start[2] * plan.roots[1] + start[1]) * plan.roots[0] + start[0];
    f(RootInterval{first, first + length});
  });
}

/// The roots that the pieces lie in: the tree holds no other.
RootIntervals roots_of(const std::vector<DescendingBox>& pieces, const PatchTree& plan) {
  RootIntervals rows;
  for (const DescendingBox& piece : pieces)
    for_each_root_row(piece, plan, [&](const RootInterval& row) { rows.push_back(row); });
  std::sort(rows.begin(), rows.end(), [](const RootInterval& a, const RootInterval& b) { return a.begin < b.begin; });
  return join(rows, {});
}

/// On level 0 a cell's index is its place among the held roots.
void place_on_roots(DescendingBox& piece, const RootIndex& roots, const PatchTree& plan) {
  piece.at.clear();
  for_each_root_row(piece, plan, [&](const RootInterval& row) {
    const auto first = static_cast<std::uint32_t>(*roots.find(row.begin));
    for (std::int64_t i = 0; i < row.end - row.begin; ++i) piece.at.push_back(first + static_cast<std::uint32_t>(i));
  });
}

/// From the indices at one tree level to those at the next: child c of the cell with family f is f * 2^dim + c.
void descend(DescendingBox& piece, const Indices& family_of, const PatchTree& plan, int level) {
  const auto dim = static_cast<std::size_t>(plan.dim);
  const IndexBox parent = piece.coarse;
  piece.coarse = coarsened(piece.cells, dim, plan.index[piece.level] - level);
  const auto nx = static_cast<std::size_t>(parent.hi[0] - parent.lo[0]);
  const auto ny = static_cast<std::size_t>(parent.hi[1] - parent.lo[1]);
  Indices at;
  at.reserve(static_cast<std::size_t>(num_cells(piece.coarse, plan.dim)));
  for_each_row(piece.coarse, [&](const Index3& start, std::int64_t length) {
    Index3 up = start;
    for (std::size_t axis = 0; axis < dim; ++axis) up[axis] >>= 1;
    const auto row =
        (static_cast<std::size_t>(up[2] - parent.lo[2]) * ny + static_cast<std::size_t>(up[1] - parent.lo[1])) * nx;
    const auto side =
        static_cast<std::uint32_t>((dim > 1 ? (start[1] & 1) << 1 : 0) | (dim > 2 ? (start[2] & 1) << 2 : 0));
    for (std::int64_t x = start[0]; x < start[0] + length; ++x) {
      const std::uint32_t family = family_of[piece.at[row + static_cast<std::size_t>((x >> 1) - parent.lo[0])]];
      at.push_back((family << dim) + side + static_cast<std::uint32_t>(x & 1));
    }
  });
  piece.at = std::move(at);
}

/// For each cell its number among the refined ones.
Indices families(const BitArray& refined) {
  Indices family(refined.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < refined.size(); ++i) {
    family[i] = next;
    if (refined[i]) ++next;
  }
  return family;
}

/// The tree, and in each piece the indices of its cells on its own level.
Growth grow(std::vector<DescendingBox>& pieces, const PatchTree& plan) {
  Growth growth;
  growth.tree.dim = plan.dim;
  growth.tree.roots = plan.roots;
  growth.tree.block = plan.block;
  RootIntervals roots = roots_of(pieces, plan);
  std::size_t cells = count_roots(roots);
  if (cells <= std::numeric_limits<std::uint32_t>::max())
    for (const RootIndex index(roots); DescendingBox & piece : pieces) place_on_roots(piece, index, plan);
  hold(growth.tree, std::move(roots));
  for (int level = 0; level == 0 || cells != 0; ++level) {
    if (cells > std::numeric_limits<std::uint32_t>::max())
      throw Error(Kind::unsupported, "a tree level of 2^32 cells or more: convert the patches in parts")
          .at("level index " + std::to_string(level));
    BitArray refined(cells), stored(cells), elsewhere(cells);
    for (const DescendingBox& piece : pieces)
      if (plan.index[piece.level] >= level) {
        BitArray& here = piece.own ? stored : elsewhere;
        for (std::uint32_t i : piece.at) (plan.index[piece.level] > level ? refined : here).set(i);
      }
    const Indices family_of = families(refined);
    for (DescendingBox& piece : pieces)
      if (plan.index[piece.level] > level) descend(piece, family_of, plan, level + 1);
    cells = refined.count() << plan.dim;
    growth.tree.refined.push_back(std::move(refined));
    growth.stored.push_back(std::move(stored));
    growth.elsewhere.push_back(std::move(elsewhere));
  }
  return growth;
}

/// From the finest level up: which cells have a value, stored or formed of all their children's.
void find_complete(Growth& growth) {
  const Octree& tree = growth.tree;
  const std::size_t family = family_size(tree);
  growth.complete = growth.stored;
  for (std::size_t level = tree.refined.size() - 1; level-- > 0;) {
    std::size_t child = 0;
    tree.refined[level].for_each_set([&](std::size_t i) {
      bool all = !growth.elsewhere[level][i];
      for (std::size_t c = 0; c < family; ++c) all = all && growth.complete[level + 1][child + c];
      child += family;
      if (all) growth.complete[level].set(i);
    });
  }
}

std::string place_of(const Octree& tree, std::size_t level, std::size_t cell) {
  std::vector<Coordinate> at = root_coordinates(tree);
  for (std::size_t l = 0; l < level; ++l) at = child_coordinates(tree, static_cast<int>(l), at);
  return "tree level index " + std::to_string(level) + ", cell " + to_string(at[cell], tree.dim);
}

/// A family of which some have a value below a cell that has one: that cell is refined in part only.
void refuse_partial_families(const Growth& growth, const PatchTree& plan) {
  constexpr std::size_t most_listed = 5;
  std::size_t found = 0;
  std::string list;
  std::vector<BitArray> covered = growth.stored;  // a value here or in a cell above
  const std::size_t family = family_size(growth.tree);
  for (std::size_t level = 0; level + 1 < growth.tree.refined.size(); ++level) {
    std::size_t child = 0;
    growth.tree.refined[level].for_each_set([&](std::size_t i) {
      for (std::size_t c = child; c < child + family; ++c) {
        // Others check the cells that they hold.
        if (!covered[level][i] || growth.elsewhere[level + 1][c]) continue;
        covered[level + 1].set(c);
        if (growth.stored[level + 1][c] || growth.tree.refined[level + 1][c]) continue;
        if (++found <= most_listed) list += (list.empty() ? "" : "; ") + place_of(growth.tree, level + 1, c);
      }
      child += family;
    });
  }
  if (found == 0) return;
  const bool blocks = plan.block != Index3{1, 1, 1};
  throw Error(Kind::unsupported, std::string("the refined region is not made of whole parent ") +
                                     (blocks ? "blocks" : "cells") + ": " + std::to_string(found) +
                                     (blocks ? " blocks" : " cells") + " beside finer patches have no value: " + list +
                                     (found > most_listed ? " ..." : ""));
}

void set_owned(Growth& growth, const PatchTree& plan) {
  for (std::size_t level = 0; level < growth.tree.refined.size(); ++level) {
    const bool formed_too = level >= static_cast<std::size_t>(plan.unfolded);
    growth.tree.owned.push_back(formed_too ? growth.complete[level] : growth.stored[level]);
  }
}

// ------------------------------------------------------------------------------------------------------------- values

template <class T>
void scatter(const DescendingBox& piece, const PatchTree& plan, const T* from, T* level_values) {
  if (plan.block == Index3{1, 1, 1}) {
    for (std::uint32_t i : piece.at) level_values[i] = *from++;
    return;
  }
  // The patch's cells, row by row, into the blocks they lie in.
  const Index3& b = plan.block;
  const auto bx = static_cast<std::size_t>(b[0]);
  const auto block = static_cast<std::size_t>(b[0] * b[1] * b[2]);
  const auto nx = static_cast<std::size_t>(piece.cells.hi[0] - piece.cells.lo[0]);
  const std::int64_t ny = piece.cells.hi[1] - piece.cells.lo[1], nz = piece.cells.hi[2] - piece.cells.lo[2];
  for (std::int64_t z = 0; z < nz * b[2]; ++z)
    for (std::int64_t y = 0; y < ny * b[1]; ++y) {
      const auto row = static_cast<std::size_t>(z / b[2] * ny + y / b[1]) * nx;
      const auto inside = static_cast<std::size_t>(z % b[2] * b[1] + y % b[1]) * bx;
      for (std::size_t i = 0; i < nx; ++i, from += bx)
        std::memcpy(level_values + piece.at[row + i] * block + inside, from, bx * sizeof(T));
    }
}

/// The values of a refined block: each the mean of the 2^dim finer cells that lie in it, or of those at its side.
template <class T>
void form_block(const Octree& tree, const Side& side, T* parent, const T* first_child) {
  const Index3& b = tree.block;
  const auto dim = static_cast<std::size_t>(tree.dim);
  const auto block = static_cast<std::int64_t>(block_size(tree));
  for_each_row({{0, 0, 0}, b}, [&](const Index3& start, std::int64_t length) {
    for (std::int64_t x = 0; x < length; ++x) {
      const Index3 at{2 * x, dim > 1 ? 2 * start[1] : 0, dim > 2 ? 2 * start[2] : 0};
      double sum = 0;
      for (std::int64_t c = 0; c < std::int64_t{1} << dim; ++c) {
        if (!touches_side(side, static_cast<std::size_t>(c))) continue;
        const Index3 fine{at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)};
        const std::int64_t child = fine[0] / b[0] + (fine[1] / b[1] << 1) + (fine[2] / b[2] << 2);
        sum += static_cast<double>(
            first_child[child * block + (fine[2] % b[2] * b[1] + fine[1] % b[1]) * b[0] + fine[0] % b[0]]);
      }
      *parent++ = static_cast<T>(sum / static_cast<double>(std::size_t{1} << dim >> std::popcount(side.axes)));
    }
  });
}

/// Means for refined cells without a stored value, from the finest level up.
template <class T>
void form_means(const Growth& growth, const std::vector<std::size_t>& offsets, const Side& side, T* values) {
  const Octree& tree = growth.tree;
  const std::size_t block = block_size(tree), family = family_size(tree);
  for (std::size_t level = tree.refined.size() - 1; level-- > 0;) {
    std::size_t child = offsets[level + 1];
    tree.refined[level].for_each_set([&](std::size_t i) {
      if (!growth.stored[level][i])
        form_block(tree, side, values + (offsets[level] + i) * block, values + child * block);
      child += family;
    });
  }
}

// With several contributors, only owned cells count.
bool needs_means(const Growth& growth, bool one_of_several) {
  for (std::size_t level = 0; level < growth.stored.size(); ++level) {
    const auto& refined = (one_of_several ? growth.tree.owned : growth.tree.refined)[level].words();
    const auto& stored = growth.stored[level].words();
    for (std::size_t w = 0; w < refined.size(); ++w)
      if ((refined[w] & ~stored[w]) != 0) return true;
  }
  return false;
}

void check_field(const FieldInfo& info, int dim) {
  if (!side_of(info, dim) || info.components != 1 || info.ghost != 0)
    throw Error(Kind::usage,
                "a field on patches must be of cells or of one side of them (_left, _right, _corner_0 ...), of one "
                "component and without ghost cells to go onto a tree")
        .at("field " + info.name);
}

template <class T>
Field field_on_tree(const Growth& growth, const PatchTree& plan, const std::vector<DescendingBox>& pieces,
                    const Field& from) {
  const auto offsets = level_offsets(growth.tree);
  const std::size_t block = block_size(growth.tree);
  Field to = make_field(from.info, offsets.back() * block);
  const std::span<const T> values = from.as<T>();
  T* out = to.as<T>().data();
  for (const DescendingBox& piece : pieces)
    if (piece.own)
      scatter(piece, plan, values.data() + piece.first,
              out + offsets[static_cast<std::size_t>(plan.index[piece.level])] * block);
  if constexpr (std::is_floating_point_v<T>) form_means(growth, offsets, *side_of(from.info, plan.dim), out);
  return to;
}

Field convert_field(const Growth& growth, const PatchTree& plan, const std::vector<DescendingBox>& pieces,
                    bool one_of_several, const Field& from) {
  return visit_values(from, [&]<class T>(std::span<const T>) {
    if (!std::is_floating_point_v<T> && needs_means(growth, one_of_several))
      throw Error(Kind::unsupported,
                  "the tree has refined cells for which the patches hold no value, and a mean of "
                  "integers is not formed")
          .at("field " + from.info.name);
    return field_on_tree<T>(growth, plan, pieces, from);
  });
}

}  // namespace

Part patches_to_octree(const Part& part, const PatchTree& tree) { return patches_to_octree(part, tree, {}); }

Part patches_to_octree(const Part& part, const PatchTree& tree, const Patches& others) {
  const auto& patches = std::get<Patches>(part.mesh);
  std::vector<DescendingBox> pieces = list_pieces(patches, tree);
  list_pieces_of_others(patches, others, tree, pieces);
  std::size_t expected = 0;
  for (const auto& boxes : patches.boxes)
    for (const IndexBox& box : boxes) expected += static_cast<std::size_t>(num_cells(box, patches.dim));
  for (const Field& field : part.fields) {
    check_field(field.info, patches.dim);
    if (field.size() != expected)
      throw Error(Kind::usage, "values of a field on patches: expected " + std::to_string(expected) + ", found " +
                                   std::to_string(field.size()))
          .at("field " + field.info.name);
  }
  Growth growth = grow(pieces, tree);
  refuse_partial_families(growth, tree);
  find_complete(growth);
  set_owned(growth, tree);
  Part out{.index = part.index, .mesh = growth.tree, .fields = {}, .particles = part.particles, .opaque = part.opaque};
  for (const Field& field : part.fields)
    out.fields.push_back(convert_field(growth, tree, pieces, !others.boxes.empty(), field));
  return out;
}

}  // namespace octavo::mesh
