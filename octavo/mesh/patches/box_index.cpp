#include "octavo/mesh/patches/box_index.hpp"

#include <algorithm>
#include <bit>

namespace octavo::mesh {
namespace {

std::uint64_t key_of(const Index3& cube) {
  std::uint64_t key = 0;
  for (std::int64_t i : cube) key = key * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(i);
  return key;
}

template <class F>
void for_each_cube(const BoxIndex& index, const IndexBox& box, F&& f) {
  for_each_row(coarsened_box(box, std::int64_t{1} << index.bits, index.dim), [&](const Index3& at, std::int64_t n) {
    for (std::int64_t x = 0; x < n; ++x) f(key_of({at[0] + x, at[1], at[2]}));
  });
}

// The average longest edge.
std::int64_t typical_edge(const std::vector<IndexBox>& boxes, int dim) {
  double sum = 0;
  for (const IndexBox& box : boxes) {
    std::int64_t longest = 1;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      longest = std::max(longest, box.hi[axis] - box.lo[axis]);
    sum += static_cast<double>(longest);
  }
  return boxes.empty() ? 1 : static_cast<std::int64_t>(sum / static_cast<double>(boxes.size()));
}

}  // namespace

BoxIndex index_boxes(const std::vector<IndexBox>& boxes, int dim) {
  BoxIndex index{.dim = dim, .bits = 0, .boxes = boxes, .cubes = {}};
  index.bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(typical_edge(boxes, dim))));
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for_each_cube(index, boxes[i], [&](std::uint64_t key) {
      auto& cube = index.cubes[key];
      if (cube.empty() || cube.back() != i) cube.push_back(static_cast<std::uint32_t>(i));
    });
  return index;
}

std::vector<std::size_t> boxes_touching(const BoxIndex& index, const IndexBox& box) {
  std::vector<std::size_t> found;
  const auto add = [&](std::size_t i) {
    if (intersection(index.boxes[i], box, index.dim)) found.push_back(i);
  };
  const IndexBox cubes = coarsened_box(box, std::int64_t{1} << index.bits, index.dim);
  // A large box is cheaper to hold against all.
  if (num_cells(cubes, index.dim) > static_cast<std::int64_t>(index.boxes.size())) {
    for (std::size_t i = 0; i < index.boxes.size(); ++i) add(i);
    return found;
  }
  for_each_cube(index, box, [&](std::uint64_t key) {
    const auto cube = index.cubes.find(key);
    if (cube != index.cubes.end())
      for (std::uint32_t i : cube->second) add(i);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace octavo::mesh
