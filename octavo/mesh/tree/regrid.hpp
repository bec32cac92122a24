#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/fill.hpp"

namespace octavo::mesh {

/// How far neighbouring tree cells may differ: by one level over faces, or over faces, edges and corners.
enum class Balance : std::uint8_t { none, faces, corners };

struct RegridOptions {
  Index3 block{1, 1, 1};  ///< of the new tree; 1 beyond dim
  int first = 0;          ///< source tree level index from which on all cells have values: Header::unfolded
  /// The level of cells that the new roots hold at the coarsest, as a source tree level index. May be above `first`
  /// (and negative): values there are means.
  int root = 0;
  bool fill = false;  ///< values that the source does not hold may be made
  FillBy by = FillBy::linear;
  Balance balance = Balance::none;
  std::array<bool, 3> periodic{};
  std::array<double, 3> edge{1, 1, 1};  ///< of a cell, times any factor: for fields of faces
  Specific specific{};                  ///< fields that are weighted by the density: see fill.hpp
};

/// The same hierarchy of cells in another tree: other blocks, or none.
struct Regrid {
  Octree tree;                     ///< whole, every cell owned
  int shift = 0;                   ///< new tree level index j has the cells of source tree level index j + shift
  int first = 0;                   ///< as asked
  std::int64_t means = 0;          ///< cells that get the mean of finer ones: those of levels above `first`
  std::int64_t fills = 0;          ///< cells that the source does not hold: they get it from the cell they lie in
  std::int64_t blocks_filled = 0;  ///< tree cells with such cells
  FillOptions fill;                ///< how those get their values
};

/// The coarsest level with leaves, as a tree level index; 0 if there are holes in the domain, where no cell is.
int coarsest_leaf(const Octree& tree);

/// Plans the tree of `block`s with the cells of `source`, a whole tree: the new one refines what the source refines. At
/// the roots it holds the coarsest level from `root` on whose cells divide into blocks. Memory: the bits of the new
/// tree, and some 100 bytes for each cell that it refines.
///
/// Where a block has cells that the source does not hold on its level (the source refines a part of the block above),
/// or where neighbours differ by more levels than `balance` allows, Error(unsupported) says how many and lists the
/// first; with `fill` the blocks are completed, and unbalanced cells are refined. The cell that is refined so keeps
/// its value, which is the mean of its children's (fill.hpp): sums and means stay the same.
/// Error(unsupported) also where no level of the source divides into blocks.
Regrid plan_regrid(const Octree& source, const RegridOptions& options);

// ------------------------------------------------------------------------------ a piece of the domain, balance aside

/// The plan as far as no cell has to be known: of `source` only dim, roots and block count. Its tree has no levels.
Regrid plan_roots(const Octree& source, const RegridOptions& options);

/// Calls f(level, position) for each block of the new tree of which a source cell tells something: blocks that have
/// some of its cells; if it is refined, their children, which therefore exist; and if it is a leaf coarser than the new
/// roots' cells, the roots in it. `cell` has those of a walk: level, position, and whether it is refined.
/// A block is in the new tree, or refined there, just if one of the source's cells tells so.
struct SourceCell {
  int level = 0;
  Coordinate at{};
  bool refined = false;
};
template <class F>
void for_each_block_told(const Regrid& plan, const Octree& source, const SourceCell& cell, F&& f);

/// The new tree as the cells of `source` tell of it, which are some of the step's, owned or not, and what closes them.
/// It holds only roots that have some of them, and owns nothing.
Octree tree_told(const Regrid& plan, const Octree& source);

/// Cells that the owned blocks of the plan's tree have and the source does not hold on their level.
struct MissingCells {
  std::int64_t cells = 0, blocks = 0;
  std::string first;  ///< where the first ones are
};
/// @pre `source` has all of the step's cells that lie in those blocks
MissingCells find_missing(const Octree& source, const Regrid& plan);
/// Throws the error of plan_regrid without `fill`.
[[noreturn]] void refuse_missing(const MissingCells& missing, const Octree& tree);

/// Whether an owned cell of the source gives values to a piece of the new tree.
bool gives_to(const Octree& source, const Regrid& plan, const Octree& tree);

// ------------------------------------------------------------------------------------------------------------- values

/// Puts the values of a source part's owned cells to their places on a piece of the new tree (`tree` and `fields`: of
/// the same roots and block as the plan's, any extract of it), which no other part of the source touches. `known`: a
/// bit a value of a field, set where there is one now.
/// Leaves that are coarser than the new roots' cells give their value to all of them that lie inside.
/// Fields are cell-centred or of faces, of one component and without ghost cells: Error(usage).
void scatter(const Part& source, const Regrid& plan, const Octree& tree, std::vector<Field>& fields,
             base::BitArray& known);
/// The same of a tree whose values these are.
void scatter(const Octree& from, const std::vector<Field>& values, const Regrid& plan, const Octree& tree,
             std::vector<Field>& fields, base::BitArray& known);

/// Fills the cells that scatter left out. Cells on levels above `first` get the mean of the 2^dim cells below them
/// (summed in double precision, in their order), others get values from the cell above them and its neighbours:
/// fill_down and form_means. A piece of the new tree must hold these cells: see cells_to_complete.
void complete(const Regrid& plan, const Octree& tree, std::vector<Field>& fields, const base::BitArray& known);

/// The cells of the new tree of which complete() needs values to make those of `owned` (bits as those of `tree`, the
/// plan's or its upper levels): these, what lies above, and the neighbours of that. Not for fields of faces and not for
/// means, which want the whole tree.
std::vector<base::BitArray> cells_to_complete(const Regrid& plan, const Octree& tree,
                                              const std::vector<base::BitArray>& owned);

/// Cells of a tree, tree cells times the block, in a cell's position on the level of its cells.
inline IndexBox cells_of(const Octree& tree, const Coordinate& at) {
  IndexBox box{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    box.lo[axis] = std::int64_t{at[axis]} * tree.block[axis];
    box.hi[axis] = box.lo[axis] + tree.block[axis];
  }
  return box;
}

/// The tree cells of `tree`'s shape (block) that share something with a box of cells.
IndexBox blocks_touching(const Octree& tree, const IndexBox& cells);

// ------------------------------------------------------------------------------------------------------------ template

template <class F>
void for_each_block_told(const Regrid& plan, const Octree& source, const SourceCell& cell, F&& f) {
  const int finer = std::max(0, plan.shift - cell.level), level = std::max(0, cell.level - plan.shift);
  if (cell.level < plan.first || (finer > 0 && cell.refined)) return;
  const IndexBox cells = flat(refined_box(cells_of(source, cell.at), std::int64_t{1} << finer, source.dim), source.dim);
  for_each_row(blocks_touching(plan.tree, cells), [&](const Index3& row, std::int64_t n) {
    for (std::int64_t x = 0; x < n; ++x) {
      const Index3 at{row[0] + x, row[1], row[2]};
      f(level, at);
      if (!cell.refined) continue;
      for (std::size_t c = 0; c < family_size(source); ++c) {
        Index3 child{0, 0, 0};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(source.dim); ++axis)
          child[axis] = 2 * at[axis] + static_cast<std::int64_t>(c >> axis & 1);
        f(level + 1, child);
      }
    }
  });
}

}  // namespace octavo::mesh
