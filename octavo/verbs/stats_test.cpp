#include "octavo/verbs/stats.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>

#include "octavo/base/error.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "octavo/verbs/verbs.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

const mesh::Dataset& small_sample() {
  static const mesh::Dataset dataset =
      sample({.domains = 11, .level_min = 3, .level_max = 6, .seed = 9, .particles = 500});
  return dataset;
}

/// Every number of the result.
std::vector<double> numbers(const Stats& stats) {
  std::vector<double> out{static_cast<double>(stats.statistics.leaves), stats.statistics.volume};
  const auto add = [&](const analysis::Summary& s) {
    out.insert(out.end(),
               {static_cast<double>(s.cells), static_cast<double>(s.nan + s.inf), s.min.value, s.max.value,
                s.min.centre[0], s.max.centre[2], s.mean, s.volume_mean, s.mass_mean.value_or(-1), s.sum, s.integral});
  };
  for (const auto& field : stats.statistics.fields) {
    add(field.all);
    for (const auto& level : field.levels) add(level.summary);
  }
  for (const auto& species : stats.statistics.particles)
    for (const auto& attribute : species.attributes)
      out.insert(out.end(), {attribute.min, attribute.max, attribute.sum, static_cast<double>(attribute.int_sum)});
  return out;
}

TEST(Stats, are_the_same_numbers_for_any_number_of_threads_and_ranks) {
  for (const auto& region :
       {std::optional<mesh::Region>{}, std::optional<mesh::Region>{mesh::Sphere{{0.1, 0.5, 0.9}, 0.3}}}) {
    const auto expected = numbers(stats(small_sample(), {.region = region, .threads = 1}));
    EXPECT_GT(expected.size(), 50U);
    EXPECT_EQ(numbers(stats(small_sample(), {.region = region, .threads = 4})), expected);
    for (int size : {2, 3, 7}) {
      std::atomic<int> same = 0;
      testing::run_ranks(size, [&](const base::Ranks& ranks) {
        same += numbers(stats(small_sample(), {.region = region, .threads = 2, .ranks = ranks})) == expected ? 1 : 0;
      });
      EXPECT_EQ(same, size);
    }
  }
}

TEST(Stats, know_the_whole_box) {
  const Stats found = stats(small_sample(), {});
  EXPECT_EQ(found.statistics.volume, 1);
  std::int64_t leaves = 0;
  for (const mesh::LevelCount& level : small_sample().levels) leaves += level.leaves;
  EXPECT_EQ(found.statistics.leaves, leaves);
  ASSERT_EQ(found.statistics.fields.size(), 5U);
  const auto& density = found.statistics.fields[0];
  EXPECT_EQ(density.name, "density");
  EXPECT_NEAR(density.all.integral, density.all.volume_mean, 1e-14);
  EXPECT_LT(density.all.min.value, density.all.volume_mean);
  EXPECT_GT(*density.all.mass_mean, density.all.volume_mean);
  EXPECT_EQ(found.parts.size(), 11U);
}

TEST(Stats, a_level_limit_conserves_mass_and_momentum) {
  const Stats all = stats(small_sample(), {});
  for (int level = 1; level < 6; ++level) {
    const Stats some = stats(small_sample(), {.max_level = level});
    EXPECT_EQ(some.statistics.volume, 1);
    EXPECT_EQ(some.statistics.levels.back().level, level);
    EXPECT_NEAR(some.statistics.fields[0].all.integral, all.statistics.fields[0].all.integral, 1e-13);
    for (std::size_t v = 1; v < 4; ++v)
      EXPECT_NEAR(*some.statistics.fields[v].all.mass_mean, *all.statistics.fields[v].all.mass_mean, 1e-13);
  }
}

TEST(Stats, particles_have_all_their_attributes) {
  const Stats found = stats(small_sample(), {.fields = {{"density"}}});
  ASSERT_EQ(found.statistics.particles.size(), 1U);
  const auto& species = found.statistics.particles[0];
  EXPECT_EQ(species.count, 500);
  for (const auto& attribute : species.attributes) {
    EXPECT_EQ(attribute.count, 500) << attribute.name;
    if (attribute.name == "identity") {
      EXPECT_EQ(attribute.int_min, 1);
      EXPECT_EQ(attribute.int_max, 500);
      EXPECT_EQ(attribute.int_sum, 500 * 501 / 2);
    }
    if (attribute.name == "mass") {
      EXPECT_NEAR(attribute.sum, 1, 1e-15);
    }
  }
  EXPECT_TRUE(stats(small_sample(), {.particles = false}).statistics.particles.empty());
}

TEST(Stats, read_only_the_fields_asked_for_and_density) {
  mesh::Dataset dataset = small_sample();
  dataset.read = [](int part, const mesh::Request& request) {
    EXPECT_EQ(request.fields, (std::vector<std::string>{"pressure", "density"}));
    EXPECT_EQ(request.max_level, 4);
    return small_sample().read(part, request);
  };
  const Stats found = stats(dataset, {.fields = {{"pressure"}}, .max_level = 4});
  ASSERT_EQ(found.statistics.fields.size(), 1U);
  EXPECT_EQ(found.statistics.fields[0].name, "pressure");
  EXPECT_TRUE(found.statistics.fields[0].all.mass_mean.has_value());
  EXPECT_EQ(found.selection, "level <= 4");
  EXPECT_THROW(stats(dataset, {.fields = {{"presure"}}}), base::Error);
}

}  // namespace
}  // namespace octavo::verbs
