#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/cover.hpp"
#include "octavo/formats/ramses/file_tree.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "octavo/formats/ramses/variables.hpp"
#include "octavo/formats/ramses/writer.hpp"
#include "octavo/mesh/tree/split.hpp"
#include "tests/support/ramses_check.hpp"
#include "tests/support/ramses_fixture.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

class RamsesDomains : public ::testing::Test {
 protected:
  RamsesDomains() {
    const char* data = std::getenv("OCTAVO_DATA");
    root_ = data != nullptr ? fs::path(data) : fs::path(__FILE__).parent_path() / "../../../../shared/data";
  }
  fs::path real(const std::string& set) const { return root_ / "ramses" / set / "output_00002"; }
  /// Writes a new output of the step; returns its path.
  fs::path written(const mesh::Dataset& step, int domains, WriteOptions options = {}) {
    const fs::path directory = dir_ / ("written_" + std::to_string(++count_)) / "output_00002";
    options.number = 2;
    options.domains = domains;
    write(step, directory, options);
    return directory;
  }
  testing::TemporaryFolder folder_;
  fs::path dir_ = folder_.path(), root_;
  int count_ = 0;
};

std::vector<std::string> rows_of(const mesh::Particles& particles) {
  std::vector<std::string> rows(static_cast<std::size_t>(particles.count));
  for (const mesh::Field& attribute : particles.attributes) {
    if (attribute.info.name == "partp") continue;  // a number of the file's own
    const std::size_t width = mesh::size_of(attribute.info.type);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].append(reinterpret_cast<const char*>(attribute.bytes.data()) + i * width, width);
  }
  return rows;
}

/// All of a step that does not depend on who owns it: each leaf with its values, each particle, sorted.
struct Contents {
  std::vector<std::string> leaves, particles;
};
Contents contents_of(const mesh::Dataset& step) {
  Contents contents;
  mesh::Request everything;
  everything.particles = true;
  for (int p = 0; p < step.num_parts; ++p) {
    const mesh::Part part = step.read(p, everything);
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    const auto offsets = mesh::level_offsets(tree);
    auto cells = mesh::root_coordinates(tree);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      const auto l = static_cast<std::size_t>(level);
      if (level > 0) cells = mesh::child_coordinates(tree, level - 1, cells);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!tree.owned[l][i] || tree.refined[l][i]) continue;
        std::string& leaf = contents.leaves.emplace_back(reinterpret_cast<const char*>(&level), sizeof level);
        leaf.append(reinterpret_cast<const char*>(cells[i].data()), sizeof cells[i]);
        for (const mesh::Field& field : part.fields) {
          const std::size_t width = mesh::size_of(field.info.type);
          leaf.append(reinterpret_cast<const char*>(field.bytes.data()) + (offsets[l] + i) * width, width);
        }
      }
    }
    for (const mesh::Particles& particles : part.particles) {
      auto rows = rows_of(particles);
      contents.particles.insert(contents.particles.end(), rows.begin(), rows.end());
    }
  }
  std::sort(contents.leaves.begin(), contents.leaves.end());
  std::sort(contents.particles.begin(), contents.particles.end());
  return contents;
}

void expect_same(const mesh::Dataset& after, const mesh::Dataset& before) {
  EXPECT_EQ(after.levels, before.levels);
  EXPECT_EQ(after.header.time, before.header.time);
  EXPECT_EQ(after.header.periodic, before.header.periodic);
  const Contents a = contents_of(after), b = contents_of(before);
  EXPECT_TRUE(a.leaves == b.leaves) << a.leaves.size() << " leaves for " << b.leaves.size();
  EXPECT_TRUE(a.particles == b.particles) << a.particles.size() << " particles for " << b.particles.size();
}

class RamsesSets : public RamsesDomains, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(real(GetParam()))) GTEST_SKIP() << "no real data at " << root_;
  }
};

TEST_P(RamsesSets, any_number_of_domains_holds_the_same_step) {
  const auto step = open(real(GetParam()));
  for (const int domains : {1, 2, 3, 7, 16}) {
    const auto path = written(step, domains);
    const auto again = open(path);
    EXPECT_EQ(again.num_parts, domains);
    expect_same(again, step);
    EXPECT_THAT(testing::check_ramses_output(path, 2), ::testing::IsEmpty()) << domains << " domains";
    if (domains == step.num_parts) continue;  // its own bounds
    // Shares differ by the cells of one oct at most.
    std::int64_t least = INT64_MAX, most = 0;
    for (int d = 0; d < domains; ++d) {
      const auto part = again.read(d, {});
      std::int64_t leaves = 0;
      const auto& tree = std::get<mesh::Octree>(part.mesh);
      for (int level = 0; level < mesh::num_levels(tree); ++level)
        leaves += static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level));
      least = std::min(least, leaves);
      most = std::max(most, leaves);
    }
    EXPECT_LE(most - least, 2 * (std::int64_t{1} << step.header.dim) * static_cast<int>(step.levels.size()));
  }
}

TEST_P(RamsesSets, there_and_back_holds_the_same_step) {
  const auto step = open(real(GetParam()));
  const auto there = open(written(step, 5));
  expect_same(open(written(there, step.num_parts)), step);
}

// The one judge of which octs a file must hold is RAMSES itself.
TEST_P(RamsesSets, with_the_same_bounds_each_file_holds_the_octs_that_RAMSES_wrote) {
  const auto path = written(open(real(GetParam())), 0);
  EXPECT_THAT(testing::check_ramses_output(path, 2), ::testing::IsEmpty());
  for (const auto& entry : fs::directory_iterator(real(GetParam()))) {
    const auto name = entry.path().filename();
    if (!name.string().starts_with("amr_")) continue;
    const auto theirs = testing::read_amr_for_check(entry.path()), ours = testing::read_amr_for_check(path / name);
    EXPECT_EQ(ours.keys, theirs.keys);
    EXPECT_EQ(ours.coarse, theirs.coarse);
    EXPECT_EQ(ours.coarse_cpu, theirs.coarse_cpu);
    EXPECT_EQ(ours.numbl, theirs.numbl);
    EXPECT_EQ(ours.numbb, theirs.numbb);
    EXPECT_EQ(ours.ngridmax, theirs.ngridmax);
    const auto describe = [](const testing::CheckedFile& file) {
      std::vector<std::tuple<int, int, testing::Place, testing::Ints, testing::Ints, testing::Ints>> octs;
      const auto there = [](testing::Ints values) {
        for (auto& value : values) value = value != 0 ? 1 : 0;
        return values;
      };
      for (const auto& [index, oct] : file.octs)
        octs.emplace_back(oct.level, oct.list, oct.centre, there(oct.nbor), there(oct.son), oct.cpu);
      std::sort(octs.begin(), octs.end());
      return octs;
    };
    EXPECT_TRUE(describe(ours) == describe(theirs)) << name;
  }
}

/// The centres of a domain's own octs in the order of its file: level after level.
std::vector<testing::Place> own_octs(const fs::path& output, int domain) {
  char name[32];
  std::snprintf(name, sizeof name, "amr_00002.out%05d", domain + 1);
  const testing::CheckedFile file = testing::read_amr_for_check(output / name);
  const auto lists = static_cast<std::size_t>(file.ncpu + file.regions);
  std::vector<testing::Place> places;
  for (std::size_t list = static_cast<std::size_t>(domain); list < file.order.size(); list += lists)
    for (const std::int32_t oct : file.order[list]) places.push_back(file.octs.at(oct).centre);
  return places;
}

// RAMSES draws random numbers for one oct after another: stars form in the same places only if the order stays.
TEST_P(RamsesSets, with_the_same_bounds_a_domain_s_octs_keep_their_order) {
  const auto step = open(real(GetParam()));
  const auto path = written(step, 0), others = written(step, step.num_parts + 1), again = written(open(path), 0);
  for (int d = 0; d < step.num_parts; ++d) {
    EXPECT_EQ(own_octs(path, d), own_octs(real(GetParam()), d)) << d;
    EXPECT_EQ(own_octs(again, d), own_octs(real(GetParam()), d)) << d;
  }
  EXPECT_THAT(testing::check_ramses_output(others, 2), ::testing::IsEmpty());
}

TEST_F(RamsesDomains, an_order_that_is_not_one_of_the_octs_is_passed_over) {
  if (!fs::exists(real("sedov3d_4ranks"))) GTEST_SKIP() << "no real data at " << root_;
  for (const std::size_t change : {0U, 1U, 2U}) {
    auto step = open(real("sedov3d_4ranks"));
    step.read = [read = step.read, change](int domain, const mesh::Request& request) {
      mesh::Part part = read(domain, request);
      if (!request.opaque) return part;
      OctOrder order = unpack_order(part.opaque.at(order_name));
      if (change == 0) order.pop_back();
      if (change == 1) order.back() = order.front() + 1000000;
      if (change == 2) order[order.size() - 1] = order[order.size() - 2];
      part.opaque[order_name] = pack_order(order);
      return part;
    };
    const auto path = written(step, 0);
    expect_same(open(path), step);
    EXPECT_THAT(testing::check_ramses_output(path, 2), ::testing::IsEmpty()) << change;
  }
}

TEST_P(RamsesSets, texts_come_along) {
  const auto path = written(open(real(GetParam())), 3);
  std::ifstream ours(path / "namelist.txt"), theirs(real(GetParam()) / "namelist.txt");
  ASSERT_TRUE(theirs.good());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(ours), {}),
            std::string(std::istreambuf_iterator<char>(theirs), {}));
}

INSTANTIATE_TEST_SUITE_P(Sets, RamsesSets,
                         ::testing::Values("sedov3d_4ranks", "implosion2d_2ranks", "dm_gas_gravity3d_3ranks",
                                           "tracer2d_3ranks"),
                         [](const auto& set) { return set.param; });

// Gas tracers sit in the middle of a leaf; partp is its number.
TEST_F(RamsesDomains, tracers_are_attached_to_the_leaf_they_are_in) {
  if (!fs::exists(real("tracer2d_3ranks"))) GTEST_SKIP() << "no real data at " << root_;
  const auto path = written(open(real("tracer2d_3ranks")), 5);
  const auto again = open(path);
  mesh::Request everything;
  everything.particles = true;
  std::size_t tracers = 0;
  for (int d = 0; d < 5; ++d) {
    const auto file = testing::read_amr_for_check(path / ("amr_00002.out0000" + std::to_string(d + 1)));
    const auto part = again.read(d, everything);
    const auto find = [&](const char* name) -> const mesh::Field& {
      for (const auto& field : part.particles[0].attributes)
        if (field.info.name == name) return field;
      throw std::runtime_error(name);
    };
    const auto x = find("position_x").as<double>(), y = find("position_y").as<double>();
    const auto partp = find("partp").as<std::int32_t>();
    const auto family = find("family").as<std::int8_t>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (family[i] != 0) continue;
      ++tracers;
      const int place = partp[i] - file.ncoarse() - 1, c = place / file.ngridmax;
      const auto& oct = file.octs.at(place % file.ngridmax + 1);
      EXPECT_EQ(oct.list, d);
      EXPECT_EQ(oct.son[static_cast<std::size_t>(c)], 0);
      const double size = std::ldexp(1.0, -oct.level - 1), box = again.header.hi[0];
      EXPECT_NEAR(x[i] / box, oct.centre[0] + ((c & 1) - 0.5) * size, size / 2);
      EXPECT_NEAR(y[i] / box, oct.centre[1] + ((c >> 1) - 0.5) * size, size / 2);
    }
  }
  EXPECT_GT(tracers, 1000U);
}

TEST_F(RamsesDomains, ranks_draw_different_random_numbers) {
  if (!fs::exists(real("tracer2d_3ranks"))) GTEST_SKIP() << "no real data at " << root_;
  const auto path = written(open(real("tracer2d_3ranks")), 9);
  std::set<testing::Ints> seeds;
  for (int d = 1; d <= 9; ++d) {
    testing::Records in(path / ("part_00002.out0000" + std::to_string(d)));
    in.skip(3);
    const auto both = in.next<std::int32_t>();
    ASSERT_EQ(both.size(), 8U);
    EXPECT_EQ(both[0], -1);     // none drawn yet: RAMSES seeds its ranks
    EXPECT_EQ(both[4] % 2, 1);  // the generator multiplies: an even seed would die out
    for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(both[i], both[i] & 4095);
    seeds.insert(both);
  }
  EXPECT_EQ(seeds.size(), 9U);
}

/// A step of parts that own cells, not whole octs, as a store has them after a restart.
mesh::Dataset split_step(std::uint64_t seed, int parts, bool periodic) {
  testing::Random random(seed);
  const int dim = static_cast<int>(seed % 3) + 1;
  mesh::Index3 roots{2, 2, 2};
  for (std::size_t a = static_cast<std::size_t>(dim); a < 3; ++a) roots[a] = 1;
  if (seed % 2 == 0) roots[0] = 4;
  mesh::Part whole{0, testing::random_octree(seed, {.dim = dim, .roots = roots, .max_cells = 2500}), {}, {}};
  const auto& tree = std::get<mesh::Octree>(whole.mesh);
  mesh::Dataset step;
  step.header.dim = dim;
  step.header.roots = roots;
  step.header.level_origin = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    step.header.hi[a] = 0.5 * static_cast<double>(roots[a]);
    step.header.periodic[a] = periodic && a < static_cast<std::size_t>(dim);
  }
  std::vector<std::string> names{"density"};
  for (int axis = 0; axis < dim; ++axis) names.push_back(std::string("velocity_") + "xyz"[axis]);
  names.emplace_back("pressure");
  for (const std::string& name : names) {
    whole.fields.push_back(
        mesh::make_field({name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}, mesh::num_cells(tree)));
    for (double& value : whole.fields.back().as<double>()) value = random.uniform();
    step.header.fields.push_back(whole.fields.back().info);
  }
  for (int level = 0; level < mesh::num_levels(tree); ++level)
    step.levels.push_back({level + 1, static_cast<std::int64_t>(mesh::num_owned(tree, level)),
                           static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level))});
  step.num_parts = parts;
  const std::vector<mesh::Part> wholes{whole};
  const auto shares = mesh::split(wholes, mesh::plan_split(wholes, parts, mesh::Curve::morton));
  step.read = [shares](int part, const mesh::Request& request) {
    mesh::Part share = shares[static_cast<std::size_t>(part)];
    if (request.fields && request.fields->empty()) share.fields.clear();
    return share;
  };
  return step;
}

// Coarse levels are read by a request for those; these made-up steps are all coarse, and so give all they have.
TEST_F(RamsesDomains, parts_that_share_octs_become_whole_ones) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto step = split_step(seed, static_cast<int>(seed % 4) + 1, seed % 5 != 0);
    for (const int domains : {1, 2}) {
      const auto path = written(step, domains);
      expect_same(open(path), step);
      EXPECT_THAT(testing::check_ramses_output(path, 2), ::testing::IsEmpty()) << "seed " << seed;
    }
  }
}

TEST_F(RamsesDomains, walls_keep_their_side_and_their_octs) {
  for (const std::size_t axis : {0U, 1U})
    for (const bool low : {true, false}) {
      testing::RamsesFixture f{.ndim = 2, .ncpu = 2, .levels = 4};
      (low ? f.wall_lo : f.wall_hi)[axis] = 1;
      fs::remove_all(dir_ / "fixture");
      testing::FixtureWriter(f, dir_ / "fixture").write();
      const auto step = open(dir_ / "fixture");
      for (const int domains : {0, 1, 5}) {
        const auto path = written(step, domains);
        const auto again = open(path);
        expect_same(again, step);
        for (const char* name : {"coarse_cells", "coarse_boundary", "nboundary"})
          EXPECT_EQ(again.header.attributes.at(name), step.header.attributes.at(name)) << name;
        EXPECT_THAT(testing::check_ramses_output(path, 2), ::testing::IsEmpty());
      }
    }
}

/// Octs in walls by level and place, with all their values.
std::map<std::vector<double>, std::string> walls_of(const mesh::Dataset& step, int domain) {
  const mesh::Particles walls = step.read_walls(domain);
  std::map<std::vector<double>, std::string> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(walls.count); ++i) {
    std::vector<double> where;
    std::string values;
    for (const mesh::Field& field : walls.attributes) {
      const bool place = field.info.name == "level" || field.info.name.starts_with("position_");
      const std::size_t width = mesh::size_of(field.info.type) * static_cast<std::size_t>(field.info.components);
      if (place)
        where.push_back(mesh::visit_values(field, [&](auto column) { return static_cast<double>(column[i]); }));
      else
        values.append(reinterpret_cast<const char*>(field.bytes.data()) + i * width, width);
    }
    all[where] = values;
  }
  return all;
}

// RAMSES extrapolates the potential in walls in time: what stands there is no copy of anything else.
TEST_F(RamsesDomains, values_in_walls_are_those_of_the_input) {
  for (const std::size_t axis : {0U, 1U}) {
    testing::RamsesFixture f{.ndim = 2, .ncpu = 3, .levels = 4};
    f.grav = 3;
    f.wall_lo[axis] = f.wall_hi[axis] = 1;
    fs::remove_all(dir_ / "fixture");
    testing::FixtureWriter(f, dir_ / "fixture").write();
    const auto step = open(dir_ / "fixture");
    std::map<std::vector<double>, std::string> before;
    for (int d = 0; d < 3; ++d) before.merge(walls_of(step, d));
    ASSERT_EQ(before.size(), 2U);
    for (const int domains : {0, 1, 5}) {
      const auto again = open(written(step, domains));
      std::map<std::vector<double>, std::string> after;
      for (int d = 0; d < again.num_parts; ++d) {
        const auto walls = walls_of(again, d);
        for (const auto& [where, values] : walls)
          if (const auto found = before.find(where); found != before.end()) {
            EXPECT_TRUE(found->second == values) << domains << " domains, level " << where.back();
          }
        after.insert(walls.begin(), walls.end());
      }
      for (const auto& [where, values] : before) EXPECT_TRUE(after.contains(where)) << domains << " domains";
    }
  }
}

TEST_P(RamsesSets, walls_of_kept_domains_are_the_same_octs_with_the_same_bytes) {
  const auto step = open(real(GetParam()));
  if (!step.read_walls) GTEST_SKIP() << "no walls";
  const auto again = open(written(step, 0));
  for (int d = 0; d < step.num_parts; ++d) EXPECT_TRUE(walls_of(again, d) == walls_of(step, d)) << d;
}

TEST_F(RamsesDomains, a_missing_variable_is_named_and_nothing_is_written) {
  auto step = split_step(4, 2, true);
  const auto name_of_last = step.header.fields.back().name;
  step.header.fields.pop_back();
  try {
    write(step, dir_ / "output_00001", {.progress = {}});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unsupported);
    EXPECT_THAT(error.what(), ::testing::HasSubstr(name_of_last));
  }
  EXPECT_FALSE(fs::exists(dir_ / "output_00001"));
  // A step of RAMSES lists the variables of its files.
  testing::FixtureWriter({.ncpu = 2, .levels = 3}, dir_ / "fixture").write();
  auto partial = open(dir_ / "fixture");
  std::erase_if(partial.header.fields, [](const mesh::FieldInfo& field) { return field.name == "velocity_y"; });
  try {
    write(partial, dir_ / "output_00001", {.progress = {}});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unsupported);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("velocity_y of its hydro files"));
  }
}

TEST(RamsesVariables, come_in_the_order_of_the_solver) {
  mesh::Header header;
  header.dim = 3;
  const auto names_in = [&](const std::vector<std::string>& names) {
    header.fields.clear();
    for (const std::string& name : names)
      header.fields.push_back({name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0});
    std::vector<std::string> order;
    for (const WrittenVariable& variable : arrange_variables(header).hydro) order.push_back(variable.name);
    return order;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(names_in({"scalar_01", "pressure", "velocity_z", "velocity_x", "metallicity", "density", "velocity_y",
                        "non_thermal_energy_01", "scalar_02"}),
              ElementsAre("density", "velocity_x", "velocity_y", "velocity_z", "non_thermal_energy_01", "pressure",
                          "metallicity", "scalar_01", "scalar_02"));
  EXPECT_THAT(names_in({"B_z_right", "B_y_right", "B_x_right", "B_x_left", "B_y_left", "B_z_left", "pressure",
                        "velocity_z", "velocity_x", "density", "velocity_y"}),
              ElementsAre("density", "velocity_x", "velocity_y", "velocity_z", "B_x_left", "B_y_left", "B_z_left",
                          "B_x_right", "B_y_right", "B_z_right", "pressure"));
  // In two dimensions gas without a field has two velocities; with one it has three, and B_z of cells is on both sides.
  header.dim = 2;
  EXPECT_THAT(names_in({"density", "pressure", "velocity_x", "velocity_y", "velocity_z"}),
              ElementsAre("density", "velocity_x", "velocity_y", "pressure", "velocity_z"));
  EXPECT_THAT(arrange_variables(header).notes, ElementsAre(::testing::HasSubstr("NPSCAL=1: velocity_z")));
  names_in({"density", "pressure", "velocity_x", "velocity_y", "velocity_z", "B_x_left", "B_x_right", "B_y_left",
            "B_y_right", "B_z"});
  const WrittenVariables magnetic = arrange_variables(header);
  EXPECT_TRUE(magnetic.magnetic);
  EXPECT_EQ(magnetic.hydro.at(6), (WrittenVariable{"B_z_left", "B_z"}));
  EXPECT_EQ(magnetic.hydro.at(9), (WrittenVariable{"B_z_right", "B_z"}));
  EXPECT_EQ(magnetic.hydro.at(10).name, "pressure");
  EXPECT_THROW(names_in({"density", "pressure", "velocity_x", "velocity_y", "B_x", "B_y"}), Error);
  EXPECT_THROW(names_in({"phi"}), Error);
  EXPECT_THAT(names_in({"potential"}), ElementsAre());
}

TEST(RamsesVariables, forces_that_are_lacking_are_zeros) {
  mesh::Header header;
  header.dim = 2;
  for (const char* name : {"potential", "pressure", "velocity_y", "density", "velocity_x"})
    header.fields.push_back({name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0});
  const WrittenVariables variables = arrange_variables(header);
  EXPECT_EQ(variables.grav,
            (std::vector<WrittenVariable>{{"potential", "potential"}, {"force_x", ""}, {"force_y", ""}}));
  EXPECT_THAT(variables.notes, ::testing::ElementsAre(::testing::HasSubstr("force_x, force_y: zeros")));
}

TEST_F(RamsesDomains, magnetic_fields_and_photons_keep_their_files_and_names) {
  testing::RamsesFixture f{.ncpu = 3, .levels = 4};
  f.hydro = {"density",  "velocity_x", "velocity_y", "velocity_z", "B_x_left", "B_y_left",
             "B_z_left", "B_x_right",  "B_y_right",  "B_z_right",  "pressure"};
  f.grav = 4;
  f.rt = 8;
  f.particles = true;
  testing::FixtureWriter(f, dir_ / "fixture").write();
  const auto step = open(dir_ / "fixture");
  for (const int domains : {0, 2, 6}) {
    const auto path = written(step, domains);
    const auto again = open(path);
    EXPECT_EQ(again.header.fields, step.header.fields);
    for (const char* name : {"hydro_variables", "grav_variables", "rt_variables"})
      EXPECT_EQ(again.header.attributes.at(name), step.header.attributes.at(name)) << name;
    expect_same(again, step);
    EXPECT_THAT(testing::check_ramses_output(path, 2), ::testing::IsEmpty());
  }
}

TEST_F(RamsesDomains, precision_key_width_and_record_layout_stay_as_they_are) {
  for (const bool quad : {false, true}) {
    testing::RamsesFixture f{.ncpu = 3, .levels = 4};
    f.big_endian = quad;
    f.marker = quad ? 4 : 8;
    f.quad_keys = quad;
    f.real_bytes = quad ? 8 : 4;
    fs::remove_all(dir_ / "fixture");
    testing::FixtureWriter(f, dir_ / "fixture").write();
    const auto step = open(dir_ / "fixture");
    const auto again = open(written(step, 4));
    EXPECT_EQ(again.header.fields, step.header.fields);
    EXPECT_EQ(again.header.attributes.at("real_bytes"), step.header.attributes.at("real_bytes"));
    EXPECT_EQ(again.header.attributes.contains("bound_key_low"), quad);
    EXPECT_EQ(again.header.attributes.contains("big_endian"), quad);
    EXPECT_EQ(again.header.attributes.contains("record_marker"), !quad);
    expect_same(again, step);
  }
}

// A domain is made from the parts near it: this bounds the time and the memory.
TEST_F(RamsesDomains, a_domain_is_made_from_the_parts_near_it) {
  const int levels = 9, domains = 32;
  mesh::Octree tree{.dim = 2, .roots = {2, 2, 1}, .block = {1, 1, 1}, .refined = {}, .owned = {}};
  for (int level = 0; level < levels; ++level) {
    tree.refined.emplace_back(std::size_t{4} << (2 * level), level + 1 < levels);
    tree.owned.emplace_back(std::size_t{4} << (2 * level), true);
  }
  mesh::Dataset step;
  step.header.dim = 2;
  step.header.roots = tree.roots;
  step.header.level_origin = 1;
  step.header.periodic = {true, true, false};
  step.num_parts = domains;
  for (int level = 0; level < levels; ++level)
    step.levels.push_back(
        {level + 1, std::int64_t{4} << (2 * level), level + 1 < levels ? 0 : std::int64_t{4} << (2 * level)});
  const std::vector<mesh::Part> whole{{0, tree, {}, {}}};
  const auto shares = mesh::split(whole, mesh::plan_split(whole, domains, mesh::Curve::hilbert));
  int reads = 0;
  step.read = [&](int part, const mesh::Request&) {
    ++reads;
    return shares[static_cast<std::size_t>(part)];
  };
  const auto path = written(step, domains, {.memory = 1, .progress = {}});
  EXPECT_EQ(open(path).levels, step.levels);
  // Two passes over all parts, then about nine neighbours for each of 32 domains. Reading all parts for each domain
  // would take 1024.
  EXPECT_LT(reads, 2 * domains + 12 * domains);
}

/// A full square of cells down to a level, one part, with the variables of a magnetic run or without.
mesh::Dataset full_square(int levels, bool magnetic) {
  mesh::Part whole;
  mesh::Octree tree{.dim = 2, .roots = {2, 2, 1}, .block = {1, 1, 1}, .refined = {}, .owned = {}};
  mesh::Dataset step;
  for (int level = 0; level < levels; ++level) {
    tree.refined.emplace_back(std::size_t{4} << (2 * level), level + 1 < levels);
    tree.owned.emplace_back(std::size_t{4} << (2 * level), true);
    step.levels.push_back(
        {level + 1, std::int64_t{4} << (2 * level), level + 1 < levels ? 0 : std::int64_t{4} << (2 * level)});
  }
  std::vector<std::string> names{"density", "velocity_x", "velocity_y", "pressure"};
  if (magnetic)
    names = {"density",  "velocity_x", "velocity_y", "velocity_z", "B_x_left", "B_y_left",
             "B_z_left", "B_x_right",  "B_y_right",  "B_z_right",  "pressure"};
  for (const std::string& name : names) {
    step.header.fields.push_back({name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0});
    whole.fields.push_back(mesh::make_field(step.header.fields.back(), mesh::num_cells(tree)));
  }
  whole.mesh = tree;
  step.header.dim = 2;
  step.header.roots = tree.roots;
  step.header.level_origin = 1;
  step.header.periodic = {true, true, false};
  step.num_parts = 1;
  step.read = [whole](int, const mesh::Request&) { return whole; };
  return step;
}

/// The cells that RAMSES' authorize_fine marks, on a full periodic square of cells: those of the domain's octs, those
/// that touch its stretch of the curve, and `layers` times those with 1, then 2 marked neighbours.
std::vector<bool> authorised(const testing::CheckedFile& file, int domain, int level, int layers) {
  const int n = 1 << level;
  std::vector<bool> marks(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), false), own = marks;
  const auto at = [n](int x, int y) { return static_cast<std::size_t>((x + n) % n + n * ((y + n) % n)); };
  const auto curve_key = [&](std::uint32_t x, std::uint32_t y) {
    return mesh::first_key(mesh::Curve::hilbert, 2, file.levels + 1, level, {x, y, 0}).low;
  };
  const double size = std::ldexp(1.0, 2 * (file.levels + 1 - level));
  const auto low = file.keys[static_cast<std::size_t>(domain)], high = file.keys[static_cast<std::size_t>(domain) + 1];
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const auto key = static_cast<double>(curve_key(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)));
      // The owner of the father cell's centre owns the oct.
      const auto centre = mesh::centre_key(mesh::Curve::hilbert, 2, file.levels + 1, level - 1,
                                           {static_cast<std::uint32_t>(x) / 2, static_cast<std::uint32_t>(y) / 2, 0});
      const double father = mesh::to_double(centre);
      own[at(x, y)] = low <= father && father < high;
      marks[at(x, y)] = own[at(x, y)] || (key + size > low && key < high);
    }
  for (int layer = 0; layer < layers; ++layer)
    for (int least = 1; least <= 2; ++least) {
      std::vector<bool> wider = marks;
      for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x)
          if (!own[at(x, y)] &&
              marks[at(x - 1, y)] + marks[at(x + 1, y)] + marks[at(x, y - 1)] + marks[at(x, y + 1)] >= least)
            wider[at(x, y)] = true;
      marks = wider;
    }
  return marks;
}

// RAMSES' mhd solver has nexpand_bound = 2.
TEST_F(RamsesDomains, a_magnetic_run_has_two_layers_of_ghosts) {
  const int levels = 6;
  for (const bool magnetic : {false, true}) {
    const auto path = written(full_square(levels, magnetic), 5, {.memory = 1, .progress = {}});
    for (int d = 0; d < 5; ++d) {
      const auto file = testing::read_amr_for_check(path / ("amr_00002.out0000" + std::to_string(d + 1)));
      const int level = levels - 1, n = 1 << level;
      const auto marks = authorised(file, d, level, magnetic ? 2 : 1);
      std::vector<bool> found(marks.size(), false);
      for (const auto& [index, oct] : file.octs)
        if (oct.level == level)
          found[static_cast<std::size_t>(oct.centre[0] * n) +
                static_cast<std::size_t>(oct.centre[1] * n) * static_cast<std::size_t>(n)] = true;
      EXPECT_TRUE(found == marks) << (magnetic ? "magnetic" : "gas") << ", domain " << d << ": "
                                  << std::count(found.begin(), found.end(), true) << " octs for "
                                  << std::count(marks.begin(), marks.end(), true);
    }
  }
}

// A cell's centre on a wall belongs to the lower side, as cmp_bisection_cpumap has it.
// As cmp_bisection_cpumap has it. RAMSES' walls are multiples of half a finest cell, and so may be centres.
TEST(RamsesOwners, a_centre_on_a_wall_of_a_bisection_is_on_its_lower_side) {
  const Owners owners{.ordering = Ordering::bisection,
                      .dim = 2,
                      .domains = 2,
                      .bits = 4,
                      .bounds = {},
                      .planes = {},
                      .box_min = {0, 0.1875, 0, 0},
                      .box_max = {0.1875, 1, 1, 1}};
  for (std::uint32_t x = 0; x < 8; ++x)
    for (std::uint32_t y = 0; y < 8; ++y) EXPECT_EQ(owners.of(2, {x, y, 0}), (x + 0.5) / 8 <= 0.1875 ? 0 : 1) << x;
}

TEST_F(RamsesDomains, an_ordering_is_kept_or_refused) {
  testing::RamsesFixture f{.ncpu = 3, .levels = 4};
  f.ordering = "planar";
  testing::FixtureWriter(f, dir_ / "planar").write();
  auto planar = open(dir_ / "planar");
  planar.header.attributes["bound_key"] = std::vector<double>{0, 0.4375, 1.5, 2};  // the fixture's are Hilbert keys
  for (const int domains : {0, 1, 4}) {
    const auto again = open(written(planar, domains));
    EXPECT_EQ(again.header.attributes.at("ordering"), mesh::Attribute(std::string("planar")));
    expect_same(again, planar);
    const auto keys = std::get<std::vector<double>>(again.header.attributes.at("bound_key"));
    if (domains == 0) {
      EXPECT_THAT(keys, ::testing::ElementsAre(0, 0.4375, 1.5, 2));
    }
    EXPECT_EQ(keys.front(), 0);
    EXPECT_EQ(keys.back(), 2);
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  }
  WriteOptions hilbert;
  hilbert.ordering = "hilbert";
  EXPECT_EQ(open(written(planar, 0, hilbert)).header.attributes.at("ordering"),
            mesh::Attribute(std::string("hilbert")));

  const auto refused = [&](const char* ordering, int domains) {
    fs::remove_all(dir_ / "fixture");
    f.ordering = ordering;
    testing::FixtureWriter(f, dir_ / "fixture").write();
    try {
      written(open(dir_ / "fixture"), domains);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("--ordering hilbert"));
      return error.kind() == Kind::unsupported;
    }
    return false;
  };
  EXPECT_TRUE(refused("angular", 0));
  EXPECT_TRUE(refused("angular", 2));
  EXPECT_FALSE(refused("bisection", 0));
  EXPECT_TRUE(refused("bisection", 2));
}

TEST_F(RamsesDomains, info_has_the_step_and_a_header_is_there_without_particles) {
  testing::FixtureWriter({.ncpu = 2, .levels = 3}, dir_ / "fixture").write();
  const auto path = written(open(dir_ / "fixture"), 3);
  const auto text_of = [](const fs::path& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_THAT(text_of(path / "info_00002.txt"), ::testing::HasSubstr("nstep_coarse=          7\n"));
  const std::string header = text_of(path / "header_00002.txt");
  EXPECT_THAT(header, ::testing::HasSubstr("        cloud         0\n"));
  EXPECT_THAT(header, ::testing::HasSubstr("pos vel mass iord level family tag"));
  // noutput, iout, ifout: RAMSES' next output is number 3.
  testing::Records amr(path / "amr_00002.out00001");
  amr.skip(8);
  EXPECT_EQ(amr.next<std::int32_t>().at(2), 3);
}

TEST_F(RamsesDomains, memory_for_one_domain_or_for_all_makes_the_same_files) {
  if (!fs::exists(real("dm_gas_gravity3d_3ranks"))) GTEST_SKIP() << "no real data at " << root_;
  const auto step = open(real("dm_gas_gravity3d_3ranks"));
  const auto one = written(step, 6, {.memory = 1, .progress = {}}), all = written(step, 6);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(one)) {
    const auto bytes = [](const fs::path& path) {
      std::ifstream in(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_TRUE(bytes(entry.path()) == bytes(all / entry.path().filename())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 18);
}

// RAMSES moves particles on and writes before it sorts them again: some are in another rank's leaf.
TEST_F(RamsesDomains, particles_need_not_be_where_their_part_is) {
  testing::RamsesFixture f{.ncpu = 3, .levels = 4};
  f.particles = true;
  testing::FixtureWriter(f, dir_ / "fixture").write();
  auto step = open(dir_ / "fixture");
  const auto read = step.read;
  step.read = [read](int part, const mesh::Request& request) {
    auto out = read(part, request);
    mesh::Request particles;
    particles.fields.emplace();
    particles.particles = true;
    if (request.particles) out.particles = read((part + 1) % 3, particles).particles;
    return out;
  };
  for (const int domains : {0, 1, 5}) expect_same(open(written(step, domains)), step);
}

TEST_F(RamsesDomains, a_cover_holds_all_that_its_domain_s_file_can_hold) {
  Owners owners;
  owners.dim = 2;
  owners.domains = 3;
  owners.bits = 8;
  owners.bounds = {{0, 0}, {0, 700 * 16 + 5}, {0, 2111 * 16}, mesh::curve_end(2, 8)};
  mesh::Header header;
  header.dim = 2;
  header.roots = {2, 2, 1};
  header.periodic = {true, true, false};
  for (int d = 0; d < 3; ++d) {
    const DomainCover cover = cover_of(owners, header, d);
    for (int level = 1; level < 7; ++level) {
      std::size_t held = 0;
      const auto width = 1U << level;
      for (std::uint32_t y = 0; y < width; ++y)
        for (std::uint32_t x = 0; x < width; ++x) {
          if (!may_hold(cover, owners, level, box_of(owners, level, {x, y, 0}))) continue;
          ++held;
        }
      for (std::uint32_t y = 0; y < width; ++y)
        for (std::uint32_t x = 0; x < width; ++x)
          for (const std::uint32_t step : {0U, 1U, 2U, 3U})
            if (owners.reaches(level - 1, {(x + step) % width, y, 0}, d)) {
              EXPECT_TRUE(may_hold(cover, owners, level, box_of(owners, level, {x, y, 0}))) << x << " " << y;
            }
      if (level == 6) {
        EXPECT_LT(held, std::size_t{width} * width);
      }
    }
  }
}

Kind refused(const mesh::Dataset& step, const fs::path& directory, const WriteOptions& options) {
  try {
    write(step, directory, options);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Kind::interrupted;
}

TEST_F(RamsesDomains, numbers_of_domains_that_cannot_be_are_usage_errors) {
  const auto step = split_step(2, 1, true);
  EXPECT_EQ(refused(step, dir_ / "a", {.domains = 100000}), Kind::unsupported);
  EXPECT_EQ(refused(step, dir_ / "a", {.domains = -1}), Kind::usage);
  EXPECT_EQ(refused(step, dir_ / "a", {.domains = 99999}), Kind::usage);
  EXPECT_FALSE(fs::exists(dir_ / "a"));
}

TEST_F(RamsesDomains, cells_that_no_part_owns_are_corrupt) {
  auto step = split_step(5, 3, true);
  const auto read = step.read;
  step.read = [read](int part, const mesh::Request& request) {
    auto share = read(part, request);
    if (part == 1)
      for (auto& owned : std::get<mesh::Octree>(share.mesh).owned) owned = base::BitArray(owned.size());
    return share;
  };
  EXPECT_EQ(refused(step, dir_ / "a", {.domains = 2}), Kind::corrupt);
}

TEST_F(RamsesDomains, a_missing_file_is_named) {
  testing::RamsesFixture f{.ncpu = 3, .levels = 4};
  testing::FixtureWriter(f, dir_ / "fixture").write();
  fs::remove(dir_ / "fixture" / "hydro_00007.out00003");
  try {
    write(open(dir_ / "fixture"), dir_ / "a", {.domains = 2});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unreadable);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("hydro_00007.out00003"));
  }
}

}  // namespace
}  // namespace octavo::formats::ramses
