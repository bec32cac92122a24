#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "octavo/mesh/boxes.hpp"

namespace octavo::mesh {

/// Which of many boxes of one level meet a given one, without looking at all of them: boxes are kept by the cubes of
/// 2^bits cells that they reach into.
struct BoxIndex {
  int dim = 3;
  int bits = 0;
  std::vector<IndexBox> boxes;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> cubes;
};

/// Cubes are about as large as the boxes. Boxes must not be empty; positions up to 2^40 or so are told apart well.
BoxIndex index_boxes(const std::vector<IndexBox>& boxes, int dim);

/// The boxes that share a cell with `box`, ascending.
std::vector<std::size_t> boxes_touching(const BoxIndex& index, const IndexBox& box);
/// Calls f(number of the box, its intersection with `box`) for each of them.
template <class F>
void for_each_touching(const BoxIndex& index, const IndexBox& box, F&& f) {
  for (const std::size_t i : boxes_touching(index, box)) f(i, *intersection(index.boxes[i], box, index.dim));
}

}  // namespace octavo::mesh
