#include "octavo/mesh/specific.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/refine.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/restrict_to_parents.hpp"

namespace octavo::mesh {
namespace {

using octavo::testing::AllCells;
using octavo::testing::CellAt;
using octavo::testing::cells_of_step;
using octavo::testing::Random;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double gamma_less_1 = 0.4;

FieldInfo info_of(const std::string& name) { return {name, "", ScalarType::float64, Centring::cell, 1, 0}; }

Header flash_header(const std::vector<std::string>& names) {
  Header header;
  header.code = "FLASH";
  for (const std::string& name : names) header.fields.push_back(info_of(name));
  return header;
}

/// Gas as FLASH has it, jumping from cell to cell: `heat` is its internal energy beside velocities of about 1.
struct Gas {
  Part part;
  Header header;
  Specific specific;
};
Gas gas(std::uint64_t seed, int dim, double heat, bool one_pressure = false) {
  Gas out;
  out.header = flash_header({"dens", "velx", "vely", "velz", "eint", "ener", "pres", "h1", "temp"});
  out.specific = specific_of(out.header, {"h1"}, true);
  out.part.mesh = octavo::testing::random_octree(seed, {.dim = dim,
                                                        .roots = {2, 2, 2},
                                                        .block = {4, dim > 1 ? 4 : 1, dim > 2 ? 4 : 1},
                                                        .max_levels = 3,
                                                        .refine = 0.4,
                                                        .max_cells = 40});
  const Octree& tree = octree_of(out.part);
  const std::size_t values = num_cells(tree) * block_size(tree);
  for (const FieldInfo& info : out.header.fields) out.part.fields.push_back(make_field(info, values));
  Random random(seed);
  for (std::size_t i = 0; i < values; ++i) {
    const auto set = [&](std::size_t f, double value) { return out.part.fields[f].as<double>()[i] = value; };
    const double dens = set(0, std::exp(4 * random.uniform() - 2));
    double kinetic = 0;
    for (std::size_t v = 1; v <= 3; ++v) kinetic += 0.5 * std::pow(set(v, random.uniform() + 0.2 * dens), 2);
    const double eint = set(4, one_pressure ? heat / dens : heat * std::exp(3 * random.uniform()));
    set(5, eint + kinetic);
    set(6, gamma_less_1 * dens * eint);
    set(7, (random.uniform() + dens) / 9);
    set(8, random.uniform());
  }
  return out;
}

Part refined(const Gas& gas, const Specific& specific) {
  FillOptions options;
  options.specific = specific;
  return refine_leaves(gas.part, options);
}

struct State {
  std::map<std::string, AllCells> of;
  double at(const std::string& name, const CellAt& cell) const { return of.at(name).all.at(cell); }
};
State state_of(const Part& part) {
  State state;
  for (const Field& field : part.fields)
    state.of[field.info.name] = cells_of_step(octavo::testing::step_of({}, {part}), field.info.name);
  return state;
}

/// The sum over the leaves of volume times density (but for the density itself) times a field.
long double total(const State& state, const std::string& name, int dim) {
  long double sum = 0;
  for (const auto& [at, dens] : state.of.at("dens").leaves) {
    const long double mass = dens * std::pow(static_cast<long double>(at[0]), -dim);
    sum += name == "dens" ? mass : mass * static_cast<long double>(state.at(name, at));
  }
  return sum;
}

double change_of(const State& before, const State& after, const std::string& name, int dim) {
  const long double a = total(before, name, dim), b = total(after, name, dim);
  return static_cast<double>(std::abs(b - a) / std::abs(a));
}

TEST(Specific, refining_keeps_mass_momentum_energy_and_species_to_rounding) {
  std::map<std::string, double> lost;  // without weights
  for (std::uint64_t seed = 0; seed < 9; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const Gas coarse = gas(seed, dim, 1);
    const State before = state_of(coarse.part), after = state_of(refined(coarse, coarse.specific));
    for (const char* name : {"dens", "velx", "vely", "velz", "ener", "h1"})
      EXPECT_LT(change_of(before, after, name, dim), 2e-15) << name << " in " << dim;
    const State plain = state_of(refined(coarse, {}));
    for (const char* name : {"velx", "ener", "h1"})
      lost[name] = std::max(lost[name], change_of(before, plain, name, dim));
    for (const auto& [at, value] : before.of.at("ener").all) ASSERT_EQ(after.at("ener", at), value);
  }
  for (const auto& [name, part] : lost) EXPECT_GT(part, 1e-3) << name;
}

TEST(Specific, energies_and_pressure_of_new_cells_belong_together) {
  // Holds even if the gas is so cold that nearly all energy is kinetic.
  for (const double heat : {1.0, 1e-3, 1e-9}) {
    const Gas coarse = gas(7, 2, heat);
    const State after = state_of(refined(coarse, coarse.specific)), before = state_of(coarse.part);
    EXPECT_LT(change_of(before, after, "ener", 2), 2e-15);
    std::size_t sloped = 0;
    for (const auto& [at, eint] : after.of.at("eint").leaves) {
      double kinetic = 0;
      for (const char* name : {"velx", "vely", "velz"}) kinetic += 0.5 * std::pow(after.at(name, at), 2);
      ASSERT_GT(eint, 0);
      ASSERT_NEAR(after.at("ener", at), eint + kinetic, 4e-15 * (eint + kinetic)) << heat;
      ASSERT_NEAR(after.at("pres", at), gamma_less_1 * after.at("dens", at) * eint, 1e-14 * after.at("pres", at));
      sloped += after.at("velx", at) != before.at("velx", {at[0] / 2, at[1] / 2, at[2] / 2, at[3] / 2});
    }
    EXPECT_GT(sloped, after.of.at("eint").leaves.size() / 20);
  }
}

TEST(Specific, velocities_stay_within_those_of_the_cell_and_its_neighbours) {
  const Gas coarse = gas(5, 3, 1);
  const State before = state_of(coarse.part), after = state_of(refined(coarse, coarse.specific));
  for (const auto& [at, value] : after.of.at("velx").leaves) {
    const CellAt up{at[0] / 2, at[1] / 2, at[2] / 2, at[3] / 2};
    double low = before.at("velx", up), high = low;
    for (std::size_t axis = 1; axis <= 3; ++axis)
      for (const std::int64_t step : {-1, 1}) {
        CellAt beside = up;
        beside[axis] += step;
        const auto found = after.of.at("velx").all.find(beside);
        if (found == after.of.at("velx").all.end()) continue;
        low = std::min(low, found->second);
        high = std::max(high, found->second);
      }
    ASSERT_GE(value, low);
    ASSERT_LE(value, high);
  }
}

TEST(Specific, a_constant_pressure_stays_so_where_the_density_jumps) {
  Gas coarse = gas(3, 2, 0.7, true);
  for (std::size_t v = 1; v <= 3; ++v)
    for (double& value : coarse.part.fields[v].as<double>()) value = 0.25;
  const State after = state_of(refined(coarse, coarse.specific));
  for (const auto& [at, eint] : after.of.at("eint").leaves)
    ASSERT_NEAR(after.at("dens", at) * eint, 0.7, 1e-15) << "density " << after.at("dens", at);
}

TEST(Specific, means_over_mass_of_refined_cells_are_the_cells_again) {
  const Gas coarse = gas(11, 3, 1);
  Part part = refined(coarse, coarse.specific);
  restrict_to_parents(part, coarse.specific);
  const State before = state_of(coarse.part), after = state_of(part);
  for (const char* name : {"dens", "velx", "ener", "h1", "temp"})
    for (const auto& [at, value] : before.of.at(name).leaves)
      ASSERT_NEAR(after.at(name, at), value, 1e-14 * (1 + std::abs(value))) << name;
  restrict_to_parents(part);  // by volume
  const State plain = state_of(part);
  double most = 0;
  for (const auto& [at, value] : before.of.at("velx").leaves)
    most = std::max(most, std::abs(plain.at("velx", at) - value));
  EXPECT_GT(most, 1e-3);
}

TEST(Specific, where_a_density_is_not_above_0_values_go_by_volume) {
  Gas coarse = gas(2, 2, 1);
  for (double& value : coarse.part.fields[0].as<double>()) value = -value;
  const Part weighted = refined(coarse, coarse.specific), plain = refined(coarse, {});
  for (std::size_t f = 0; f < plain.fields.size(); ++f) EXPECT_EQ(weighted.fields[f].bytes, plain.fields[f].bytes);
}

TEST(Specific, codes_have_their_own_names_for_it) {
  const Specific flash =
      specific_of(flash_header({"dens", "velx", "vely", "ener", "eint", "entr", "pres", "gamc"}), {}, true);
  EXPECT_EQ(flash.density, "dens");
  EXPECT_THAT(flash.velocity, ElementsAre("velx", "vely"));
  EXPECT_EQ(flash.internal + " " + flash.total + " " + flash.pressure, "eint ener pres");
  EXPECT_THAT(flash.others, ElementsAre("entr"));

  Header amrex = flash_header({"density", "x_velocity", "total_energy", "internal_energy", "pressure"});
  amrex.code = "AMReX";  // codes of this format store energy per volume under these names
  EXPECT_THAT(per_mass(specific_of(amrex, {}, false)), ElementsAre("x_velocity"));
  EXPECT_EQ(specific_of(amrex, {}, false).pressure, "");
  EXPECT_THAT(per_mass(specific_of(amrex, {"total_energy"}, false)), ElementsAre("x_velocity", "total_energy"));

  EXPECT_THAT(per_mass(specific_of(flash_header({"velx", "ener"}), {}, true)), IsEmpty());  // no density
  EXPECT_THROW(specific_of(flash_header({"velx"}), {"velx"}, true), base::Error);
  EXPECT_THROW(specific_of(flash_header({"dens"}), {"h1"}, true), base::Error);
}

TEST(Specific, partners_are_what_makes_a_value_the_same_whatever_is_asked_for) {
  const Header header = flash_header({"temp", "velx", "dens", "eint", "pres", "h1"});
  const Specific specific = specific_of(header, {"h1"}, true);
  EXPECT_THAT(with_specific(header.fields, specific, {0}), ElementsAre(0));
  EXPECT_THAT(with_specific(header.fields, specific, {2}), ElementsAre(2));
  EXPECT_THAT(with_specific(header.fields, specific, {0, 1}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(with_specific(header.fields, specific, {5}), ElementsAre(2, 5));
}

}  // namespace
}  // namespace octavo::mesh
