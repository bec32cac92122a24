#include "octavo/store/particle_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace octavo::store {
namespace {

mesh::Particles random_particles(std::size_t count, int dim, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> position(-2, 6);
  mesh::Particles particles{"dust", static_cast<std::int64_t>(count), {}};
  for (int axis = 0; axis < dim; ++axis) {
    std::vector<double> values(count);
    for (double& x : values) x = position(random);
    particles.attributes.push_back(mesh::attribute_of(std::string("position_") + "xyz"[axis], values));
  }
  return particles;
}

mesh::Header box_of_two_to_six() {
  mesh::Header header;
  header.lo = {-2, -2, -2};
  header.hi = {6, 6, 6};
  return header;
}

/// The mean distance from each particle to the next.
double step_length(const mesh::Particles& particles, const std::vector<std::size_t>& order) {
  double sum = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    double squares = 0;
    for (const mesh::Field& axis : particles.attributes)
      squares += std::pow(axis.as<double>()[order[i]] - axis.as<double>()[order[i - 1]], 2);
    sum += std::sqrt(squares);
  }
  return sum / static_cast<double>(order.size() - 1);
}

TEST(ParticleOrder, has_each_particle_once_and_neighbours_together) {
  for (const int dim : {1, 2, 3}) {
    const mesh::Particles particles = random_particles(1000, dim, 3);
    const auto order = particle_order(particles, box_of_two_to_six());
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::size_t> all(1000);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(sorted, all);
    EXPECT_LT(step_length(particles, order), 0.5 * step_length(particles, all)) << dim << " axes";
  }
}

TEST(ParticleOrder, of_one_cell_stays_and_strange_positions_have_a_place) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  mesh::Particles particles{"dust", 6, {mesh::attribute_of<double>("position_x", {5, nan, 5, -inf, inf, -2})}};
  EXPECT_THAT(particle_order(particles, box_of_two_to_six()), ::testing::ElementsAre(1, 3, 5, 0, 2, 4));
  particles.attributes[0].info.name = "somewhere";
  EXPECT_TRUE(particle_order(particles, box_of_two_to_six()).empty());
}

TEST(ParticleOrder, moves_all_bytes_of_a_particle) {
  const std::vector<std::uint16_t> values{1, 2, 3, 4, 5, 6};
  const std::vector<std::size_t> order{2, 0, 1};
  const auto sorted = in_order(std::as_bytes(std::span(values)), order);
  std::vector<std::uint16_t> found(6);
  std::memcpy(found.data(), sorted.data(), sorted.size());
  EXPECT_THAT(found, ::testing::ElementsAre(5, 6, 1, 2, 3, 4));
}

}  // namespace
}  // namespace octavo::store
