#include "apps/patches/interpolate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace octavo::patches {
namespace {

// One coarse cell: its variables and a quarter of each slope.
struct Profile {
  std::size_t variables = 0;
  std::vector<double> mean;
  std::vector<std::array<double, 3>> quarter;
};

void find_profile(const Values& coarse, const Index3& cell, int dim, Profile& profile) {
  const std::array<std::size_t, 3> stride{1, coarse.stride_y(), coarse.stride_z()};
  for (std::size_t v = 0; v < profile.variables; ++v) {
    const double* here = coarse.of(static_cast<int>(v)) + coarse.offset(cell);
    profile.mean[v] = *here;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      profile.quarter[v][axis] = 0.25 * limited(*here - *(here - stride[axis]), *(here + stride[axis]) - *here);
  }
}

// The child's bits say on which side of the middle it is.
double child_value(const Profile& profile, std::size_t v, unsigned child, int dim) {
  double value = profile.mean[v];
  for (unsigned axis = 0; axis < static_cast<unsigned>(dim); ++axis)
    value += (child >> axis & 1U) != 0 ? profile.quarter[v][axis] : -profile.quarter[v][axis];
  return value;
}

void flatten_if_needed(Profile& profile, int dim, const Admissible& admissible) {
  std::vector<double> state(profile.variables);
  for (unsigned child = 0; child < 1U << dim; ++child) {
    for (std::size_t v = 0; v < profile.variables; ++v) state[v] = child_value(profile, v, child, dim);
    if (admissible(state.data(), 1)) continue;
    std::fill(profile.quarter.begin(), profile.quarter.end(), std::array<double, 3>{});
    return;
  }
}

Index3 child_at(const Index3& cell, unsigned child, int dim) {
  Index3 at = cell;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    at[axis] = 2 * cell[axis] + static_cast<std::int64_t>(child >> axis & 1U);
  return at;
}

bool inside(const IndexBox& box, const Index3& at) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (at[axis] < box.lo[axis] || at[axis] >= box.hi[axis]) return false;
  return true;
}

}  // namespace

void interpolate(const Values& coarse, const IndexBox& region, int dim, const Admissible& admissible, Values& fine) {
  Profile profile{static_cast<std::size_t>(coarse.variables), {}, {}};
  profile.mean.resize(profile.variables);
  profile.quarter.resize(profile.variables);
  for_each_cell(coarsened_box(region, 2, dim), [&](const Index3& cell) {
    find_profile(coarse, cell, dim, profile);
    if (admissible) flatten_if_needed(profile, dim, admissible);
    for (unsigned child = 0; child < 1U << dim; ++child) {
      const Index3 at = child_at(cell, child, dim);
      if (!inside(region, at)) continue;
      for (std::size_t v = 0; v < profile.variables; ++v)
        fine.at(static_cast<int>(v), at) = child_value(profile, v, child, dim);
    }
  });
}

void take_means(const Values& fine, const IndexBox& region, int dim, Values& coarse) {
  const double share = 1.0 / static_cast<double>(1U << dim);
  for (int v = 0; v < coarse.variables; ++v)
    for_each_cell(region, [&](const Index3& cell) {
      double sum = 0;
      for (unsigned child = 0; child < 1U << dim; ++child) sum += fine.at(v, child_at(cell, child, dim));
      coarse.at(v, cell) = sum * share;
    });
}

}  // namespace octavo::patches
