#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
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
  struct Kept {
    std::size_t cell;
    mesh::Coordinate at;
  };
  std::vector<Kept> now, next;
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
    for (const Kept& kept : now) {
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

}  // namespace octavo::analysis
