#pragma once
#include <cstddef>
#include <vector>

#include "octavo/mesh/boxes.hpp"

namespace octavo::patches {

using mesh::Index3;
using mesh::IndexBox;

/// Several variables on a box of cells (or faces): variable slowest, then z, y; x fastest. Positions are those of the
/// level, so that arrays of different boxes are spoken to alike.
struct Values {
  IndexBox box;  ///< one cell wide along axes that are not used
  int variables = 1;
  std::vector<double> data;

  std::size_t stride_y() const { return static_cast<std::size_t>(box.hi[0] - box.lo[0]); }
  std::size_t stride_z() const { return stride_y() * static_cast<std::size_t>(box.hi[1] - box.lo[1]); }
  std::size_t cells() const { return stride_z() * static_cast<std::size_t>(box.hi[2] - box.lo[2]); }
  std::size_t offset(const Index3& at) const {
    return static_cast<std::size_t>(at[2] - box.lo[2]) * stride_z() +
           static_cast<std::size_t>(at[1] - box.lo[1]) * stride_y() + static_cast<std::size_t>(at[0] - box.lo[0]);
  }
  double* of(int variable) { return data.data() + static_cast<std::size_t>(variable) * cells(); }
  const double* of(int variable) const { return data.data() + static_cast<std::size_t>(variable) * cells(); }
  double& at(int variable, const Index3& cell) { return of(variable)[offset(cell)]; }
  double at(int variable, const Index3& cell) const { return of(variable)[offset(cell)]; }
};

/// Zeros.
inline Values make_values(const IndexBox& box, int variables) {
  Values values{box, variables, {}};
  values.data.assign(values.cells() * static_cast<std::size_t>(variables), 0.0);
  return values;
}

/// The box with `by` more cells on each side of the axes that are used.
inline IndexBox grown(IndexBox box, std::int64_t by, int dim) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    box.lo[axis] -= by;
    box.hi[axis] += by;
  }
  return box;
}
inline IndexBox shifted(IndexBox box, const Index3& by) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.lo[axis] += by[axis];
    box.hi[axis] += by[axis];
  }
  return box;
}

/// Calls f(cell) for each cell of a flat box, x fastest.
template <class F>
void for_each_cell(const IndexBox& box, F&& f) {
  mesh::for_each_row(box, [&](Index3 at, std::int64_t length) {
    for (const std::int64_t end = at[0] + length; at[0] < end; ++at[0]) f(at);
  });
}

/// The parts of `box` that lie in none of `holes`: disjoint boxes.
std::vector<IndexBox> without(const IndexBox& box, const std::vector<IndexBox>& holes, int dim);

/// The ways in which a domain of these extents is repeated: shifts by -1, 0 and 1 times the extent along each periodic
/// axis; only (0, 0, 0) where none is.
std::vector<Index3> periodic_shifts(const Index3& extent, const std::array<bool, 3>& periodic, int dim);

}  // namespace octavo::patches
