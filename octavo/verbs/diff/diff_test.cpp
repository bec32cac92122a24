#include "octavo/verbs/diff/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/split.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::verbs {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

mesh::Field values_of(const std::string& name, std::size_t count) {
  mesh::FieldInfo info;
  info.name = name;
  return mesh::make_field(info, count);
}

/// A step in memory.
mesh::Dataset dataset_of(std::vector<mesh::Part> parts, mesh::Header header = {}) {
  const auto& first = std::get<mesh::Octree>(parts[0].mesh);
  mesh::Dataset out;
  out.format = "memory";
  header.dim = first.dim;
  header.roots = first.roots;
  header.block = first.block;
  header.fields.clear();
  for (const mesh::Field& field : parts[0].fields) header.fields.push_back(field.info);
  out.header = header;
  out.num_parts = static_cast<int>(parts.size());
  std::map<int, mesh::LevelCount> counts;
  for (const mesh::Part& part : parts) {
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      counts[level].level = level;
      counts[level].leaves += static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level));
    }
    for (const mesh::Particles& particles : part.particles) {
      if (out.species.empty()) out.species.push_back({particles.species, 0, {}});
      out.species[0].count += particles.count;
      out.species[0].attributes.clear();
      for (const mesh::Field& field : particles.attributes) out.species[0].attributes.push_back(field.info);
    }
  }
  for (const auto& count : counts) out.levels.push_back(count.second);
  const auto shared = std::make_shared<std::vector<mesh::Part>>(std::move(parts));
  out.read = [shared](int part, const mesh::Request&) { return (*shared)[static_cast<std::size_t>(part)]; };
  // The answer is coarse on purpose: it names all parts.
  out.parts_touching = [shared](const mesh::Region&) {
    std::vector<int> all;
    for (std::size_t i = 0; i < shared->size(); ++i) all.push_back(static_cast<int>(i));
    return all;
  };
  return out;
}

mesh::Part part_of(mesh::Octree tree, std::vector<mesh::Field> fields) {
  mesh::Part part;
  part.mesh = std::move(tree);
  part.fields = std::move(fields);
  return part;
}

/// The same cut into so many parts.
mesh::Dataset cut(const mesh::Part& whole, int count, mesh::Curve curve = mesh::Curve::hilbert) {
  if (count == 1) return dataset_of({whole});
  const auto plan = mesh::plan_split({&whole, 1}, count, curve);
  return dataset_of(mesh::split({&whole, 1}, plan));
}

mesh::Part random_part(std::uint64_t seed, const testing::TreeOptions& options = {}) {
  mesh::Octree tree = testing::random_octree(seed, options);
  mesh::Field field = testing::smooth_field(tree, "density", seed + 1);
  return part_of(std::move(tree), {std::move(field)});
}

/// The leaves of a part (tree cells with all the cells of their blocks), place to value.
using Cell = std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t>;
std::map<Cell, std::size_t> leaves_of(const mesh::Octree& tree) {
  std::map<Cell, std::size_t> out;
  auto coordinates = mesh::root_coordinates(tree);
  std::size_t first = 0;
  const auto nx = static_cast<std::uint32_t>(tree.block[0]), ny = static_cast<std::uint32_t>(tree.block[1]),
             nz = static_cast<std::uint32_t>(tree.block[2]);
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      if (!tree.refined[static_cast<std::size_t>(level)][i])
        for (std::uint32_t k = 0; k < nx * ny * nz; ++k)
          out[{level, coordinates[i][0] * nx + k % nx, coordinates[i][1] * ny + k / nx % ny,
               coordinates[i][2] * nz + k / nx / ny}] = (first + i) * mesh::block_size(tree) + k;
    first += coordinates.size();
    if (level + 1 < mesh::num_levels(tree)) coordinates = mesh::child_coordinates(tree, level, coordinates);
  }
  return out;
}

/// Mean of what a step has on a cell, by asking every leaf: nothing where none lies in it.
std::optional<double> mean_in(const std::map<Cell, std::size_t>& leaves, std::span<const double> values,
                              const Cell& cell, int dim) {
  double sum = 0, share = 0;
  const auto [level, x, y, z] = cell;
  for (const auto& [at, value] : leaves) {
    const auto [l, i, j, k] = at;
    if (l < level || i >> (l - level) != x || (dim > 1 && j >> (l - level) != y) || (dim > 2 && k >> (l - level) != z))
      continue;
    sum += std::ldexp(values[value], -dim * (l - level));
    share += std::ldexp(1.0, -dim * (l - level));
  }
  if (share == 0) return {};
  EXPECT_EQ(share, 1);
  return sum;
}

struct Expected {
  std::int64_t cells = 0, refined_a = 0, refined_b = 0;
  double absolute = 0, largest_a = 0, largest_b = 0, l1 = 0, l1_volume = 0, sum_a = 0, sum_b = 0;
};

/// The common tree by brute force: a leaf of either is common where the other has leaves in it, and no larger one.
Expected brute_force(const mesh::Part& a, const mesh::Part& b) {
  const auto &tree_a = std::get<mesh::Octree>(a.mesh), &tree_b = std::get<mesh::Octree>(b.mesh);
  const auto leaves_a = leaves_of(tree_a), leaves_b = leaves_of(tree_b);
  const auto values_a = a.fields[0].as<double>(), values_b = b.fields[0].as<double>();
  const double roots = static_cast<double>(tree_a.roots[0] * tree_a.roots[1] * tree_a.roots[2]) *
                       static_cast<double>(mesh::block_size(tree_a));
  Expected out;
  const auto count = [&](const Cell& cell, double x, double y) {
    ++out.cells;
    const double apart = std::fabs(x - y);
    out.absolute = std::max(out.absolute, apart);
    out.largest_a = std::max(out.largest_a, std::fabs(x));
    out.largest_b = std::max(out.largest_b, std::fabs(y));
    out.l1 += apart;
    out.l1_volume += std::ldexp(apart / roots, -tree_a.dim * std::get<0>(cell));
    out.sum_a += x;
    out.sum_b += y;
  };
  for (const auto& [cell, value] : leaves_a)
    if (const auto other = mean_in(leaves_b, values_b, cell, tree_a.dim)) {
      count(cell, values_a[value], *other);
      out.refined_b += leaves_b.count(cell) == 0 ? 1 : 0;
    }
  for (const auto& [cell, value] : leaves_b)
    if (leaves_a.count(cell) == 0)
      if (const auto other = mean_in(leaves_a, values_a, cell, tree_a.dim)) {
        count(cell, *other, values_b[value]);
        ++out.refined_a;
      }
  return out;
}

TEST(Diff, of_a_step_with_itself_cut_otherwise_is_nothing) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const mesh::Part whole = random_part(seed);
    for (const int count : {1, 2, 7}) {
      const DiffReport found = diff(cut(whole, count), cut(whole, 5, mesh::Curve::morton), {.threads = 1});
      EXPECT_TRUE(found.equal) << seed << (found.reasons.empty() ? "" : found.reasons[0]);
      EXPECT_EQ(found.cells, static_cast<std::int64_t>(leaves_of(std::get<mesh::Octree>(whole.mesh)).size()));
      EXPECT_EQ(found.unmatched, (std::array<std::int64_t, 2>{0, 0}));
      EXPECT_EQ(found.variables.at(0).figures.absolute, 0);
      EXPECT_EQ(found.variables.at(0).figures.differing, 0);
    }
  }
}

TEST(Diff, one_changed_cell_is_found_at_its_place_with_its_figures) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    mesh::Part whole = random_part(seed, {.block = seed % 2 == 0 ? mesh::Index3{1, 1, 1} : mesh::Index3{2, 1, 1}});
    const mesh::Dataset before = cut(whole, 3);
    const auto& tree = std::get<mesh::Octree>(whole.mesh);
    const auto leaves = leaves_of(tree);
    const auto changed =
        std::next(leaves.begin(), static_cast<std::ptrdiff_t>(testing::Random(seed).below(leaves.size())));
    double& value = whole.fields[0].as<double>()[changed->second];
    const double old = value;
    value += 0.25;
    const DiffReport found = diff(before, cut(whole, 4), {.threads = 1});
    const analysis::Figures& figures = found.variables.at(0).figures;
    EXPECT_FALSE(found.equal);
    ASSERT_EQ(figures.differing, 1);
    EXPECT_EQ(figures.absolute, std::fabs(value - old));
    EXPECT_EQ(figures.largest->a, old);
    EXPECT_EQ(figures.largest->b, value);
    EXPECT_EQ(figures.magnitude, figures.absolute / std::max(figures.linf.a, figures.linf.b));
    EXPECT_EQ(figures.l1.difference, figures.absolute);
    EXPECT_EQ(figures.l2.difference, figures.absolute);
    const analysis::CellPlace& place = figures.largest->place;
    const auto at = analysis::position_of(*found.grid, place.key, place.depth);
    EXPECT_EQ(Cell(place.depth, at[0], at[1], at[2]), changed->first);
    EXPECT_TRUE(diff(before, cut(whole, 4), {.absolute = {{"density", 0.2500001}}}).equal);
    EXPECT_TRUE(diff(before, cut(whole, 4), {.relative = {{"*", 0}, {"den*", 0.5}}}).equal);
    EXPECT_FALSE(diff(before, cut(whole, 4), {.absolute = {{"density", 0.2}}}).equal);
    EXPECT_TRUE(diff(before, cut(whole, 4), {.ignore = {"density"}}).equal);
  }
}

TEST(Diff, other_refinement_is_compared_on_the_common_tree) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const int dim = static_cast<int>(1 + seed % 3);
    const testing::TreeOptions options{.dim = dim, .roots = {2, 1, 1}, .max_levels = 4, .max_cells = 300};
    const mesh::Part a = random_part(2 * seed, options), b = random_part(2 * seed + 101, options);
    const Expected expected = brute_force(a, b);
    for (const int parts : {1, 3, 6}) {
      const DiffReport found = diff(cut(a, parts), cut(b, 4, mesh::Curve::morton), {.threads = 1});
      const analysis::Figures& figures = found.variables.at(0).figures;
      EXPECT_EQ(found.cells, expected.cells) << seed;
      EXPECT_EQ(found.refined, (std::array<std::int64_t, 2>{expected.refined_a, expected.refined_b}));
      EXPECT_EQ(found.unmatched, (std::array<std::int64_t, 2>{0, 0}));
      EXPECT_NEAR(figures.absolute, expected.absolute, 1e-14);
      EXPECT_NEAR(figures.magnitude, expected.absolute / std::max(expected.largest_a, expected.largest_b), 1e-14);
      EXPECT_NEAR(figures.l1.difference, expected.l1, 1e-12);
      EXPECT_NEAR(figures.l1_volume.difference, expected.l1_volume, 1e-13);
      EXPECT_NEAR(figures.side[0].sum, expected.sum_a, 1e-11);
      EXPECT_NEAR(figures.side[1].sum, expected.sum_b, 1e-11);
      EXPECT_FALSE(diff(cut(a, parts), cut(a, 2), {.same_mesh = true}).reasons.size() > 0);
      if (expected.refined_a + expected.refined_b > 0) {
        EXPECT_FALSE(diff(cut(a, parts), cut(b, 4), {.ignore = {"*"}, .same_mesh = true}).equal);
        EXPECT_TRUE(diff(cut(a, parts), cut(b, 4), {.ignore = {"*"}}).equal);
      }
    }
  }
}

TEST(Diff, blocks_and_single_cells_are_the_same_cells) {
  // Roots of 8 x 8 cells in one block, and the same cells as a tree of single cells three levels deep.
  mesh::Octree blocks{.dim = 2,
                      .roots = {1, 1, 1},
                      .block = {8, 8, 1},
                      .refined = {base::BitArray(1)},
                      .owned = {base::BitArray(1, true)}};
  mesh::Octree cells{.dim = 2, .roots = {1, 1, 1}, .block = {1, 1, 1}, .refined = {}, .owned = {}};
  for (std::size_t level = 0; level < 4; ++level) {
    cells.refined.emplace_back(std::size_t{1} << (2 * level), level < 3);
    cells.owned.emplace_back(std::size_t{1} << (2 * level), true);
  }
  mesh::Field in_blocks = values_of("density", 64), in_cells = values_of("density", 85);
  for (const auto& [cell, value] : leaves_of(cells))
    in_cells.as<double>()[value] = in_blocks.as<double>()[std::get<1>(cell) + 8 * std::get<2>(cell)] =
        std::get<1>(cell) + 100 * std::get<2>(cell);
  const mesh::Dataset a = dataset_of({part_of(blocks, {in_blocks})}), b = dataset_of({part_of(cells, {in_cells})});
  EXPECT_TRUE(diff(a, b).equal);
  EXPECT_EQ(diff(b, a).cells, 64);
  mesh::Octree twelve = blocks;
  twelve.block = {12, 12, 1};
  const DiffReport none = diff(a, dataset_of({part_of(twelve, {values_of("density", 144)})}));
  EXPECT_FALSE(none.equal);
  EXPECT_FALSE(none.grid.has_value());
}

TEST(Diff, blocks_that_are_no_power_of_two_are_matched) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const mesh::Part whole = random_part(seed, {.dim = 2, .block = {3, 6, 1}, .max_levels = 4, .max_cells = 100});
    const DiffReport found = diff(cut(whole, 3), cut(whole, 2), {.threads = 1});
    EXPECT_TRUE(found.equal);
    EXPECT_EQ(found.cells, static_cast<std::int64_t>(leaves_of(std::get<mesh::Octree>(whole.mesh)).size()));
  }
}

TEST(Diff, nan_and_infinities_of_one_side_only_are_differences) {
  const auto compare = [](double x, double y, double tolerance) {
    mesh::Octree tree{.dim = 1, .refined = {base::BitArray(1)}, .owned = {base::BitArray(1, true)}};
    tree.roots = {2, 1, 1};
    tree.refined[0] = base::BitArray(2);
    tree.owned[0] = base::BitArray(2, true);
    mesh::Field a = values_of("u", 2), b = a;
    a.as<double>()[0] = b.as<double>()[0] = 1;
    a.as<double>()[1] = x;
    b.as<double>()[1] = y;
    return diff(dataset_of({part_of(tree, {a})}), dataset_of({part_of(tree, {b})}), {.absolute = {{"*", tolerance}}});
  };
  EXPECT_TRUE(compare(nan, nan, 0).equal);
  EXPECT_TRUE(compare(inf, inf, 0).equal);
  EXPECT_TRUE(compare(-0.0, 0.0, 0).equal);
  for (const auto& [x, y] : {std::pair{nan, 1.0}, {1.0, nan}, {inf, 1.0}, {inf, -inf}, {nan, inf}}) {
    const DiffReport found = compare(x, y, inf);
    EXPECT_FALSE(found.equal) << x << " " << y;
    const analysis::Figures& figures = found.variables.at(0).figures;
    EXPECT_EQ(figures.mismatches, 1);
    EXPECT_EQ(figures.absolute, 0);
    EXPECT_EQ(figures.side[0].sum, std::isfinite(x) ? 2 : 1);
    EXPECT_EQ(analysis::position_of(*found.grid, figures.mismatch->place.key, figures.mismatch->place.depth)[0], 1U);
  }
}

TEST(Diff, a_step_that_covers_less_is_a_difference) {
  mesh::Part whole = random_part(11, {.dim = 2, .roots = {4, 4, 1}, .max_levels = 3});
  mesh::Part less = whole;
  auto& owned = std::get<mesh::Octree>(less.mesh).owned;
  const auto& refined = std::get<mesh::Octree>(less.mesh).refined;
  std::size_t level = owned.size() - 1, cell = 0;
  while (refined[level][cell]) ++cell;
  owned[level].set(cell, false);
  for (const bool swapped : {false, true}) {
    const mesh::Dataset a = dataset_of({swapped ? less : whole}), b = dataset_of({swapped ? whole : less});
    const DiffReport found = diff(a, b);
    EXPECT_FALSE(found.equal);
    EXPECT_EQ(found.unmatched[swapped ? 1 : 0], 1);
    EXPECT_EQ(found.unmatched[swapped ? 0 : 1], 0);
    EXPECT_EQ(found.variables.at(0).figures.absolute, 0);
  }
}

TEST(Diff, variables_of_one_side_are_named) {
  mesh::Part a = random_part(3), b = a;
  b.fields[0].info.name = "dens";
  const DiffReport found = diff(dataset_of({a}), dataset_of({b}));
  EXPECT_FALSE(found.equal);
  EXPECT_EQ(found.only[0], std::vector<std::string>{"density"});
  EXPECT_EQ(found.only[1], std::vector<std::string>{"dens"});
  EXPECT_TRUE(diff(dataset_of({a}), dataset_of({b}), {.names = {{"density", "dens"}}}).equal);
  EXPECT_TRUE(diff(dataset_of({a}), dataset_of({b}), {.ignore = {"dens*"}}).equal);
  EXPECT_THROW(diff(dataset_of({a}), dataset_of({b}), {.ignore = {"pressure"}}), base::Error);
  EXPECT_THROW(diff(dataset_of({a}), dataset_of({b}), {.absolute = {{"density", -1}}}), base::Error);
}

TEST(Diff, another_codes_words_for_the_same_are_no_difference) {
  mesh::Part a = random_part(3), b = a;
  a.fields[0].info.name = "velx";
  b.fields[0].info.name = "x_velocity";
  mesh::Header flash, amrex;
  flash.code = "FLASH";
  amrex.code = "AMReX";
  const DiffReport found = diff(dataset_of({a}, flash), dataset_of({b}, amrex));
  EXPECT_TRUE(found.equal);
  EXPECT_EQ(found.variables.at(0).name, "velx");
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0], "names of B in A's words: x_velocity is velx");
  // A given name takes precedence.
  EXPECT_TRUE(diff(dataset_of({a}, flash), dataset_of({b}, amrex), {.names = {{"velx", "x_velocity"}}}).notes.empty());
  b.fields[0].info.name = "y_velocity";
  EXPECT_FALSE(diff(dataset_of({a}, flash), dataset_of({b}, amrex)).equal);
}

TEST(Diff, time_has_a_tolerance_and_attributes_are_reported) {
  mesh::Header late;
  late.time = 1.001;
  late.attributes["note"] = std::string("b");
  mesh::Header early;
  early.time = 1;
  const mesh::Dataset a = dataset_of({random_part(3)}, early), b = dataset_of({random_part(3)}, late);
  EXPECT_FALSE(diff(a, b).equal);
  EXPECT_TRUE(diff(a, b, {.relative = {{"time", 1e-2}}}).equal);
  EXPECT_TRUE(diff(a, b, {.ignore = {"time"}}).equal);
  EXPECT_FALSE(diff(a, b, {.ignore = {"time"}, .headers = true}).equal);
  EXPECT_EQ(diff(a, b).headers.size(), 2U);
}

// ---------------------------------------------------------------------------------------------- particles

mesh::Particles particles_of(const std::vector<std::int64_t>& ids, const std::vector<double>& x) {
  mesh::Particles out{"stars", static_cast<std::int64_t>(ids.size()), {}};
  out.attributes.push_back(values_of("tag", ids.size()));
  out.attributes.push_back(values_of("position_x", ids.size()));
  out.attributes.push_back(values_of("blk", ids.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.attributes[0].as<double>()[i] = static_cast<double>(ids[i]);
    out.attributes[1].as<double>()[i] = x[i];
    out.attributes[2].as<double>()[i] = static_cast<double>(i);
  }
  return out;
}

mesh::Dataset with_particles(const std::vector<mesh::Particles>& lists) {
  std::vector<mesh::Part> parts;
  const auto domains =
      mesh::split(std::vector<mesh::Part>{random_part(5)},
                  mesh::plan_split(std::vector<mesh::Part>{random_part(5)}, static_cast<int>(lists.size())));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    parts.push_back(domains[i]);
    parts.back().particles.push_back(lists[i]);
  }
  return dataset_of(parts);
}

TEST(Diff, particles_are_matched_by_identity_in_any_order_and_part) {
  const mesh::Dataset a = with_particles({particles_of({1, 2, 3, 4, 5}, {.1, .2, .3, .4, .5})});
  const mesh::Dataset b = with_particles({particles_of({5, 3}, {.5, .3}), particles_of({1, 4, 2}, {.1, .4, .2})});
  for (const std::int64_t memory : {std::int64_t{1} << 30, std::int64_t{100}}) {
    const DiffReport same = diff(a, b, {.particle_memory = memory});
    EXPECT_TRUE(same.equal);
    ASSERT_EQ(same.particles.size(), 1U);
    EXPECT_EQ(same.particles[0].match.matched, 5);
    ASSERT_EQ(same.particles[0].attributes.size(), 1U);  // neither tag nor blk
  }
  const mesh::Dataset moved = with_particles({particles_of({3, 2, 1, 5, 4}, {.3, .2, .1, .5, .45})});
  const DiffReport found = diff(a, moved, {.particle_memory = 100});
  EXPECT_FALSE(found.equal);
  const VariableDiff& x = found.particles.at(0).attributes.at(0);
  EXPECT_EQ(x.name, "stars/position_x");
  EXPECT_EQ(x.figures.absolute, .45 - .4);
  EXPECT_EQ(analysis::identity_at(x.figures.largest->place).id, 4);
  EXPECT_TRUE(diff(a, moved, {.absolute = {{"stars", 0.06}}}).equal);
  EXPECT_TRUE(diff(a, moved, {.absolute = {{"stars/position_?", 0.06}}}).equal);
  EXPECT_TRUE(diff(a, moved, {.ignore = {"particles"}}).equal);
}

TEST(Diff, an_id_and_a_rank_are_an_identity_and_a_tag_beside_them_is_a_value) {
  const auto make = [](double tag) {
    mesh::Particles list = particles_of({0, 0, 0}, {.1, .2, .3});
    list.attributes[0].as<double>()[2] = tag;
    for (const char* name : {"id", "cpu"}) list.attributes.push_back(values_of(name, 3));
    for (std::size_t i = 0; i < 3; ++i) {
      list.attributes[3].as<double>()[i] = i < 2 ? 5 : 6;
      list.attributes[4].as<double>()[i] = static_cast<double>(i);
    }
    return with_particles({list});
  };
  EXPECT_TRUE(diff(make(0), make(0)).equal);
  const DiffReport found = diff(make(0), make(1));
  EXPECT_FALSE(found.equal);
  EXPECT_EQ(found.particles.at(0).attributes.at(0).name, "stars/tag");
  const auto who = analysis::identity_at(found.particles.at(0).attributes.at(0).figures.largest->place);
  EXPECT_EQ(who.id, 6);
  EXPECT_EQ(who.rank, 2);
}

TEST(Diff, missing_particles_are_listed) {
  const mesh::Dataset a = with_particles({particles_of({1, 2, 3}, {.1, .2, .3})});
  const mesh::Dataset b = with_particles({particles_of({7, 2, 1}, {.7, .2, .1})});
  const DiffReport found = diff(a, b);
  EXPECT_FALSE(found.equal);
  const auto& match = found.particles.at(0).match;
  EXPECT_EQ(match.matched, 2);
  EXPECT_EQ(match.missing, (std::array<std::int64_t, 2>{1, 1}));
  EXPECT_EQ(match.first_missing[0].at(0).id, 7);
  EXPECT_EQ(match.first_missing[1].at(0).id, 3);
}

// RAMSES gives all clouds of a sink one identity.
TEST(Diff, particles_of_one_identity_are_a_multiset) {
  const auto step = [](const std::vector<std::int64_t>& id, const std::vector<double>& x) {
    return with_particles({particles_of(id, x)});
  };
  const mesh::Dataset a = step({-1, 5, -1, -1, -2, -2}, {.1, .2, .3, .3, .5, .4});
  const DiffReport same = diff(a, step({-2, -1, -1, -2, -1, 5}, {.4, .3, .1, .5, .3, .2}));
  EXPECT_TRUE(same.equal) << ::testing::PrintToString(same.reasons);
  EXPECT_EQ(same.particles.at(0).match.matched, 6);
  EXPECT_THAT(same.notes,
              ::testing::Contains(::testing::HasSubstr("5 of A and 5 of B have the identity of another (-2")));
  // The removed one is distinguished from those that stay.
  const DiffReport fewer = diff(a, step({-1, 5, -1, -2, -2}, {.1, .2, .3, .5, .4}));
  EXPECT_FALSE(fewer.equal);
  EXPECT_EQ(fewer.particles.at(0).match.missing, (std::array<std::int64_t, 2>{0, 1}));
  EXPECT_TRUE(fewer.particles.at(0).attributes.at(0).within);
  // Rounding does not pair a particle with its neighbour.
  const DiffReport near = diff(a, step({-1, -1, -1, 5, -2, -2}, {.3 + 1e-13, .1 + 1e-13, .3 - 1e-13, .2, .5, .4}),
                               {.absolute = {{"*", 1e-12}}});
  EXPECT_TRUE(near.equal) << ::testing::PrintToString(near.reasons);
  // A real difference is reported.
  const DiffReport far = diff(a, step({-1, 5, -1, -1, -2, -2}, {.1, .2, .3, .35, .5, .4}));
  EXPECT_FALSE(far.equal);
  EXPECT_NEAR(far.particles.at(0).attributes.at(0).figures.absolute, .05, 1e-12);
}

// ---------------------------------------------------------------------------------------------- whole steps

/// The numbers of a report.
std::vector<double> numbers(const DiffReport& report) {
  std::vector<double> out{static_cast<double>(report.cells)};
  for (const VariableDiff& v : report.variables) {
    const analysis::Figures& f = v.figures;
    out.insert(out.end(), {static_cast<double>(f.differing), f.absolute, f.magnitude, f.relative, f.l1.difference,
                           f.l2.difference, f.l1_volume.b, f.side[0].sum, f.side[1].integral,
                           f.largest ? static_cast<double>(f.largest->place.key.low) : -1});
  }
  return out;
}

TEST(Diff, does_not_depend_on_threads_and_bounds_the_parts_in_memory) {
  const mesh::Dataset a = sample({.domains = 13, .level_min = 3, .level_max = 5, .seed = 9, .particles = 300});
  const mesh::Dataset b = sample({.domains = 7, .level_min = 3, .level_max = 4, .seed = 9, .particles = 300});
  const DiffReport one = diff(a, b, {.ignore = {"particles"}, .cached_parts = 2, .threads = 1});
  EXPECT_GT(one.refined[0] + one.refined[1], 0);
  EXPECT_EQ(one.reads[0], 13);
  EXPECT_LE(one.held, 2 + 2);
  for (const int threads : {2, 4}) {
    const DiffReport more = diff(a, b, {.ignore = {"particles"}, .cached_parts = 2, .threads = threads});
    EXPECT_EQ(numbers(more), numbers(one));
    EXPECT_LE(more.held, 2 * threads + 2);
  }
  // The same data in other parts: sums agree except for the last bits, extremes agree exactly.
  const mesh::Dataset c = sample({.domains = 5, .level_min = 3, .level_max = 5, .seed = 9, .particles = 300});
  const auto other = numbers(diff(c, b, {.ignore = {"particles"}}));
  ASSERT_EQ(other.size(), numbers(one).size());
  for (std::size_t i = 0; i < other.size(); ++i) EXPECT_DOUBLE_EQ(other[i], numbers(one)[i]) << i;
}

TEST(Diff, reads_each_part_of_b_once_where_the_cutting_is_the_same) {
  const mesh::Dataset a = sample({.domains = 9, .level_min = 3, .level_max = 5, .particles = 100});
  const DiffReport found = diff(a, a, {.threads = 1});
  EXPECT_TRUE(found.equal);
  EXPECT_EQ(found.reads, (std::array<std::int64_t, 2>{9, 9}));
  EXPECT_EQ(found.particles.at(0).match.matched, 100);
  const mesh::Dataset b = sample({.domains = 4, .level_min = 3, .level_max = 5, .particles = 100});
  EXPECT_TRUE(diff(a, b, {.ignore = {"particles"}}).equal);  // the generator's particles depend on the parts
}

}  // namespace
}  // namespace octavo::verbs
