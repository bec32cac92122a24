#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "octavo/mesh/patches.hpp"

namespace octavo::mesh {

/// Cells of a box. @pre it is not empty, and they fit 63 bits (cells of boxes read from files are checked there)
inline std::int64_t num_cells(const IndexBox& box, int dim) {
  std::int64_t n = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) n *= box.hi[axis] - box.lo[axis];
  return n;
}

/// Whether a box holds a cell of its level.
inline bool holds(const IndexBox& box, const Index3& at, int dim) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (at[axis] < box.lo[axis] || at[axis] >= box.hi[axis]) return false;
  return true;
}
/// The smallest box around all boxes. @pre there is at least one
IndexBox around(const std::vector<IndexBox>& boxes);
/// The cells that both boxes hold; nothing if there are none.
std::optional<IndexBox> intersection(const IndexBox& a, const IndexBox& b, int dim);
/// A box of cells of one level in cells `ratio` times as fine.
IndexBox refined_box(const IndexBox& box, std::int64_t ratio, int dim);
/// The cells, `ratio` times as coarse, that share something with the box.
IndexBox coarsened_box(const IndexBox& box, std::int64_t ratio, int dim);

/// "[0,0 to 16,8)" and "16x8", for messages.
std::string describe(const IndexBox& box, int dim);
std::string describe_extent(const Index3& extent, int dim);

/// Calls f(first cell, length) for each row of a box along x, y next, z slowest. In 1-D and 2-D the unused axes of the
/// box must be one cell wide.
template <class F>
void for_each_row(const IndexBox& box, F&& f) {
  for (std::int64_t z = box.lo[2]; z < box.hi[2]; ++z)
    for (std::int64_t y = box.lo[1]; y < box.hi[1]; ++y) f(Index3{box.lo[0], y, z}, box.hi[0] - box.lo[0]);
}

/// The box with one cell along axes that are not used, as for_each_row wants it.
inline IndexBox flat(IndexBox box, int dim) {
  for (std::size_t axis = static_cast<std::size_t>(dim); axis < 3; ++axis) {
    box.lo[axis] = 0;
    box.hi[axis] = 1;
  }
  return box;
}

}  // namespace octavo::mesh
