#include "octavo/store/level_boxes.hpp"

namespace octavo::store {

namespace {

/// Positions of the refined cells of a level whose families stand at `families`: those of the next level's families.
std::vector<mesh::Coordinate> refined_cells(const mesh::Octree& tree, std::size_t level,
                                            const std::vector<mesh::Coordinate>& families) {
  std::vector<mesh::Coordinate> cells;
  cells.reserve(tree.refined[level].count());
  tree.refined[level].for_each_set([&](std::size_t cell) {
    mesh::Coordinate at = families[level == 0 ? cell : cell >> tree.dim];
    for (std::size_t axis = 0; level > 0 && axis < static_cast<std::size_t>(tree.dim); ++axis)
      at[axis] = 2 * at[axis] + static_cast<std::uint32_t>(cell >> axis & 1);
    cells.push_back(at);
  });
  return cells;
}

}  // namespace

codec::Boxes LevelBoxes::of(std::size_t level, std::size_t width) {
  const bool blocks = block_size(*tree_) != 1;
  if (width % block_size(*tree_) != 0) return {};
  if (at_.empty()) at_.push_back(root_coordinates(*tree_));
  while (at_.size() <= level)
    at_.push_back(blocks ? child_coordinates(*tree_, static_cast<int>(at_.size()) - 1, at_.back())
                         : refined_cells(*tree_, at_.size() - 1, at_.back()));
  codec::Boxes boxes;
  boxes.at = at_[level];
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree_->dim); ++axis)
    boxes.shape[axis] = blocks ? static_cast<std::uint32_t>(tree_->block[axis]) : level == 0 ? 1 : 2;
  return boxes;
}

}  // namespace octavo::store
