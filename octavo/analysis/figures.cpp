#include <algorithm>
#include <cmath>
#include <limits>

#include "octavo/analysis/compare.hpp"

namespace octavo::analysis {
namespace {

/// The three sums of norms, of one side, with the values that are equal on both.
struct NormSums {
  Sum sum, absolute, square;
};

NormSums sums_of(const PairSums& pairs, std::size_t side) {
  NormSums out{pairs.same.sum, pairs.same.absolute, pairs.same.square};
  out.sum.add(pairs.side[side].sum);
  out.absolute.add(pairs.side[side].absolute);
  out.square.add(pairs.side[side].square);
  return out;
}

// The rounding error of the product is kept too.
Sum scaled(const Sum& sum, double factor) {
  const double product = sum.high * factor;
  return {product, std::fma(sum.high, factor, -product) + sum.low * factor};
}

double weighted(const std::vector<Sum>& sums, const std::vector<double>& weights) {
  Sum total;
  for (std::size_t d = 0; d < sums.size(); ++d) total.add(scaled(sums[d], weights[d]));
  return total.value();
}

SideFigures side_figures(const PairSums& all, std::size_t side) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const SideSums &own = all.side[side], &same = all.same;
  SideFigures out;
  const bool any = own.finite + same.finite > 0;
  out.min = any ? std::min(own.min, same.min) : none;
  out.max = any ? std::max(own.max, same.max) : none;
  out.nan = own.nan;
  out.inf = own.inf;
  return out;
}

double largest_size(const SideFigures& side) {
  return std::isnan(side.min) ? 0 : std::max(std::fabs(side.min), std::fabs(side.max));
}

/// The sums of one kind at every depth: of the difference, of a, of b.
using SumOf = Sum (*)(const PairSums&, int which);

Sum first_power(const PairSums& pairs, int which) {
  return which == 0 ? pairs.difference : sums_of(pairs, static_cast<std::size_t>(which - 1)).absolute;
}
Sum second_power(const PairSums& pairs, int which) {
  return which == 0 ? pairs.square : sums_of(pairs, static_cast<std::size_t>(which - 1)).square;
}
Sum plain(const PairSums& pairs, int which) { return sums_of(pairs, static_cast<std::size_t>(which - 1)).sum; }

double total(const std::vector<PairSums>& depths, const std::vector<double>& weights, SumOf kind, int which) {
  std::vector<Sum> sums;
  for (const PairSums& pairs : depths) sums.push_back(kind(pairs, which));
  return weighted(sums, weights);
}

Norm norm(const std::vector<PairSums>& depths, const std::vector<double>& weights, SumOf kind) {
  return {total(depths, weights, kind, 0), total(depths, weights, kind, 1), total(depths, weights, kind, 2)};
}

Norm root(const Norm& norm) { return {std::sqrt(norm.difference), std::sqrt(norm.a), std::sqrt(norm.b)}; }

}  // namespace

Figures figures_of(const std::vector<PairSums>& depths, const std::vector<double>& volumes) {
  PairSums all;
  for (const PairSums& pairs : depths) add(all, pairs);
  Figures out;
  out.cells = all.cells;
  out.differing = all.differing;
  out.mismatches = all.mismatches;
  if (all.differing > all.mismatches) {
    out.largest = all.largest;
    out.largest_relative = all.relative;
    out.absolute = all.largest.value;
    out.relative = all.relative.value;
  }
  if (all.mismatches > 0) out.mismatch = all.mismatch;
  const std::vector<double> ones(depths.size(), 1.0);
  for (std::size_t side = 0; side < 2; ++side) {
    out.side[side] = side_figures(all, side);
    out.side[side].sum = total(depths, ones, &plain, static_cast<int>(side) + 1);
    out.side[side].integral = total(depths, volumes, &plain, static_cast<int>(side) + 1);
  }
  out.linf = {out.absolute, largest_size(out.side[0]), largest_size(out.side[1])};
  out.magnitude = out.absolute / std::max({out.linf.a, out.linf.b, 1e-99});
  out.l1 = norm(depths, ones, &first_power);
  out.l2 = root(norm(depths, ones, &second_power));
  out.l1_volume = norm(depths, volumes, &first_power);
  out.l2_volume = root(norm(depths, volumes, &second_power));
  return out;
}

}  // namespace octavo::analysis
