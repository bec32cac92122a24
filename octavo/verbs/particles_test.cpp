#include "octavo/verbs/particles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "octavo/verbs/sample/sample.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

constexpr std::array<std::array<double, 2>, 4> places{{{0.05, 0.5}, {0.95, 0.5}, {0.5, 0.02}, {1.0, 1.0}}};

/// Particles of weights 1, 2, 4, 8 in a periodic domain, or those of them that `keep` names.
ParticleMapOptions options_of(std::vector<std::size_t> keep) {
  ParticleMapOptions options;
  options.source.in_parts = false;
  options.source.samples = [keep = std::move(keep)](const mesh::Part&) {
    analysis::Samples out;
    out.axes.resize(2);
    for (const std::size_t k : keep) {
      for (std::size_t side = 0; side < 2; ++side) out.axes[side].push_back(places[k][side]);
      out.weight.push_back(static_cast<double>(1 << k));
    }
    out.count = keep.size();
    return out;
  };
  options.pixels = 10;
  return options;
}

mesh::Dataset periodic() { return sample({.domains = 3, .level_min = 2, .level_max = 3, .seed = 3}); }

double at(const Map& map, std::size_t x, std::size_t y) { return map.values[y * map.nx + x]; }

TEST(ParticleMap, shows_the_window_of_the_region) {
  ParticleMapOptions options = options_of({0});
  options.region = mesh::Sphere{{0.1, 0.5, 0.5}, 0.1};
  const Map found = particle_map(periodic(), options);
  EXPECT_EQ(found.lo, (std::array<double, 2>{0.0, 0.4}));
  EXPECT_EQ(found.hi, (std::array<double, 2>{0.2, 0.6}));
  EXPECT_EQ(found.particles, 1);
  EXPECT_NEAR(at(found, 2, 5), 1 / (0.02 * 0.02), 1e-9);
  EXPECT_NEAR(std::accumulate(found.values.begin(), found.values.end(), 0.0), 1 / (0.02 * 0.02), 1e-9);
}

TEST(ParticleMap, goes_on_beyond_a_periodic_side) {
  ASSERT_TRUE(periodic().header.periodic[0]);
  ParticleMapOptions options = options_of({0, 1});
  options.region = mesh::Sphere{{0.0, 0.5, 0.5}, 0.1};  // from -0.1 to 0.1
  const Map found = particle_map(periodic(), options);
  EXPECT_EQ(found.particles, 2);
  const double pixel = 0.02 * 0.02;
  EXPECT_NEAR(at(found, 7, 5), 1 / pixel, 1e-9);
  EXPECT_NEAR(at(found, 2, 5), 2 / pixel, 1e-9);
}

TEST(ParticleMap, has_the_domain_s_upper_side_in_the_last_pixel) {
  const Map found = particle_map(periodic(), options_of({0, 1, 2, 3}));
  EXPECT_EQ(found.particles, 4);
  EXPECT_NEAR(at(found, 9, 9), 8 / 0.01, 1e-9);
  EXPECT_NEAR(std::accumulate(found.values.begin(), found.values.end(), 0.0) * 0.01, 15, 1e-12);
}

TEST(ParticleMap, of_a_window_takes_the_samples_axes_as_they_are_and_may_be_empty) {
  ParticleMapOptions options = options_of({1, 2});
  options.window = {{0.9, 0.0}, {1.1, 1.0}};
  const Map found = particle_map(periodic(), options);
  EXPECT_EQ(found.nx, 2U);
  EXPECT_EQ(found.ny, 10U);
  EXPECT_EQ(found.particles, 1);
  EXPECT_NEAR(at(found, 0, 5), 2 / 0.01, 1e-9);
  options.window = {{5, 5}, {6, 6}};
  EXPECT_EQ(particle_map(periodic(), options).particles, 0);
}

}  // namespace
}  // namespace octavo::verbs
