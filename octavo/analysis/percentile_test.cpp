#include "octavo/analysis/percentile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace octavo::analysis {
namespace {

BinPlan one_bin() {
  BinPlan plan;
  plan.fields = {"value"};
  return plan;
}

Samples samples_with(std::vector<double> values, std::vector<double> weights) {
  Samples samples;
  samples.count = values.size();
  samples.fields = {std::move(values)};
  samples.weight = std::move(weights);
  return samples;
}

/// The search by pieces alone, as in steps too large to sort.
std::vector<double> by_pieces(const Samples& samples, const std::vector<double>& percentages, int& passes) {
  const BinPlan plan = one_bin();
  PartialBins sums = empty_bins(plan);
  add_samples(samples, plan, sums);
  PercentileSearch search = begin_search(sums, percentages);
  do {
    EXPECT_LE(search.pieces, most_pieces(percentages.size()));
    PieceSums pieces = empty_pieces(search);
    add_samples(samples, plan, search, pieces);
    narrow(search, pieces);
    ++passes;
  } while (open_cells(search) > 0 && passes < 20);
  std::vector<double> found;
  for (const auto& bins : percentiles_of(search, 0)) found.push_back(bins[0]);
  return found;
}

std::vector<double> by_sorting(const Samples& samples, const std::vector<double>& percentages) {
  std::vector<std::pair<double, double>> cells;
  double total = 0;
  for (std::size_t k = 0; k < samples.count; ++k) {
    cells.emplace_back(samples.fields[0][k], samples.weight[k]);
    total += samples.weight[k];
  }
  std::sort(cells.begin(), cells.end());
  std::vector<double> found;
  for (const double percentage : percentages) {
    double sum = 0;
    for (const auto& cell : cells) {
      sum += cell.second;
      if (cell.second > 0 && sum >= total * percentage / 100) {
        found.push_back(cell.first);
        break;
      }
    }
  }
  return found;
}

TEST(Percentile, passes_over_pieces_alone_find_the_cell_that_sorting_finds) {
  std::mt19937_64 random(7);
  const std::vector<double> percentages{0, 10, 50, 50.5, 99, 100};
  for (int run = 0; run < 40; ++run) {
    std::vector<double> values, weights;
    for (int k = 0; k < 500; ++k) {
      // From neighbours in the last bit to both ends of the range.
      const double near = 1 + static_cast<double>(random() % 64) * 0x1p-52;
      const double far = std::ldexp(1.0, static_cast<int>(random() % 2000) - 1000);
      const double value = run % 3 == 0 ? near : run % 3 == 1 ? far : (random() % 3 == 0 ? near : far);
      values.push_back(random() % 2 == 0 && run % 2 == 1 ? -value : value);
      weights.push_back(static_cast<double>(random() % 4));
    }
    const Samples samples = samples_with(values, weights);
    int passes = 0;
    EXPECT_EQ(by_pieces(samples, percentages, passes), by_sorting(samples, percentages));
    EXPECT_LE(passes, 5);
  }
}

TEST(Percentile, the_ends_of_the_range_and_one_value) {
  constexpr double most = std::numeric_limits<double>::max();
  int passes = 0;
  const std::vector<double> ends{-most, most};
  EXPECT_EQ(by_pieces(samples_with({most, -most}, {1, 1}), {0, 100}, passes), ends);
  passes = 0;
  EXPECT_EQ(by_pieces(samples_with({-0.0, 0.0}, {1, 1}), {0, 100}, passes), (std::vector<double>{0, 0}));
  EXPECT_EQ(passes, 1);
}

}  // namespace
}  // namespace octavo::analysis
