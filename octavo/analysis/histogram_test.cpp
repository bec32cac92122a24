#include "octavo/analysis/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "octavo/analysis/cells.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::analysis {
namespace {

mesh::Header binned_header(const mesh::Octree& tree) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.periodic = {true, false, true};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
    header.hi[axis] = static_cast<double>(tree.roots[axis]);
  for (const char* name : {"density", "v"}) {
    mesh::FieldInfo info;
    info.name = name;
    header.fields.push_back(info);
  }
  return header;
}

mesh::Part binned_part(const mesh::Octree& tree, std::uint64_t seed) {
  mesh::Part part;
  part.mesh = tree;
  part.fields = {testing::smooth_field(tree, "density", seed), testing::smooth_field(tree, "v", seed + 7)};
  for (double& x : part.fields[0].as<double>()) x = std::exp(x);
  return part;
}

/// The bin by the definition: compare with every edge.
std::size_t bin_by_edges(double x, const std::vector<double>& edges) {
  if (x == edges.back()) return edges.size() - 2;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    if (edges[i] <= x && x < edges[i + 1]) return i;
  return edges.size();
}

TEST(Histogram, edges_are_equally_spaced_and_end_exactly) {
  EXPECT_EQ(bin_edges(-1, 1, 4, false), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  const auto decades = bin_edges(0.1, 1000, 4, true);
  EXPECT_EQ(decades.front(), 0.1);
  EXPECT_EQ(decades.back(), 1000);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(decades[i] / decades[i - 1], 10, 1e-13);
}

TEST(Histogram, bad_limits_are_refused) {
  const double nan = std::nan(""), inf = INFINITY;
  EXPECT_THROW(bin_edges(1, 1, 4, false), base::Error);
  EXPECT_THROW(bin_edges(nan, 1, 4, false), base::Error);
  EXPECT_THROW(bin_edges(0, inf, 4, false), base::Error);
  EXPECT_THROW(bin_edges(0, 1, 4, true), base::Error);
  EXPECT_THROW(bin_edges(0, 1, 0, false), base::Error);
  EXPECT_THROW(bin_edges(0, 1, 65537, false), base::Error);
  EXPECT_THROW(bin_edges(1, std::nextafter(1.0, 2.0), 2, false), base::Error);
}

TEST(Histogram, a_value_is_in_the_bin_whose_edges_hold_it) {
  testing::Random random(5);
  for (const bool log : {false, true}) {
    BinPlan plan;
    plan.axes = {{"x", bin_edges(log ? 1e-9 : -3, 7e11, 1000, log), log}};
    Samples samples;
    samples.axes.emplace_back(plan.axes[0].edges);
    for (const double edge : plan.axes[0].edges) {
      samples.axes[0].push_back(std::nextafter(edge, -INFINITY));
      samples.axes[0].push_back(std::nextafter(edge, INFINITY));
      samples.axes[0].push_back(edge * random.uniform());
    }
    samples.axes[0].insert(samples.axes[0].end(), {0.0, -1e300, 1e300, 5e-324, INFINITY, std::nan("")});
    samples.count = samples.axes[0].size();
    PartialBins found = empty_bins(plan);
    add_samples(samples, plan, found);
    std::vector<std::int64_t> expected(1002);
    for (const double x : samples.axes[0]) ++expected[bin_by_edges(x, plan.axes[0].edges)];
    std::int64_t inside = 0;
    for (std::size_t b = 0; b < 1000; ++b) {
      EXPECT_EQ(found.bins[b].cells, expected[b]) << b;
      inside += found.bins[b].cells;
    }
    EXPECT_EQ(found.nan.cells, 1);
    EXPECT_EQ(inside + found.beyond.cells + 1, std::ssize(samples.axes[0]));
  }
}

/// All sums by their definitions, over cells that cell_arrays lists.
TEST(Histogram, sums_of_cells_are_those_of_the_definition) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const mesh::Octree tree = testing::random_octree(seed, {.block = {1, 1, 1}});
    const mesh::Header header = binned_header(tree);
    const mesh::Part part = binned_part(tree, seed);
    const Selection selection;
    const CellArrays cells = cell_arrays(part, header, selection, {"density", "v"});
    const std::span<const double> density = cells.fields[0].as<double>(), v = cells.fields[1].as<double>();
    BinPlan plan;
    plan.axes = {{"density", bin_edges(0.5, 3, 7, true), true},
                 {Distance{Distance::Kind::radius, {0.1, 0, 0}, {}}, bin_edges(0, 2, 5, false), false}};
    plan.weight = {"density", true};
    plan.fields = {"v"};
    const PartialBins found = bin_cells(part, header, selection, plan);
    std::vector<long double> weight(35), sum(35), square(35);
    std::vector<std::int64_t> count(35);
    long double all = 0;
    for (std::size_t k = 0; k < cells.level.size(); ++k) {
      const double w = density[k] * std::pow(cells.dx[k], header.dim);
      all += w;
      const std::array<double, 3> at{cells.x[k] - 0.1, header.dim > 1 ? cells.y[k] : 0,
                                     header.dim > 2 ? cells.z[k] : 0};
      double r = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double period = header.hi[a];
        const double d = header.periodic[a] ? std::min(std::abs(at[a]), period - std::abs(at[a])) : at[a];
        r += d * d;
      }
      const std::size_t i = bin_by_edges(density[k], plan.axes[0].edges);
      const std::size_t j = bin_by_edges(std::sqrt(r), plan.axes[1].edges);
      if (i >= 7 || j >= 5) continue;
      ++count[j * 7 + i];
      weight[j * 7 + i] += w;
      sum[j * 7 + i] += static_cast<long double>(w) * v[k];
      square[j * 7 + i] += static_cast<long double>(w) * v[k] * v[k];
    }
    long double binned = 0;
    for (std::size_t b = 0; b < 35; ++b) {
      ASSERT_EQ(found.bins[b].cells, count[b]) << seed << " " << b;
      EXPECT_NEAR(found.bins[b].weight.value(), static_cast<double>(weight[b]), 1e-15);
      binned += found.bins[b].weight.value();
      const MeanAndDeviation value = mean_and_deviation(found.fields[0][b], found.bins[b].weight);
      if (count[b] == 0) {
        EXPECT_TRUE(std::isnan(value.mean));
        continue;
      }
      const long double mean = sum[b] / weight[b];
      EXPECT_NEAR(value.mean, static_cast<double>(mean), 1e-14);
      const long double variance = std::max(0.0L, square[b] / weight[b] - mean * mean);
      EXPECT_NEAR(value.deviation, static_cast<double>(std::sqrt(variance)), 1e-8);
    }
    EXPECT_NEAR(static_cast<double>(binned) + found.beyond.weight.value(), static_cast<double>(all), 1e-14);
  }
}

TEST(Histogram, equal_values_have_no_deviation_and_large_means_keep_it) {
  BinPlan plan;
  plan.axes = {{"x", {0, 1}, false}};
  plan.fields = {"f"};
  Samples samples;
  samples.axes = {std::vector<double>(1000, 0.5)};
  samples.weight.assign(1000, 0.1);
  samples.fields = {std::vector<double>(1000, 1.1)};
  samples.count = 1000;
  PartialBins one = empty_bins(plan), two = one;
  add_samples(samples, plan, one);
  EXPECT_EQ(mean_and_deviation(one.fields[0][0], one.bins[0].weight).deviation, 0);
  EXPECT_EQ(mean_and_deviation(one.fields[0][0], one.bins[0].weight).mean, 1.1);
  for (std::size_t k = 0; k < 1000; ++k) samples.fields[0][k] = 1e9 + (k % 2 == 0 ? 1e-3 : -1e-3);
  add_samples(samples, plan, two);
  PartialBins sum = two, later = two;
  add(sum, std::move(later));
  EXPECT_NEAR(mean_and_deviation(sum.fields[0][0], sum.bins[0].weight).deviation, 1e-3, 1e-7);
}

TEST(Histogram, values_that_are_not_finite_are_left_out_and_counted) {
  BinPlan plan;
  plan.axes = {{"x", {0, 1, 2}, false}};
  plan.fields = {"f"};
  const double nan = std::nan("");
  Samples samples;
  samples.axes = {{0.5, 0.5, 1.5, nan, 5, 1.5}};
  samples.weight = {1, 2, 4, 8, 16, INFINITY};
  samples.fields = {{nan, 3, INFINITY, 1, 1, 1}};
  samples.count = 6;
  PartialBins found = empty_bins(plan);
  add_samples(samples, plan, found);
  EXPECT_EQ(found.bins[0].weight.value(), 3);
  EXPECT_EQ(found.bins[1].weight.value(), 4);
  EXPECT_EQ(found.nan.weight.value(), 8);
  EXPECT_EQ(found.beyond.weight.value(), 16);
  EXPECT_EQ(found.unweighed, 1);
  EXPECT_EQ(found.cells, 6);
  EXPECT_EQ(mean_and_deviation(found.fields[0][0], found.bins[0].weight).mean, 3);
  EXPECT_TRUE(std::isnan(mean_and_deviation(found.fields[0][1], found.bins[1].weight).mean));
}

/// All numbers of bins as bytes: equal bytes are equal bits.
std::string bytes_of(const PartialBins& bins) { return base::packed(bins); }

TEST(Histogram, fields_have_the_same_bits_together_and_alone) {
  const double infinity = INFINITY;
  testing::Random random(11);
  Samples samples;
  samples.axes.emplace_back();
  samples.fields.resize(3);
  for (std::size_t k = 0; k < 10000; ++k) {
    samples.axes[0].push_back(std::floor(static_cast<double>(k) / 7) / 1500);  // stretches, and some beyond
    samples.weight.push_back(k % 501 == 0 ? infinity : 0.1 + static_cast<double>(random.below(1000)));
    for (auto& values : samples.fields) values.push_back(1e6 + static_cast<double>(random.below(1000)) / 7);
    if (k % 997 == 0) samples.fields[k % 3][k] = k % 2 == 0 ? std::nan("") : -infinity;
  }
  samples.count = samples.weight.size();
  BinPlan plan;
  plan.axes = {{"x", bin_edges(0, 0.9, 20, false), false}};
  plan.fields = {"a", "b", "c"};
  PartialBins together = empty_bins(plan);
  add_samples(samples, plan, together);
  for (std::size_t f = 0; f < 3; ++f) {
    BinPlan one = plan;
    one.fields = {plan.fields[f]};
    Samples own = samples;
    own.fields = {samples.fields[f]};
    PartialBins alone = empty_bins(one);
    add_samples(own, one, alone);
    PartialBins chosen = together;
    chosen.fields = {together.fields[f]};
    EXPECT_EQ(bytes_of(alone), bytes_of(chosen)) << f;
  }
}

TEST(Histogram, families_have_the_same_bits_as_their_cells) {
  for (const int dim : {1, 2, 3}) {
    const mesh::Octree tree = testing::random_octree(3, {.dim = dim, .block = {1, 1, 1}});
    const mesh::Header header = binned_header(tree);
    const mesh::Part part = binned_part(tree, 3);
    const mesh::Point3 middle{0.3, 0.4, 0.2};
    for (const auto kind : {Distance::Kind::radius, Distance::Kind::height}) {
      BinPlan plan;
      plan.axes = {{Distance{kind, middle, {1, 0, 0}}, bin_edges(-0.5, 1.5, 30, false), false}};
      plan.weight = {"density", true};
      plan.fields = {"v", "density"};
      // A region that holds all lets no family be taken at once.
      const Selection all{}, listed{mesh::Box{{0, 0, 0}, {9, 9, 9}}};
      const Samples families = samples_of(part, header, all, plan), cells = samples_of(part, header, listed, plan);
      ASSERT_GT(families.count, 0u);
      EXPECT_EQ(families.axes, cells.axes);
      EXPECT_EQ(families.fields, cells.fields);
      EXPECT_EQ(families.weight, cells.weight);
      EXPECT_EQ(bytes_of(bin_cells(part, header, all, plan)), bytes_of(bin_cells(part, header, listed, plan)));
    }
  }
}

TEST(Histogram, heights_and_cylinders_are_measured_along_their_axis) {
  mesh::Header header;
  header.hi = {4, 4, 4};
  header.periodic = {true, true, true};
  const double h = std::sqrt(0.5);
  const Distance height{Distance::Kind::height, {1, 1, 1}, {h, h, 0}};
  Distance cylinder = height;
  cylinder.kind = Distance::Kind::cylinder;
  EXPECT_NEAR(distance_to(header, height, {2, 2, 3}), std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(distance_to(header, cylinder, {2, 2, 2.5}), 1.5, 1e-15);
  EXPECT_NEAR(distance_to(header, height, {3.5, 1, 1}), -1.5 * h, 1e-15) << "the nearest image";
}

TEST(Histogram, partial_sums_survive_the_way_between_ranks) {
  const mesh::Octree tree = testing::random_octree(3);
  const mesh::Header header = binned_header(tree);
  BinPlan plan;
  plan.axes = {{"v", bin_edges(-1, 1, 3, false), false}};
  plan.fields = {"density"};
  const PartialBins sums = bin_cells(binned_part(tree, 3), header, {}, plan);
  const auto copy = base::unpacked<PartialBins>(base::packed(sums));
  EXPECT_EQ(base::packed(copy), base::packed(sums));
}

}  // namespace
}  // namespace octavo::analysis
