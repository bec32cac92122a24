// Cases that no real output covers, from fixtures written byte by byte.
#include "octavo/formats/ramses/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/ramses_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using octavo::testing::error_of;
using testing::FixtureWriter;
using testing::RamsesFixture;

class RamsesReader : public ::testing::Test {
 protected:
  ~RamsesReader() override { file::set_observer({}); }
  testing::TemporaryFolder folder_;
  fs::path dir_ = folder_ / "output_00007";
};

const mesh::Octree& tree_of(const mesh::Part& part) { return std::get<mesh::Octree>(part.mesh); }

// Every cell of the fixture is owned exactly once, where and with the values that the fixture put there.
void expect_all_cells(const RamsesFixture& f, const mesh::Dataset& dataset, int first_variable = 0) {
  std::map<std::pair<int, mesh::Coordinate>, int> seen;
  for (int d = 0; d < dataset.num_parts; ++d) {
    const mesh::Part part = dataset.read(d, {});
    const mesh::Octree& tree = tree_of(part);
    mesh::validate(tree);
    const auto offsets = mesh::level_offsets(tree);
    auto cells = mesh::root_coordinates(tree);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      if (level > 0) cells = mesh::child_coordinates(tree, level - 1, cells);
      const auto l = static_cast<std::size_t>(level);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!tree.owned[l][i]) continue;
        ++seen[{level, cells[i]}];
        const std::array<std::int64_t, 3> at{cells[i][0], cells[i][1], cells[i][2]};
        // A refined cell without owned cells below it becomes a leaf of the pruned tree, which is not owned.
        EXPECT_EQ(tree.refined[l][i], testing::fixture_refines(f, level + 1, at));
        for (std::size_t v = 0; v < part.fields.size(); ++v)
          mesh::visit_values(part.fields[v], [&](auto values) {
            EXPECT_EQ(static_cast<double>(values[offsets[l] + i]),
                      static_cast<double>(f.cell_value(first_variable + static_cast<int>(v), level + 1, at)))
                << part.fields[v].info.name << " on level " << level + 1;
          });
      }
    }
  }
  std::size_t expected = 0;
  for (const auto& oct : testing::fixture_octs(f)) expected += oct.son.size();
  EXPECT_EQ(seen.size(), expected);
  for (const auto& [cell, times] : seen) EXPECT_EQ(times, 1);
}

std::vector<std::string> field_names(const mesh::Dataset& dataset) {
  std::vector<std::string> names;
  for (const auto& field : dataset.header.fields) names.push_back(field.name);
  return names;
}

TEST_F(RamsesReader, every_cell_is_owned_once_with_its_value_in_one_to_three_dimensions) {
  for (int ndim = 1; ndim <= 3; ++ndim) {
    RamsesFixture f{.ndim = ndim, .ncpu = 3, .levels = 4};
    fs::remove_all(dir_);
    FixtureWriter(f, dir_).write();
    const auto dataset = open(dir_);
    EXPECT_EQ(dataset.header.dim, ndim);
    EXPECT_EQ(dataset.header.time, 0.25);
    EXPECT_EQ(dataset.header.unit_time, 0.4e15);
    EXPECT_EQ(dataset.header.hi[0], 2.0);
    expect_all_cells(f, dataset);
  }
}

TEST_F(RamsesReader, counts_of_levels_come_from_the_headers) {
  RamsesFixture f{.ndim = 2};
  FixtureWriter(f, dir_).write();
  std::vector<mesh::LevelCount> expected{{1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  for (const auto& oct : testing::fixture_octs(f))
    for (const int son : oct.son) {
      auto& level = expected[static_cast<std::size_t>(oct.level - 1)];
      ++level.cells;
      level.leaves += son < 0 ? 1 : 0;
    }
  EXPECT_EQ(open(dir_).levels, expected);
}

TEST_F(RamsesReader, big_endian_files_read_the_same) {
  RamsesFixture f{.big_endian = true};
  FixtureWriter(f, dir_).write();
  expect_all_cells(f, open(dir_));
}

TEST_F(RamsesReader, eight_byte_markers_read_the_same) {
  for (const bool big : {false, true}) {
    RamsesFixture f{.ncpu = 4, .marker = 8, .big_endian = big};  // 4 ranks: the first bytes fit 4-byte markers too
    fs::remove_all(dir_);
    FixtureWriter(f, dir_).write();
    expect_all_cells(f, open(dir_));
  }
}

TEST_F(RamsesReader, subrecords_read_the_same) {
  for (const std::size_t longest : {7U, 16U, 100U}) {
    RamsesFixture f{.subrecord = longest};
    fs::remove_all(dir_);
    FixtureWriter(f, dir_).write();
    expect_all_cells(f, open(dir_));
  }
}

TEST_F(RamsesReader, single_precision_builds_read_as_float32) {
  RamsesFixture f{.real_bytes = 4};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_EQ(dataset.header.fields[0].type, mesh::ScalarType::float32);
  EXPECT_EQ(dataset.header.time, 0.25);
  expect_all_cells(f, dataset);
}

TEST_F(RamsesReader, sixteen_byte_keys_select_the_same_domains_as_eight_byte_ones) {
  RamsesFixture plain{.ncpu = 4};
  RamsesFixture quad = plain;
  quad.quad_keys = true;
  FixtureWriter(plain, dir_).write();
  const mesh::Region region = mesh::Box{{0.1, 0.1, 0.1}, {0.2, 0.2, 0.2}};
  const auto expected = open(dir_).parts_touching(region);
  fs::remove_all(dir_);
  for (const bool big : {false, true}) {
    quad.big_endian = big;
    FixtureWriter(quad, dir_).write();
    const auto dataset = open(dir_);
    EXPECT_EQ(dataset.parts_touching(region), expected);
    EXPECT_TRUE(dataset.header.attributes.contains("bound_key_low"));
    expect_all_cells(quad, dataset);
  }
}

TEST_F(RamsesReader, walls_on_either_side_or_both_are_left_out) {
  for (int lo = 0; lo < 2; ++lo)
    for (int hi = 0; hi < 2; ++hi) {
      RamsesFixture f{.ndim = 2, .wall_lo = {lo, 0, 0}, .wall_hi = {hi, 1, 0}};
      fs::remove_all(dir_);
      FixtureWriter(f, dir_).write();
      const auto dataset = open(dir_);
      EXPECT_EQ(dataset.header.periodic, (std::array<bool, 3>{lo + hi == 0, false, false}));
      EXPECT_EQ(dataset.header.roots, (mesh::Index3{2, 2, 1}));
      EXPECT_EQ(dataset.header.hi, (mesh::Point3{2, 2, 2}));
      expect_all_cells(f, dataset);
    }
}

TEST_F(RamsesReader, several_coarse_cells_make_a_box_that_is_no_cube) {
  RamsesFixture f{.ndim = 3, .ncpu = 3, .real = {2, 3, 1}, .wall_lo = {1, 0, 0}};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_EQ(dataset.header.roots, (mesh::Index3{4, 6, 2}));
  EXPECT_EQ(dataset.header.hi, (mesh::Point3{2, 3, 1}));
  expect_all_cells(f, dataset);
  // The curve does not cover this box: all domains may touch any region.
  EXPECT_THAT(dataset.parts_touching(mesh::Box{{0, 0, 0}, {0.1, 0.1, 0.1}}), ::testing::ElementsAre(0, 1, 2));
}

TEST_F(RamsesReader, mhd_face_values_are_known_by_their_names) {
  RamsesFixture f;
  f.hydro = {"density",  "velocity_x", "velocity_y", "velocity_z", "B_x_left", "B_y_left",
             "B_z_left", "B_x_right",  "B_y_right",  "B_z_right",  "pressure"};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_EQ(field_names(dataset), f.hydro);
  EXPECT_EQ(dataset.header.fields[4].centring, mesh::Centring::face_x);
  EXPECT_EQ(dataset.header.fields[9].centring, mesh::Centring::face_z);
  EXPECT_EQ(dataset.header.fields[3].unit, "code_length/code_time");
  expect_all_cells(f, dataset);
}

TEST_F(RamsesReader, gravity_and_radiation_follow_the_hydro_variables) {
  RamsesFixture f{.ndim = 2, .hydro = {"density", "pressure"}, .grav = 3, .rt = 3};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_THAT(field_names(dataset), ::testing::ElementsAre("density", "pressure", "potential", "force_x", "force_y",
                                                           "photon_flux_01", "photon_flux_01_x", "photon_flux_01_y"));
  EXPECT_THAT(dataset.notes, ::testing::ElementsAre(::testing::HasSubstr("rt_file_descriptor.txt")));
  mesh::Request request;
  request.fields = {"photon_flux_01_y", "force_x"};
  const auto part = dataset.read(0, request);
  ASSERT_EQ(part.fields.size(), 2U);
  EXPECT_EQ(part.fields[0].info.name, "force_x");
  // Cell (0, 0) of level 1.
  EXPECT_EQ(part.fields[0].as<double>()[0], static_cast<double>(f.cell_value(101, 1, {0, 0, 0})));
  EXPECT_EQ(part.fields[1].as<double>()[0], static_cast<double>(f.cell_value(202, 1, {0, 0, 0})));
}

TEST_F(RamsesReader, without_a_descriptor_variables_are_numbered_and_a_note_says_so) {
  RamsesFixture f{.hydro_descriptor = false};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_THAT(field_names(dataset), ::testing::ElementsAre("var1", "var2", "var3", "var4", "var5"));
  EXPECT_THAT(dataset.notes, ::testing::ElementsAre(::testing::HasSubstr("hydro_file_descriptor.txt")));
}

TEST_F(RamsesReader, descriptors_of_the_first_version_are_understood) {
  RamsesFixture f{.old_descriptor = true};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_EQ(field_names(dataset), f.hydro);
  EXPECT_THAT(dataset.notes, ::testing::IsEmpty());
}

TEST_F(RamsesReader, group_folders_are_looked_into_and_any_file_opens_the_output) {
  RamsesFixture f{.ncpu = 3, .group_size = 2};
  FixtureWriter(f, dir_).write();
  expect_all_cells(f, open(dir_));
  EXPECT_EQ(open(dir_ / "group_00002/amr_00007.out00003").num_parts, 3);
  EXPECT_EQ(open(dir_ / "info_00007.txt").num_parts, 3);
  EXPECT_EQ(open(dir_.string() + "/").num_parts, 3);
}

TEST_F(RamsesReader, bisection_domains_are_selected_by_their_boxes) {
  RamsesFixture f{.ndim = 2, .ncpu = 4, .ordering = "bisection"};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  expect_all_cells(f, dataset);
  // Boxes are a quarter of the domain wide, and are widened by a leaf of level 1: half the domain.
  EXPECT_THAT(dataset.parts_touching(mesh::Box{{0.3, 0, 0}, {0.4, 1, 1}}), ::testing::Contains(1));
  EXPECT_EQ(std::get<std::vector<double>>(dataset.header.attributes.at("cpubox_max")).size(), 8U);
}

TEST_F(RamsesReader, other_orderings_select_all_domains) {
  RamsesFixture f{.ncpu = 3, .ordering = "planar"};
  FixtureWriter(f, dir_).write();
  EXPECT_THAT(open(dir_).parts_touching(mesh::Sphere{{0.1, 0.1, 0.1}, 0.01}), ::testing::ElementsAre(0, 1, 2));
}

TEST_F(RamsesReader, particles_have_the_widths_of_their_records) {
  for (const std::size_t bytes : {4U, 8U}) {
    RamsesFixture f{.particles = true, .identity_bytes = bytes};
    f.ncpu = 2;
    fs::remove_all(dir_);
    FixtureWriter(f, dir_).write();
    const auto dataset = open(dir_);
    ASSERT_EQ(dataset.species.size(), 1U);
    EXPECT_EQ(dataset.species[0].count, 5);
    mesh::Request request;
    request.particles = true;
    EXPECT_EQ(dataset.read(0, request).particles[0].count, 0);
    const auto particles = dataset.read(1, request).particles[0];
    ASSERT_EQ(particles.attributes.size(), 11U);
    EXPECT_EQ(particles.attributes[7].info.name, "identity");
    EXPECT_EQ(mesh::size_of(particles.attributes[7].info.type), bytes);
    EXPECT_EQ(particles.attributes[9].as<std::int8_t>()[4], 1);
    EXPECT_THAT(particles.attributes[0].as<double>(), ::testing::ElementsAre(10, 11, 12, 13, 14));
  }
}

TEST_F(RamsesReader, particles_without_family_tag_and_descriptor_are_named_by_their_place) {
  RamsesFixture f{.big_endian = true, .particles = true, .old_particles = true, .identity_bytes = 8};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_EQ(dataset.species[0].count, 5);
  EXPECT_THAT(dataset.notes, ::testing::ElementsAre(::testing::HasSubstr("part_file_descriptor.txt")));
  mesh::Request request;
  request.particles = true;
  const auto particles = dataset.read(1, request).particles[0];
  ASSERT_EQ(particles.attributes.size(), 9U);
  EXPECT_EQ(particles.attributes[7].as<std::int64_t>()[0], (std::int64_t{1} << 40) + 1);
  EXPECT_EQ(particles.attributes[8].as<std::int32_t>()[0], 2);
}

TEST_F(RamsesReader, particles_alone_never_open_the_mesh_files) {
  RamsesFixture f{.particles = true};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  std::vector<std::string> opened;
  file::set_observer([&](const file::Event& event) {
    if (event.operation == file::Operation::open) opened.push_back(event.path.filename().string());
    return file::Verdict{};
  });
  mesh::Request request;
  request.fields.emplace();
  request.particles = true;
  EXPECT_EQ(dataset.read(1, request).particles[0].count, 5);
  EXPECT_THAT(opened, ::testing::ElementsAre("part_00007.out00002"));
}

TEST_F(RamsesReader, opening_reads_the_files_of_the_first_domain_only) {
  RamsesFixture f{.ncpu = 4, .grav = 4, .particles = true};
  FixtureWriter(f, dir_).write();
  std::vector<std::string> opened;
  file::set_observer([&](const file::Event& event) {
    if (event.operation == file::Operation::open) opened.push_back(event.path.filename().string());
    return file::Verdict{};
  });
  open(dir_);
  for (const auto& name : opened) EXPECT_TRUE(name.ends_with(".txt") || name.ends_with("out00001")) << name;
}

TEST_F(RamsesReader, fields_that_were_not_asked_for_are_not_opened) {
  RamsesFixture f{.grav = 4};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  std::vector<std::string> opened;
  file::set_observer([&](const file::Event& event) {
    if (event.operation == file::Operation::open) opened.push_back(event.path.filename().string());
    return file::Verdict{};
  });
  mesh::Request request;
  request.fields = {"potential"};
  dataset.read(0, request);
  EXPECT_THAT(opened, ::testing::ElementsAre("amr_00007.out00001", "grav_00007.out00001"));
  request.fields = {"potental"};
  EXPECT_EQ(error_of([&] { dataset.read(0, request); }).kind(), Kind::usage);
}

TEST_F(RamsesReader, a_level_limit_drops_what_is_deeper) {
  RamsesFixture f{.levels = 4};
  FixtureWriter(f, dir_).write();
  const auto dataset = open(dir_);
  mesh::Request request;
  request.max_level = 2;
  std::size_t leaves = 0;
  for (int d = 0; d < 2; ++d) {
    const auto part = dataset.read(d, request);
    mesh::validate(tree_of(part));
    EXPECT_LE(mesh::num_levels(tree_of(part)), 2);
    for (int level = 0; level < mesh::num_levels(tree_of(part)); ++level)
      leaves += mesh::num_owned_leaves(tree_of(part), level);
  }
  EXPECT_EQ(static_cast<std::int64_t>(leaves), dataset.levels[0].leaves + dataset.levels[1].cells);
}

TEST_F(RamsesReader, a_part_that_does_not_exist_is_wrong_use) {
  FixtureWriter(RamsesFixture{}, dir_).write();
  const auto dataset = open(dir_);
  EXPECT_EQ(error_of([&] { dataset.read(2, {}); }).kind(), Kind::usage);
  EXPECT_EQ(error_of([&] { dataset.read(-1, {}); }).kind(), Kind::usage);
}

}  // namespace
}  // namespace octavo::formats::ramses
