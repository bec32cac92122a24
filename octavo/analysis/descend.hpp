#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::analysis {

/// Counts the set bits before ascending positions, in one pass over the words.
class RisingRank {
 public:
  explicit RisingRank(const std::vector<std::uint64_t>& words) : words_(words) {}
  /// @pre `at` is not below that of the last call.
  std::size_t before(std::size_t at) {
    for (; word_ < at / 64; ++word_) count_ += static_cast<std::size_t>(std::popcount(words_[word_]));
    const std::uint64_t below = at % 64 == 0 ? 0 : words_[word_] & ((std::uint64_t{1} << at % 64) - 1);
    return count_ + static_cast<std::size_t>(std::popcount(below));
  }

 private:
  const std::vector<std::uint64_t>& words_;
  std::size_t word_ = 0, count_ = 0;
};

/// Visits the tree cells that a selection takes (Selection has the rule of levels) and that are near something, coarse
/// levels first, and looks at no cell below one that is not near.
/// `bool near(int level, const mesh::Coordinate& at)`: asked of tree cells, `at` in tree cells of that level.
/// `void visit(int level, const mesh::Coordinate& at, std::size_t first_value)`: with the place of the first of the
/// cell's values in an array over all cells of the part.
template <class Near, class Visit>
void descend(const mesh::Octree& tree, const mesh::Header& header, int max_level, Near&& near, Visit&& visit) {
  struct KeptCell {
    std::size_t cell;
    mesh::Coordinate at;
  };
  std::vector<KeptCell> now, next;
  const auto roots = mesh::root_coordinates(tree);
  for (std::size_t i = 0; i < roots.size(); ++i)
    if (near(0, roots[i])) now.push_back({i, roots[i]});
  std::size_t first_cell = 0;
  const std::size_t block = mesh::block_size(tree);
  for (int l = 0; l < mesh::num_levels(tree) && !now.empty(); ++l) {
    const auto level = static_cast<std::size_t>(l);
    const int code_level = mesh::code_level(header, l);
    if (code_level > max_level) return;
    const bool last = code_level == max_level;
    RisingRank refined_before(tree.refined[level].words());
    next.clear();
    for (const KeptCell& kept : now) {
      const bool refined = tree.refined[level][kept.cell];
      if ((!refined || last) && tree.owned[level][kept.cell]) visit(l, kept.at, (first_cell + kept.cell) * block);
      if (!refined || last) continue;
      const std::size_t family = refined_before.before(kept.cell) << tree.dim;
      for (std::uint32_t c = 0; c < mesh::family_size(tree); ++c) {
        const mesh::Coordinate at{2 * kept.at[0] + (c & 1), 2 * kept.at[1] + ((c >> 1) & 1), 2 * kept.at[2] + (c >> 2)};
        if (near(l + 1, at)) next.push_back({family + c, at});
      }
    }
    now.swap(next);
    first_cell += mesh::num_cells(tree, l);
  }
}

/// The selected ones among the children of one cell, or a root: cells that stand together, in space and in arrays. Bit
/// c of `selected` is the cell at corner + (c & 1, c >> 1 & 1, c >> 2), whose value is at first_value + c.
struct SiblingCells {
  mesh::Coordinate corner;
  unsigned selected;
  std::size_t first_value;
};

/// Visits the cells that a selection of levels takes (Selection has the rule), of a tree without blocks: family by
/// family, so that a place is found once for all of its cells; some thousand families at a time, coarse levels first.
/// `void visit(int level, std::span<const SiblingCells>)`
template <class Visit>
void for_each_family(const mesh::Octree& tree, const mesh::Header& header, int max_level, Visit&& visit) {
  constexpr std::size_t batch_families = 4096;
  std::vector<mesh::Coordinate> corners = mesh::root_coordinates(tree), below;
  std::vector<SiblingCells> batch;
  batch.reserve(batch_families);
  std::size_t first_cell = 0;
  for (int level = 0; level < mesh::num_levels(tree) && mesh::code_level(header, level) <= max_level; ++level) {
    const std::size_t l = static_cast<std::size_t>(level), size = level == 0 ? 1 : std::size_t{1} << tree.dim;
    const std::uint64_t all = (std::uint64_t{1} << size) - 1;
    const auto &owned = tree.owned[l].words(), &refined = tree.refined[l].words();
    const bool deepest = mesh::code_level(header, level) == max_level;
    below.clear();
    for (std::size_t k = 0, cell = 0; k < corners.size(); ++k, cell += size) {
      // A family never crosses a word: its size divides 64.
      const std::uint64_t has = refined[cell / 64] >> cell % 64 & all, own = owned[cell / 64] >> cell % 64 & all;
      const auto selected = static_cast<unsigned>(deepest ? own : own & ~has);
      const mesh::Coordinate& at = corners[k];
      if (selected != 0) batch.push_back({at, selected, first_cell + cell});
      for (std::uint64_t rest = deepest ? 0 : has; rest != 0; rest &= rest - 1) {
        const auto c = static_cast<std::uint32_t>(std::countr_zero(rest));
        below.push_back({2 * (at[0] + (c & 1)), 2 * (at[1] + (c >> 1 & 1)), 2 * (at[2] + (c >> 2))});
      }
      if (batch.size() < batch_families) continue;
      visit(level, std::span<const SiblingCells>(batch));
      batch.clear();
    }
    if (!batch.empty()) visit(level, std::span<const SiblingCells>(batch));
    batch.clear();
    first_cell += mesh::num_cells(tree, level);
    corners.swap(below);
  }
}

}  // namespace octavo::analysis
