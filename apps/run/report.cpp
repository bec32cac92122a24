#include "apps/run/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/euler/riemann.hpp"

namespace octavo::run {

Probe sedov_probe(int dim, double time, double finest_width) {
  const auto bins = static_cast<std::size_t>(0.9 / finest_width);
  Probe probe;
  probe.sums = 2 * bins;
  probe.add = [=](const euler::Point3& at, double volume, const double* state, std::size_t, std::vector<double>& sums) {
    double distance2 = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      distance2 += (at[axis] - 0.5) * (at[axis] - 0.5);
    const std::size_t bin = std::min(bins - 1, static_cast<std::size_t>(std::sqrt(distance2) / finest_width));
    sums[bin] += volume;
    sums[bins + bin] += volume * state[0];
  };
  probe.finish = [=](const std::vector<double>& sums) {
    double peak = 1, radius = 0, outer = 1;
    for (std::size_t bin = 0; bin < bins; ++bin)
      if (sums[bin] > 0) peak = std::max(peak, sums[bins + bin] / sums[bin]);
    const double half = 0.5 * (1 + peak);
    for (std::size_t bin = bins; bin-- > 0;) {
      if (!(sums[bin] > 0)) continue;
      const double density = sums[bins + bin] / sums[bin];
      if (density >= half) {
        const double part = density > outer ? (density - half) / (density - outer) : 0.0;
        radius = (static_cast<double>(bin) + 0.5 + part) * finest_width;
        break;
      }
      outer = density;
    }
    return Numbers{{"shock_radius", radius}, {"exact_radius", euler::sedov_radius(dim, time)}};
  };
  return probe;
}

Probe sod_probe(const euler::Problem& problem, double time) {
  double volume_of_all = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.gas.dim); ++axis)
    volume_of_all *= problem.hi[axis] - problem.lo[axis];
  Probe probe;
  probe.sums = 1;
  probe.add = [=, gamma = problem.gas.gamma](const euler::Point3& at, double volume, const double* state, std::size_t,
                                             std::vector<double>& sums) {
    const auto exact = time > 0 ? euler::exact_riemann(euler::sod_left, euler::sod_right, gamma, (at[0] - 0.5) / time)
                                : (at[0] < 0.5 ? euler::sod_left : euler::sod_right);
    sums[0] += volume * std::abs(state[0] - exact.density) / volume_of_all;
  };
  probe.finish = [](const std::vector<double>& sums) { return Numbers{{"density_error", sums[0]}}; };
  return probe;
}

std::string to_json(const Numbers& numbers) {
  std::string text = "{";
  for (const auto& [name, value] : numbers) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    text += (text.size() > 1 ? ", \"" : "\"") + name + "\": " + (std::isfinite(value) ? buffer : "null");
  }
  return text + "}";
}

}  // namespace octavo::run
