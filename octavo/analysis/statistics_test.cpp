#include "octavo/analysis/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "octavo/analysis/reduce.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::analysis {
namespace {

mesh::Header header_of(const mesh::Octree& tree) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.level_origin = 3;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    header.lo[axis] = -2;
    header.hi[axis] = -2 + 1.3 * static_cast<double>(tree.roots[axis]);
  }
  for (const char* name : {"density", "v"}) {
    mesh::FieldInfo info;
    info.name = name;
    info.unit = "u";
    header.fields.push_back(info);
  }
  return header;
}

/// "density" is smooth; "v" has both signs and huge steps.
mesh::Part rough_part(const mesh::Octree& tree, std::uint64_t seed) {
  mesh::Part part;
  part.mesh = tree;
  part.fields = {testing::smooth_field(tree, "density", seed), testing::smooth_field(tree, "v", seed + 7)};
  testing::Random random(seed);
  for (double& x : part.fields[1].as<double>()) x *= (random.uniform() - 0.5) * std::pow(10, 12 * random.uniform());
  return part;
}

Statistics statistics_of(const std::vector<mesh::Part>& parts, const mesh::Header& header, const Selection& selection) {
  PartialStatistics sum;
  for (const mesh::Part& part : parts)
    add(sum, base::unpacked<PartialStatistics>(
                 base::packed(statistics(part, header, selection, {"density", "v"}, {}, true))));
  return finish(sum, header, {"density", "v"}, {}, true);
}

void expect_near(double found, long double expected, long double scale) {
  EXPECT_NEAR(found, static_cast<double>(expected), static_cast<double>(1e-15L * scale));
}

TEST(Statistics, are_those_of_the_definition_for_any_split) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const mesh::Octree tree = testing::random_octree(seed);
    const mesh::Header header = header_of(tree);
    const mesh::Part whole = rough_part(tree, seed);
    Selection selection;
    if (seed % 3 == 1) selection.region = mesh::Sphere{{0.5, 0.5, 0.5}, 0.45};
    if (seed % 3 == 2) selection.max_level = 4;
    long double sum = 0, integral = 0, volume = 0, mass = 0, moment = 0, size = 0;
    double min = INFINITY, max = -INFINITY;
    std::int64_t cells = 0;
    for_each_selected(tree, header, selection, [&](const Cells& batch) {
      long double cell = 1;
      for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a)
        cell *= mesh::cell_size(header, batch.level)[a];
      for (std::size_t i : batch.values) {
        const double v = whole.fields[1].as<double>()[i], rho = whole.fields[0].as<double>()[i];
        ++cells;
        sum += v, size += std::abs(v), integral += v * cell, volume += cell;
        mass += rho * cell, moment += static_cast<long double>(v) * rho * cell;
        min = std::min(min, v), max = std::max(max, v);
      }
    });
    std::vector<mesh::Part> parts;
    for (const mesh::Octree& domain : testing::random_domains(tree, 1 + seed % 4)) {
      parts.push_back(whole);
      parts.back().mesh = domain;
    }
    const Statistics found = statistics_of(parts, header, selection);
    ASSERT_EQ(found.fields.size(), 2U);
    const Summary& v = found.fields[1].all;
    EXPECT_EQ(found.fields[1].unit, "u");
    EXPECT_EQ(found.leaves, cells);
    EXPECT_EQ(v.cells, cells);
    EXPECT_EQ(v.min.value, min);
    EXPECT_EQ(v.max.value, max);
    const auto count = static_cast<long double>(cells);
    expect_near(v.sum, sum, size);
    expect_near(v.mean, sum / count, size / count);
    expect_near(v.integral, integral, volume * size);
    expect_near(v.volume_mean, integral / volume, size);
    expect_near(*v.mass_mean, moment / mass, 4 * size);
    expect_near(found.volume, volume, 4 * volume);
    std::int64_t over_levels = 0;
    for (const LevelSummary& level : found.fields[1].levels) over_levels += level.summary.cells;
    EXPECT_EQ(over_levels, cells);
  }
}

TEST(Statistics, an_extreme_is_where_it_is_said_to_be) {
  const mesh::Octree tree = testing::random_octree(4, {.dim = 3, .roots = {2, 3, 1}});
  const mesh::Header header = header_of(tree);
  const mesh::Part part = rough_part(tree, 4);
  const Statistics found = statistics_of({part}, header, {});
  int seen = 0;
  for_each_selected(tree, header, {}, [&](const Cells& cells) {
    for (std::size_t k = 0; k < cells.values.size(); ++k) {
      mesh::Point3 centre;
      for (std::size_t a = 0; a < 3; ++a)
        centre[a] = header.lo[a] + (cells.positions[k][a] + 0.5) * mesh::cell_size(header, cells.level)[a];
      const Summary& v = found.fields[1].all;
      for (const Extreme& extreme : {v.min, v.max})
        if (extreme.centre == centre && extreme.level == cells.level + 3) {
          EXPECT_EQ(part.fields[1].as<double>()[cells.values[k]], extreme.value);
          ++seen;
        }
    }
  });
  EXPECT_EQ(seen, 2);
}

TEST(Statistics, the_mean_of_mirror_images_is_zero) {
  mesh::Octree tree;
  tree.dim = 1;
  tree.roots = {10000, 1, 1};
  tree.refined.emplace_back(10000);
  tree.owned.emplace_back(10000, true);
  mesh::Part part = rough_part(tree, 1);
  testing::Random random(1);
  const auto v = part.fields[1].as<double>();
  const auto rho = part.fields[0].as<double>();
  for (std::size_t i = 0; i < 5000; ++i) {
    v[i] = 10 * random.uniform();
    v[9999 - i] = -v[i];
    rho[9999 - i] = rho[i];
  }
  std::vector<double> shuffled(v.begin(), v.begin() + 5000);
  const Statistics found = statistics_of({part}, header_of(tree), {});
  EXPECT_LT(std::abs(found.fields[1].all.mean), 1e-18);
  EXPECT_LT(std::abs(*found.fields[1].all.mass_mean), 1e-18);
  EXPECT_LT(std::abs(found.fields[1].all.volume_mean), 1e-18);
}

TEST(Statistics, nan_and_infinities_are_counted_and_left_out) {
  mesh::Octree tree;
  tree.dim = 1;
  tree.roots = {6, 1, 1};
  tree.refined.emplace_back(6);
  tree.owned.emplace_back(6, true);
  mesh::Part part = rough_part(tree, 1);
  const double v[] = {NAN, 2, INFINITY, 4, -INFINITY, 3};
  const double rho[] = {1, 1, 1, 3, 1, NAN};
  std::copy(std::begin(v), std::end(v), part.fields[1].as<double>().begin());
  std::copy(std::begin(rho), std::end(rho), part.fields[0].as<double>().begin());
  const Statistics found = statistics_of({part}, header_of(tree), {});
  const Summary& all = found.fields[1].all;
  EXPECT_EQ(all.cells, 6);
  EXPECT_EQ(all.nan, 1);
  EXPECT_EQ(all.inf, 2);
  EXPECT_EQ(all.min.value, 2);
  EXPECT_EQ(all.max.value, 4);
  EXPECT_EQ(all.mean, 3);
  EXPECT_EQ(all.sum, 9);
  EXPECT_DOUBLE_EQ(*all.mass_mean, (2 * 1 + 4 * 3) / 4.0);
  EXPECT_EQ(found.fields[0].all.nan, 1);

  for (double& x : part.fields[1].as<double>()) x = NAN;
  const Summary nothing = statistics_of({part}, header_of(tree), {}).fields[1].all;
  EXPECT_TRUE(std::isnan(nothing.mean) && std::isnan(nothing.min.value) && std::isnan(nothing.max.value));
  EXPECT_EQ(nothing.nan, 6);
  EXPECT_EQ(nothing.sum, 0);
}

mesh::Part part_with_particles(std::int64_t first, std::int64_t count) {
  mesh::Part part;
  part.mesh = testing::random_octree(1, {.dim = 1, .roots = {4, 1, 1}, .max_levels = 1});
  mesh::Particles particles{"particles", count, {}};
  mesh::FieldInfo info;
  info.centring = mesh::Centring::particle;
  info.name = "position_x";
  particles.attributes.push_back(mesh::make_field(info, static_cast<std::size_t>(count)));
  info.name = "identity";
  info.type = mesh::ScalarType::int64;
  particles.attributes.push_back(mesh::make_field(info, static_cast<std::size_t>(count)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    particles.attributes[0].as<double>()[i] = -2 + 0.01 * static_cast<double>(first + static_cast<std::int64_t>(i));
    particles.attributes[1].as<std::int64_t>()[i] = (std::int64_t{1} << 60) + first + static_cast<std::int64_t>(i);
  }
  part.particles = {particles};
  return part;
}

TEST(Statistics, particles_are_summed_and_integers_stay_exact) {
  const mesh::Header header = header_of(testing::random_octree(1, {.dim = 1, .roots = {4, 1, 1}, .max_levels = 1}));
  const mesh::Part parts[] = {part_with_particles(0, 100), part_with_particles(100, 0), part_with_particles(100, 50)};
  mesh::SpeciesInfo species{"particles", 150, {}};
  for (const mesh::Field& field : parts[0].particles[0].attributes) species.attributes.push_back(field.info);
  const auto of = [&](const Selection& selection) {
    PartialStatistics sum;
    for (const mesh::Part& part : parts) add(sum, statistics(part, header, selection, {}, {species}, false));
    return finish(sum, header, {}, {species}, false).particles.at(0);
  };
  const SpeciesStatistics all = of({});
  EXPECT_EQ(all.count, 150);
  EXPECT_EQ(all.attributes[0].min, -2);
  EXPECT_EQ(all.attributes[0].max, -2 + 0.01 * 149);
  EXPECT_NEAR(all.attributes[0].sum, -300 + 0.01 * 149 * 75, 1e-12);
  EXPECT_TRUE(all.attributes[1].integer);
  EXPECT_EQ(all.attributes[1].int_max, (std::int64_t{1} << 60) + 149);
  EXPECT_EQ(all.attributes[1].int_min, std::int64_t{1} << 60);
  // The domain is 5.2 long: the first 52 particles are in its first tenth.
  const SpeciesStatistics some = of({mesh::Box{{0, 0, 0}, {0.1, 1, 1}}, 99});
  EXPECT_EQ(some.count, 52);
  EXPECT_EQ(some.attributes[1].int_max, (std::int64_t{1} << 60) + 51);
}

TEST(Reduce, the_tree_of_a_sum_depends_on_the_parts_alone) {
  const auto join = [](std::string& to, std::string&& other) { to = "(" + to + other + ")"; };
  using Sum = OrderedSum<std::string, decltype(join)>;
  for (std::uint64_t parts = 0; parts < 40; ++parts) {
    Sum serial(join);
    for (std::uint64_t p = 0; p < parts; ++p) serial.push(p, std::to_string(p) + " ");
    const std::string expected = serial.take();
    for (std::uint64_t ranks = 1; ranks < 9; ++ranks) {
      Sum all(join);
      for (std::uint64_t r = 0; r < ranks; ++r) {
        Sum mine(join);
        for (std::uint64_t p = parts * r / ranks; p < parts * (r + 1) / ranks; ++p)
          mine.push(p, std::to_string(p) + " ");
        for (auto& piece : mine.pieces()) all.push(std::move(piece));
      }
      EXPECT_EQ(all.take(), expected);
    }
  }
}

TEST(Statistics, damaged_partial_results_are_refused) {
  const mesh::Octree tree = testing::random_octree(2);
  const std::string good = base::packed(statistics(rough_part(tree, 2), header_of(tree), {}, {"v"}, {}, true));
  EXPECT_NO_THROW(base::unpacked<PartialStatistics>(good));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(base::unpacked<PartialStatistics>(std::string_view(good).substr(0, size)), base::Error);
}

}  // namespace
}  // namespace octavo::analysis
