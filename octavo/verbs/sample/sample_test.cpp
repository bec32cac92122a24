#include "octavo/verbs/sample/sample.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/verbs/sample/sample_profile.hpp"
#include "octavo/verbs/stats.hpp"

namespace octavo::verbs {
namespace {

struct SampledCell {
  int part = 0;
  bool refined = false;
  std::vector<double> values;  ///< all fields
};
/// All owned cells of all parts, by level index and position.
using Cells = std::vector<std::map<mesh::Coordinate, SampledCell>>;

Cells cells_of(const mesh::Dataset& dataset) {
  Cells cells(dataset.levels.size());
  for (int p = 0; p < dataset.num_parts; ++p) {
    const mesh::Part part = dataset.read(p, {});
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    auto at = mesh::root_coordinates(tree);
    std::size_t value = 0;
    for (std::size_t l = 0; l < tree.refined.size(); ++l) {
      for (std::size_t i = 0; i < at.size(); ++i, ++value) {
        if (!tree.owned[l][i]) continue;
        SampledCell cell{p, tree.refined[l][i], {}};
        for (const mesh::Field& field : part.fields) cell.values.push_back(field.as<double>()[value]);
        EXPECT_TRUE(cells[l].emplace(at[i], cell).second) << "a cell is owned twice";
      }
      if (l + 1 < tree.refined.size()) at = mesh::child_coordinates(tree, static_cast<int>(l), at);
    }
  }
  return cells;
}

mesh::Coordinate child(const mesh::Coordinate& father, std::uint32_t c) {
  return {2 * father[0] + (c & 1), 2 * father[1] + (c >> 1 & 1), 2 * father[2] + (c >> 2 & 1)};
}

std::vector<SampleOptions> several_options() {
  return {{.dim = 3, .domains = 7, .level_min = 3, .level_max = 6},
          {.dim = 2, .domains = 5, .level_min = 4, .level_max = 9, .seed = 2},
          {.dim = 1, .domains = 3, .level_min = 6, .level_max = 10},
          {.kind = SampleKind::sedov, .dim = 3, .domains = 6, .level_min = 3, .level_max = 6},
          {.kind = SampleKind::sedov, .dim = 2, .domains = 4, .level_min = 5, .level_max = 8},
          {.dim = 3, .domains = 20, .level_min = 1, .level_max = 1}};
}

TEST(Sample, every_place_has_one_leaf_and_every_cell_one_owner) {
  for (const SampleOptions& options : several_options()) {
    const mesh::Dataset dataset = sample(options);
    const Cells cells = cells_of(dataset);
    double volume = 0;
    for (std::size_t l = 0; l < cells.size(); ++l) {
      std::int64_t leaves = 0;
      for (const auto& [position, cell] : cells[l]) {
        leaves += cell.refined ? 0 : 1;
        for (std::uint32_t c = 0; cell.refined && c < (1U << options.dim); ++c)
          ASSERT_TRUE(cells[l + 1].contains(child(position, c)));
      }
      volume += static_cast<double>(leaves) * std::ldexp(1.0, -options.dim * (static_cast<int>(l) + 1));
      const mesh::LevelCount expected{static_cast<int>(l) + 1, static_cast<std::int64_t>(cells[l].size()), leaves};
      EXPECT_EQ(dataset.levels[l], expected);
    }
    EXPECT_EQ(volume, 1);
    EXPECT_EQ(dataset.levels.back().level, options.level_max);
  }
}

TEST(Sample, levels_differ_by_one_at_most_over_a_face) {
  for (const SampleOptions& options : several_options()) {
    const Cells cells = cells_of(sample(options));
    for (std::size_t l = 1; l < cells.size(); ++l)
      for (const auto& [position, cell] : cells[l])
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(options.dim); ++axis)
          for (std::uint32_t step : {1U, (2U << l) - 1}) {
            mesh::Coordinate beside = position;
            beside[axis] = (beside[axis] + step) % (2U << l);
            for (std::uint32_t& x : beside) x >>= 1;
            ASSERT_TRUE(cells[l - 1].contains(beside)) << "level index " << l;
          }
  }
}

TEST(Sample, a_family_belongs_to_the_domain_of_its_fathers_centre) {
  for (const SampleOptions& options : several_options()) {
    const mesh::Dataset dataset = sample(options);
    const auto& bounds = std::get<std::vector<double>>(dataset.header.attributes.at("bound_key"));
    ASSERT_EQ(bounds.size(), static_cast<std::size_t>(options.domains) + 1);
    EXPECT_EQ(bounds.front(), 0);
    EXPECT_EQ(bounds.back(), std::ldexp(1.0, options.dim * (options.level_max + 1)));
    const Cells cells = cells_of(dataset);
    for (std::size_t l = 0; l < cells.size(); ++l)
      for (const auto& [position, cell] : cells[l]) {
        const mesh::Coordinate father{position[0] / 2, position[1] / 2, position[2] / 2};
        const double key = mesh::to_double(
            mesh::centre_key(mesh::Curve::hilbert, options.dim, options.level_max + 1, static_cast<int>(l), father));
        const auto part = static_cast<std::size_t>(cell.part);
        ASSERT_TRUE(bounds[part] <= key && key < bounds[part + 1]);
      }
  }
}

TEST(Sample, domains_have_equal_numbers_of_leaves_up_to_families) {
  const mesh::Dataset dataset = sample({.domains = 16, .level_min = 4, .level_max = 6});
  std::vector<int> leaves(16);
  int all = 0;
  for (const auto& level : cells_of(dataset))
    for (const auto& [position, cell] : level)
      if (!cell.refined) ++leaves[static_cast<std::size_t>(cell.part)], ++all;
  for (int n : leaves) EXPECT_NEAR(n, all / 16.0, 64);
}

TEST(Sample, parents_hold_what_their_children_hold) {
  for (const SampleOptions& options : several_options()) {
    const Cells cells = cells_of(sample(options));
    const auto dim = static_cast<std::size_t>(options.dim);
    // density, momentum, total energy
    const auto conserved = [&](const std::vector<double>& v) {
      std::vector<double> u{v[0]};
      double square = 0;
      for (std::size_t a = 1; a <= dim; ++a) u.push_back(v[0] * v[a]), square += v[a] * v[a];
      u.push_back(v[dim + 1] / 0.4 + 0.5 * v[0] * square);
      return u;
    };
    for (std::size_t l = 0; l + 1 < cells.size(); ++l)
      for (const auto& [position, cell] : cells[l]) {
        if (!cell.refined) continue;
        std::vector<double> mean(dim + 2), size(dim + 2);
        for (std::uint32_t c = 0; c < (1U << dim); ++c) {
          const auto u = conserved(cells[l + 1].at(child(position, c)).values);
          for (std::size_t i = 0; i < u.size(); ++i) mean[i] += u[i] / (1 << dim), size[i] += std::abs(u[i]);
        }
        const auto u = conserved(cell.values);
        for (std::size_t i = 0; i < u.size(); ++i) ASSERT_NEAR(u[i], mean[i], 1e-14 * size[i] + 1e-300);
        ASSERT_GT(cell.values[dim + 1], 0) << "pressure";
      }
  }
}

TEST(Sample, trees_are_valid_and_pruned) {
  for (const SampleOptions& options : several_options()) {
    const mesh::Dataset dataset = sample(options);
    for (int p = 0; p < dataset.num_parts; ++p) {
      const mesh::Part part = dataset.read(p, {});
      const auto& tree = std::get<mesh::Octree>(part.mesh);
      EXPECT_NO_THROW(mesh::validate(tree));
      EXPECT_EQ(mesh::prune(tree).tree, tree);
      EXPECT_EQ(part.index, p);
    }
  }
}

TEST(Sample, the_same_seed_gives_the_same_bits_and_another_does_not) {
  SampleOptions options{.domains = 5, .level_min = 4, .level_max = 6, .particles = 100, .threads = 1};
  const mesh::Dataset one = sample(options);
  options.threads = 3;
  const mesh::Dataset same = sample(options);
  options.seed = 2;
  const mesh::Dataset other = sample(options);
  mesh::Request request;
  request.particles = true;
  EXPECT_EQ(one.header, same.header);
  for (int p = 0; p < 5; ++p) {
    const mesh::Part a = one.read(p, request), b = same.read(p, request), c = other.read(p, request);
    EXPECT_EQ(std::get<mesh::Octree>(a.mesh), std::get<mesh::Octree>(b.mesh));
    EXPECT_EQ(a.fields, b.fields);
    EXPECT_EQ(a.particles, b.particles);
    EXPECT_NE(a.fields, c.fields);
  }
}

TEST(Sample, a_request_gets_the_fields_and_levels_it_asks_for) {
  const mesh::Dataset dataset = sample({.domains = 3, .level_min = 3, .level_max = 5});
  mesh::Request request;
  request.fields = {{"pressure", "velocity_y"}};
  const mesh::Part all = dataset.read(1, request);
  ASSERT_EQ(all.fields.size(), 2U);
  EXPECT_EQ(all.fields[0].info.name, "velocity_y");
  EXPECT_EQ(all.fields[1].info.name, "pressure");
  EXPECT_TRUE(all.particles.empty());
  request.max_level = 4;
  const mesh::Part some = dataset.read(1, request);
  const auto& tree = std::get<mesh::Octree>(some.mesh);
  EXPECT_EQ(mesh::num_levels(tree), 4);
  const mesh::Extract cut = mesh::truncate(std::get<mesh::Octree>(all.mesh), 3);
  const mesh::Extract expected = mesh::prune(cut.tree);
  EXPECT_EQ(tree, expected.tree);
  const auto values = std::span(all.fields[1].bytes).first(mesh::num_cells(cut.tree) * sizeof(double));
  EXPECT_EQ(some.fields[1].bytes, mesh::gather(cut.tree, expected, {values.begin(), values.end()}, sizeof(double)));
  request.fields = {{"presure"}};
  EXPECT_THROW(dataset.read(0, request), base::Error);
  EXPECT_THROW(dataset.read(3, {}), base::Error);
  request = {};
  request.max_level = 0;
  EXPECT_THROW(dataset.read(0, request), base::Error);
}

TEST(Sample, parts_touching_a_region_are_all_that_own_a_cell_there) {
  const mesh::Dataset dataset = sample({.domains = 24, .level_min = 4, .level_max = 6});
  const mesh::Domain domain = mesh::domain_of(dataset.header);
  const Cells cells = cells_of(dataset);
  for (const mesh::Region& region : {mesh::Region{mesh::Box{{0.1, 0.2, 0.3}, {0.2, 0.25, 0.35}}},
                                     mesh::Region{mesh::Sphere{{0.95, 0.02, 0.5}, 0.1}}}) {
    std::set<int> needed;
    for (std::size_t l = 0; l < cells.size(); ++l)
      for (const auto& [position, cell] : cells[l]) {
        mesh::Point3 lo{}, hi{};
        for (std::size_t a = 0; a < 3; ++a) {
          lo[a] = std::ldexp(position[a], -static_cast<int>(l) - 1);
          hi[a] = std::ldexp(position[a] + 1.0, -static_cast<int>(l) - 1);
        }
        if (mesh::touches(region, domain, lo, hi)) needed.insert(cell.part);
      }
    const std::vector<int> found = dataset.parts_touching(region);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), needed.begin(), needed.end()));
    EXPECT_LT(found.size(), 18U);
  }
}

TEST(Sample, noise_is_relative_and_as_stated) {
  SampleOptions options{.dim = 2, .domains = 1, .level_min = 5, .level_max = 5, .noise = 0.0};
  const mesh::Part smooth = sample(options).read(0, {});
  options.noise = 1e-3;
  const mesh::Part noisy = sample(options).read(0, {});
  double largest = 0, sum = 0;
  const std::size_t first = 4 + 16 + 64 + 256, count = 1024;  // the leaves
  for (std::size_t i = first; i < first + count; ++i) {
    const double change = noisy.fields[0].as<double>()[i] / smooth.fields[0].as<double>()[i] - 1;
    largest = std::max(largest, std::abs(change));
    sum += change;
  }
  EXPECT_LE(largest, 1e-3 * (1 + 1e-12));
  EXPECT_GT(largest, 0.99e-3);
  EXPECT_LT(std::abs(sum) / static_cast<double>(count), 1e-4);
}

/// Slope of the power of the octaves from wave number 2 to `last` along one axis, by least squares of logarithms.
double slope_of(const Spectrum& spectrum, int level, int last, std::size_t field) {
  const std::uint32_t n = 1U << level;
  std::vector<double> power(static_cast<std::size_t>(last) + 1);
  for (std::uint32_t y = 0; y < n; y += n / 16)
    for (std::uint32_t z = 0; z < (spectrum.dim > 2 ? n : 1); z += n / 16) {
      std::vector<double> line(n);
      for (std::uint32_t x = 0; x < n; ++x) line[x] = evaluate(spectrum, level, {x, y, z})[field];
      for (std::size_t k = 1; k < power.size(); ++k) {
        double re = 0, im = 0;
        for (std::uint32_t x = 0; x < n; ++x) {
          const double phase = 2 * M_PI * static_cast<double>(k * x % n) / n;
          re += line[x] * std::cos(phase);
          im += line[x] * std::sin(phase);
        }
        power[k] += re * re + im * im;
      }
    }
  // By octaves: those above 16 hold few wave numbers, but the power of all. The last octave that is resolved is left
  // out: along a line it lacks what waves across it would add.
  double sx = 0, sy = 0, sxx = 0, sxy = 0, count = 0;
  for (std::size_t k = 2; 2 * k <= power.size(); k *= 2) {
    double sum = 0;
    for (std::size_t i = k; i < 2 * k; ++i) sum += power[i];
    const double x = std::log2(k), y = std::log2(sum);
    sx += x, sy += y, sxx += x * x, sxy += x * y, count += 1;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

TEST(Sample, the_spectrum_falls_as_kolmogorovs) {
  // k^-11/3 in 3-D is k^-5/3 along a line, in any number of dimensions here: octaves fall as k^-2/3. The tolerance is
  // for chance at small k, and for what interpolation damps and the finest octave cuts off at large k (-0.15).
  for (std::uint64_t seed : {1U, 2U}) {
    const Spectrum plane = make_spectrum(2, seed), cube = make_spectrum(3, seed);
    for (std::size_t field = 0; field < 4; ++field) {
      EXPECT_NEAR(slope_of(plane, 9, 64, field), -2.0 / 3, 0.35) << "2-D, field " << field;
      EXPECT_NEAR(slope_of(cube, 8, 32, field), -2.0 / 3, 0.35) << "3-D, field " << field;
    }
  }
}

TEST(Sample, turbulence_is_lognormal_and_has_no_symmetry) {
  const mesh::Dataset dataset = sample({.domains = 4, .level_min = 5, .level_max = 6});
  const Cells cells = cells_of(dataset);
  double sum = 0, square = 0, cube = 0, count = 0;
  for (const auto& [position, cell] : cells[4]) {
    const double x = std::log(cell.values[0]);
    sum += x, square += x * x, cube += x * x * x, count += 1;
    const mesh::Coordinate mirrored{31 - position[0], position[1], position[2]};
    EXPECT_NE(cells[4].at(mirrored).values[0], cell.values[0]);
  }
  const double mean = sum / count, variance = square / count - mean * mean;
  const double skew = (cube / count - 3 * mean * variance - mean * mean * mean) / std::pow(variance, 1.5);
  EXPECT_GT(variance, 0.4);
  EXPECT_LT(variance, 1.6);
  EXPECT_LT(std::abs(skew), 0.7);
}

TEST(Sample, a_blast_is_mirror_symmetric) {
  const mesh::Dataset dataset = sample({.kind = SampleKind::sedov, .domains = 5, .level_min = 4, .level_max = 6});
  const Stats found = stats(dataset, {});
  for (std::size_t v = 1; v < 4; ++v) {
    EXPECT_LT(std::abs(found.statistics.fields[v].all.mean), 1e-15);
    EXPECT_EQ(found.statistics.fields[v].all.min.value, -found.statistics.fields[v].all.max.value);
  }
}

TEST(Sample, particles_lie_in_the_cells_of_their_part_and_follow_the_mass) {
  SampleOptions options{.domains = 6, .level_min = 4, .level_max = 6, .particles = 20000};
  const mesh::Dataset dataset = sample(options);
  const auto& bounds = std::get<std::vector<double>>(dataset.header.attributes.at("bound_key"));
  ASSERT_EQ(dataset.species.size(), 1U);
  EXPECT_EQ(dataset.species[0].count, 20000);
  std::set<std::int32_t> identities;
  double inside = 0;
  const auto in_box = [](double x, double y, double z) { return x < 0.5 && y < 0.5 && z < 0.5; };
  for (int p = 0; p < 6; ++p) {
    mesh::Request request;
    request.fields = std::vector<std::string>{};
    request.particles = true;
    const mesh::Part part = dataset.read(p, request);
    ASSERT_EQ(part.particles.size(), 1U);
    const mesh::Particles& particles = part.particles[0];
    ASSERT_EQ(particles.attributes.size(), dataset.species[0].attributes.size());
    const auto x = particles.attributes[0].as<double>(), y = particles.attributes[1].as<double>(),
               z = particles.attributes[2].as<double>();
    for (std::size_t i = 0; i < static_cast<std::size_t>(particles.count); ++i) {
      mesh::Coordinate oct{};  // a cell belongs to the owner of its father's centre
      const int level = particles.attributes[8].as<std::int32_t>()[i];
      for (std::size_t a = 0; a < 3; ++a)
        oct[a] = static_cast<std::uint32_t>(std::ldexp(particles.attributes[a].as<double>()[i], level - 1));
      const double key = mesh::to_double(mesh::centre_key(mesh::Curve::hilbert, 3, 7, level - 1, oct));
      ASSERT_TRUE(bounds[static_cast<std::size_t>(p)] <= key && key < bounds[static_cast<std::size_t>(p) + 1]);
      identities.insert(particles.attributes[7].as<std::int32_t>()[i]);
      inside += in_box(x[i], y[i], z[i]) ? 1 : 0;
    }
  }
  EXPECT_EQ(identities.size(), 20000U);
  EXPECT_EQ(*identities.begin(), 1);
  const Cells cells = cells_of(dataset);
  double mass = 0;
  for (const auto& [position, cell] : cells[0]) mass += cell.values[0] / 8;
  EXPECT_NEAR(inside / 20000, cells[0].at({0, 0, 0}).values[0] / 8 / mass, 0.01);
}

TEST(Sample, options_out_of_range_are_refused) {
  const auto refused = [](const SampleOptions& options) { EXPECT_THROW(sample(options), base::Error); };
  refused({.dim = 0});
  refused({.dim = 4});
  refused({.domains = 0});
  refused({.domains = (1 << 24) + 1});
  refused({.level_min = 0});
  refused({.level_min = 5, .level_max = 4});
  refused({.level_min = 10});
  refused({.level_min = 5, .level_max = 17});
  refused({.noise = -1.0});
  refused({.noise = NAN});
  refused({.particles = -1});
}

}  // namespace
}  // namespace octavo::verbs
