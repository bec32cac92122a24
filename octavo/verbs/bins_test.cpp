#include "octavo/verbs/bins.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "octavo/verbs/stats.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

const mesh::Dataset& binned_sample() {
  static const mesh::Dataset dataset = sample({.domains = 11, .level_min = 3, .level_max = 6, .seed = 9});
  return dataset;
}

/// Every number of the result, as bits that compare equal for NaN too.
std::vector<std::uint64_t> all_bits(const Bins& bins) {
  std::vector<std::uint64_t> out;
  const auto put = [&](const std::vector<double>& values) {
    for (const double value : values) out.push_back(std::bit_cast<std::uint64_t>(value));
  };
  for (const auto& axis : bins.axes) put(axis.edges);
  for (const std::int64_t cells : bins.cells) out.push_back(static_cast<std::uint64_t>(cells));
  put(bins.weights);
  for (const auto& field : bins.fields)
    for (const auto* values : {&field.mean, &field.deviation, &field.min, &field.max}) put(*values);
  put({bins.all.weight, bins.beyond.weight, bins.nan.weight});
  return out;
}

BinsOptions phase_of(int threads, const base::Ranks& ranks) {
  BinsOptions options;
  options.axes = {{.field = "density", .bins = 16}, {.field = "pressure", .bins = 9, .log = true}};
  options.fields = {"velocity_x"};
  options.weight = "mass";
  options.threads = threads;
  options.ranks = ranks;
  return options;
}

BinsOptions profile_of(int threads, const base::Ranks& ranks) {
  BinsOptions options;
  options.axes = {{.around = BinBy::Around{.centre = "max:density"}, .bins = 20}};
  options.fields = {"density", "pressure"};
  options.region = mesh::Sphere{{0.1, 0.5, 0.9}, 0.3};
  options.threads = threads;
  options.ranks = ranks;
  return options;
}

TEST(Bins, are_the_same_bits_for_any_number_of_threads_and_ranks) {
  for (auto* make : {&phase_of, &profile_of}) {
    const auto expected = all_bits(bins(binned_sample(), make(1, {})));
    EXPECT_GT(expected.size(), 90U);
    EXPECT_EQ(all_bits(bins(binned_sample(), make(4, {}))), expected);
    for (const int size : {2, 3, 7}) {
      std::atomic<int> same = 0;
      testing::run_ranks(size, [&](const base::Ranks& ranks) {
        same += all_bits(bins(binned_sample(), make(2, ranks))) == expected ? 1 : 0;
      });
      EXPECT_EQ(same, size);
    }
  }
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(Bins, conserve_the_mass_at_every_level) {
  const double mass = stats(binned_sample(), {.fields = {{"density"}}}).statistics.fields[0].all.integral;
  for (int level = 2; level <= 6; ++level) {
    BinsOptions options = phase_of(0, {});
    options.max_level = level;
    const Bins found = bins(binned_sample(), options);
    EXPECT_NEAR(sum_of(found.weights), mass, 1e-13);
    EXPECT_NEAR(found.all.weight, mass, 1e-13);
    EXPECT_EQ(found.beyond.cells, 0);
    EXPECT_LE(*std::max_element(found.cells.begin(), found.cells.end()), found.all.cells);
  }
}

TEST(Bins, means_of_a_profile_times_weights_are_the_total) {
  BinsOptions options = profile_of(0, {});
  options.region.reset();
  const Bins found = bins(binned_sample(), options);
  const Stats whole = stats(binned_sample(), {.fields = options.fields});
  EXPECT_EQ(found.beyond.cells, 0);
  for (std::size_t f = 0; f < 2; ++f) {
    double total = 0;
    for (std::size_t b = 0; b < found.weights.size(); ++b)
      if (found.cells[b] > 0) total += found.weights[b] * found.fields[f].mean[b];
    EXPECT_NEAR(total, whole.statistics.fields[f].all.integral, 1e-12);
  }
  EXPECT_EQ(found.centre, whole.statistics.fields[0].all.max.centre);
}

TEST(Bins, read_only_the_fields_asked_for) {
  mesh::Dataset dataset = binned_sample();
  dataset.read = [](int part, const mesh::Request& request) {
    EXPECT_EQ(request.fields, (std::vector<std::string>{"velocity_x", "pressure"}));
    EXPECT_EQ(request.max_level, 4);
    return binned_sample().read(part, request);
  };
  BinsOptions options;
  options.axes = {{.field = "pressure", .range = {{0, 1e9}}}};
  options.fields = {"velocity_x"};
  options.max_level = 4;
  EXPECT_EQ(bins(dataset, options).selection, "level <= 4");
}

TEST(Bins, of_several_diagrams_read_each_part_once_and_have_the_bits_of_each_alone) {
  std::atomic<int> reads = 0;
  mesh::Dataset dataset = binned_sample();
  dataset.read = [&](int part, const mesh::Request& request) {
    ++reads;
    return binned_sample().read(part, request);
  };
  BinsOptions other = phase_of(2, {});
  other.axes = {{.field = "velocity_x", .bins = 12}};
  other.fields.clear();
  other.weight = "none";
  BinsOptions radial = profile_of(2, {});
  radial.region.reset();
  radial.axes[0].around->centre = "center";
  const std::vector<BinsOptions> several{phase_of(2, {}), other, radial};
  const std::vector<Bins> found = diagrams(dataset, several);
  EXPECT_EQ(reads, dataset.num_parts);  // the limits and the sums
  ASSERT_EQ(found.size(), several.size());
  for (std::size_t d = 0; d < several.size(); ++d)
    EXPECT_EQ(all_bits(found[d]), all_bits(bins(binned_sample(), several[d]))) << d;
  for (const int size : {2, 3}) {
    std::atomic<int> same = 0;
    testing::run_ranks(size, [&](const base::Ranks& ranks) {
      std::vector<BinsOptions> asked = several;
      asked[0].ranks = ranks;
      const std::vector<Bins> shared = diagrams(binned_sample(), asked);
      for (std::size_t d = 0; d < asked.size(); ++d) same += all_bits(shared[d]) == all_bits(found[d]) ? 1 : 0;
    });
    EXPECT_EQ(same, 3 * size);
  }
  EXPECT_THROW(diagrams(dataset, {}), base::Error);
}

std::string refused(const BinsOptions& options) {
  try {
    bins(binned_sample(), options);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
    return error.what();
  }
  return "nothing";
}

TEST(Bins, bad_requests_are_refused_by_name) {
  BinsOptions options;
  options.axes = {{.field = "presure"}};
  EXPECT_NE(refused(options).find("pressure"), std::string::npos);
  options.axes = {{.field = "density"}};
  options.weight = "presure";
  EXPECT_NE(refused(options).find("did you mean pressure"), std::string::npos);
  options.weight = "volume";
  options.region = mesh::Sphere{{0.5, 0.5, 0.5}, 1e-9};
  EXPECT_NE(refused(options).find("holds no cell"), std::string::npos);
  options.region.reset();
  options.axes = {{.field = "velocity_x", .log = true, .range = {{-1, 1}}}};
  EXPECT_NE(refused(options).find("above 0"), std::string::npos);
  options.axes = {{.around = BinBy::Around{.centre = "0.5;0.5"}}};
  EXPECT_NE(refused(options).find("no place \"0.5;0.5\""), std::string::npos);
  options.axes = {{.around = BinBy::Around{.kind = analysis::Distance::Kind::height, .normal = {0, 0, 0}}}};
  EXPECT_NE(refused(options).find("normal"), std::string::npos);
  options.axes = {{.field = "density", .bins = 5000}, {.field = "pressure", .bins = 5000}};
  EXPECT_NE(refused(options).find("2^24"), std::string::npos);
}

TEST(Bins, of_one_value_have_a_range_around_it) {
  BinsOptions options;
  options.axes = {{.field = "level", .bins = 3}};
  options.max_level = 3;
  const Bins found = bins(binned_sample(), options);
  EXPECT_EQ(found.cells[1], found.all.cells);
  EXPECT_LT(found.axes[0].edges.front(), 3);
  EXPECT_GT(found.axes[0].edges.back(), 3);
}

}  // namespace
}  // namespace octavo::verbs
