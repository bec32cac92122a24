#pragma once
#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/patches/values.hpp"

namespace octavo::patches {

/// The slope of a cell whose differences from its neighbours are these: monotonized central differences.
inline double limited(double below, double above) {
  if (below * above <= 0) return 0;
  const double size = std::min({2 * std::abs(below), 2 * std::abs(above), 0.5 * std::abs(below + above)});
  return below > 0 ? size : -size;
}

/// Whether a cell's variables, `stride` apart, are a state that the solver can go on with.
using Admissible = std::function<bool(const double* first, std::size_t stride)>;

/// Fine cells from coarse ones, ratio 2: the coarse value and a slope along each axis, limited by monotonized central
/// differences, so that the mean over a coarse cell is its value (to rounding) and linear fields come out exactly.
/// Where a fine cell of a coarse one would not be `admissible`, all of that one's take its value.
/// `coarse` has the cells under `region` and one more around them; the result does not depend on how regions are cut.
void interpolate(const Values& coarse, const IndexBox& region, int dim, const Admissible& admissible, Values& fine);

/// Means of the fine cells in the coarse cells of `region`.
void take_means(const Values& fine, const IndexBox& region, int dim, Values& coarse);

}  // namespace octavo::patches
