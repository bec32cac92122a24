#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/euler/problems.hpp"

namespace octavo::run {

using Numbers = std::vector<std::pair<std::string, double>>;

/// Sums over all cells that no finer one covers, added over ranks. The end of a run is compared with them. They are
/// only reported, so that the state does not depend on their rounding.
struct Probe {
  std::size_t sums = 0;
  /// One cell: its centre, its volume, and its state, `stride` apart.
  std::function<void(const euler::Point3& at, double volume, const double* state, std::size_t stride,
                     std::vector<double>& sums)>
      add{};
  std::function<Numbers(const std::vector<double>& sums)> finish{};
};
/// "shock_radius", where the density averaged over angles falls through half its jump, and "exact_radius".
Probe sedov_probe(int dim, double time, double finest_width);
/// "density_error": the mean over the volume of |density - exact|.
Probe sod_probe(const euler::Problem& problem, double time);

/// {"name": value, ...}, with 17 digits.
std::string to_json(const Numbers& numbers);

}  // namespace octavo::run
