#include "octavo/formats/ramses/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

class RamsesWriter : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  fs::path dir_ = folder_.path();
};

// A step of one part: a random tree and fields of random bits, NaN payloads and signed zeros among them.
mesh::Dataset random_step(std::uint64_t seed) {
  testing::Random random(seed);
  const int dim = static_cast<int>(seed % 3) + 1;
  mesh::Index3 roots{1, 1, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a)
    roots[a] = 2 * static_cast<std::int64_t>(1 + random.below(3));
  const auto tree = testing::random_octree(seed, {.dim = dim, .roots = roots, .max_cells = 3000});
  mesh::Dataset step;
  step.header.code = "RAMSES";
  step.header.dim = dim;
  step.header.roots = roots;
  step.header.level_origin = 1;
  step.header.time = random.uniform();
  for (std::size_t a = 0; a < 3; ++a) {
    const bool used = a < static_cast<std::size_t>(dim);
    step.header.hi[a] = used ? 0.5 * static_cast<double>(roots[a]) : 0.5 * static_cast<double>(roots[0]);
    step.header.periodic[a] = used && random.chance(0.5);
  }
  step.num_parts = 1;
  mesh::Part part;
  std::vector<std::string> names{"density"};
  for (int axis = 0; axis < dim; ++axis) names.push_back(std::string("velocity_") + "xyz"[axis]);
  names.emplace_back("pressure");
  for (const std::string& name : names) {
    mesh::Field field =
        mesh::make_field({name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}, mesh::num_cells(tree));
    for (double& value : field.as<double>()) value = random.chance(0.1) ? -0.0 : std::bit_cast<double>(random.bits());
    step.header.fields.push_back(field.info);
    part.fields.push_back(std::move(field));
  }
  for (int level = 0; level < mesh::num_levels(tree); ++level)
    step.levels.push_back({level + 1, static_cast<std::int64_t>(mesh::num_owned(tree, level)),
                           static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level))});
  part.mesh = tree;
  step.read = [part](int, const mesh::Request&) { return part; };
  return step;
}

TEST_F(RamsesWriter, random_trees_of_any_dimension_read_back_bit_for_bit) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto step = random_step(seed);
    const auto directory = dir_ / std::to_string(seed) / "output_00012";
    write(step, directory, {.number = 12, .progress = {}});
    const auto again = open(directory);
    EXPECT_EQ(again.header.time, step.header.time);
    EXPECT_EQ(again.header.roots, step.header.roots);
    EXPECT_EQ(again.header.periodic, step.header.periodic);
    EXPECT_EQ(again.levels, step.levels);
    const auto before = step.read(0, {}), after = again.read(0, {});
    EXPECT_EQ(std::get<mesh::Octree>(after.mesh), std::get<mesh::Octree>(before.mesh)) << "seed " << seed;
    ASSERT_EQ(after.fields.size(), before.fields.size());
    for (std::size_t f = 0; f < after.fields.size(); ++f) EXPECT_EQ(after.fields[f].bytes, before.fields[f].bytes);
  }
}

TEST_F(RamsesWriter, any_byte_order_and_marker_reads_back_bit_for_bit) {
  int number = 0;
  for (const auto order : {std::endian::little, std::endian::big})
    for (const std::size_t marker : {4U, 8U}) {
      const auto step = random_step(8);
      const auto directory = dir_ / ("output_0000" + std::to_string(++number));
      write(step, directory, {.number = number, .format = file::RecordFormat{marker, order}, .progress = {}});
      const auto before = step.read(0, {}), after = open(directory).read(0, {});
      EXPECT_EQ(std::get<mesh::Octree>(after.mesh), std::get<mesh::Octree>(before.mesh));
      for (std::size_t f = 0; f < after.fields.size(); ++f) EXPECT_EQ(after.fields[f].bytes, before.fields[f].bytes);
    }
}

TEST_F(RamsesWriter, single_precision_is_the_nearest_float) {
  const auto step = random_step(5);
  write(step, dir_ / "output_00001", {.single_precision = true, .progress = {}});
  const auto before = step.read(0, {}), after = open(dir_ / "output_00001").read(0, {});
  EXPECT_EQ(std::get<mesh::Octree>(after.mesh), std::get<mesh::Octree>(before.mesh));
  ASSERT_EQ(after.fields.size(), before.fields.size());
  for (std::size_t f = 0; f < after.fields.size(); ++f) {
    ASSERT_EQ(after.fields[f].info.type, mesh::ScalarType::float32);
    const auto exact = before.fields[f].as<double>();
    const auto near = after.fields[f].as<float>();
    for (std::size_t i = 0; i < near.size(); ++i) {
      if (std::isnan(exact[i])) continue;
      EXPECT_EQ(near[i], static_cast<float>(exact[i]));
    }
  }
}

/// A real step of three domains whose header is changed before it is written and read back.
class RamsesRewrite : public RamsesWriter {
 protected:
  void SetUp() override {
    const char* data = std::getenv("OCTAVO_DATA");
    const fs::path root =
        data != nullptr ? fs::path(data) : fs::path(__FILE__).parent_path() / "../../../../shared/data";
    source_ = root / "ramses" / "dm_gas_gravity3d_3ranks" / "output_00002";
    if (!fs::exists(source_)) GTEST_SKIP() << "no real data at " << root;
  }
  void expect_same_parts(const mesh::Dataset& step, const WriteOptions& options) {
    write(step, dir_ / "output_00002", options);
    const auto again = open(dir_ / "output_00002");
    EXPECT_EQ(again.levels, step.levels);
    mesh::Request everything;
    everything.particles = true;
    for (int d = 0; d < step.num_parts; ++d) {
      const auto before = step.read(d, everything), after = again.read(d, everything);
      EXPECT_EQ(std::get<mesh::Octree>(after.mesh), std::get<mesh::Octree>(before.mesh));
      EXPECT_EQ(after.fields, before.fields);
      EXPECT_EQ(after.particles, before.particles);
    }
  }
  fs::path source_;
};

TEST_F(RamsesRewrite, group_folders_hold_the_domains) {
  expect_same_parts(open(source_), {.number = 2, .group_size = 2, .progress = {}});
  EXPECT_TRUE(fs::exists(dir_ / "output_00002" / "group_00002" / "amr_00002.out00003"));
  write(open(dir_ / "output_00002"), dir_ / "again", {.domains = 5, .number = 2, .progress = {}});
  EXPECT_TRUE(fs::exists(dir_ / "again" / "group_00003" / "amr_00002.out00005"));
}

TEST_F(RamsesRewrite, keys_of_16_bytes_keep_their_value) {
  auto step = open(source_);
  const auto keys = std::get<std::vector<double>>(step.header.attributes.at("bound_key"));
  step.header.attributes["bound_key_low"] = std::vector<double>(keys.size(), 0.0);
  expect_same_parts(step, {.number = 2, .progress = {}});
  const auto again = open(dir_ / "output_00002");
  EXPECT_EQ(std::get<std::vector<double>>(again.header.attributes.at("bound_key")), keys);
  EXPECT_TRUE(again.header.attributes.contains("bound_key_low"));
}

TEST_F(RamsesRewrite, a_bisection_keeps_its_walls_and_boxes) {
  auto step = open(source_);
  step.header.attributes.erase("bound_key");
  step.header.attributes["ordering"] = std::string("bisection");
  step.header.attributes["cpubox_min"] = std::vector<double>{0, 0.25, 0.5, 0, 0, 0, 0, 0, 0};
  step.header.attributes["cpubox_max"] = std::vector<double>{0.25, 0.5, 1, 1, 1, 1, 1, 1, 1};
  step.header.attributes["bisection_wall"] = std::vector<double>{0.25, 0.5};
  step.header.attributes["bisection_next"] = std::vector<std::int64_t>{0, 2, 0, 0};
  step.header.attributes["bisection_indx"] = std::vector<std::int64_t>{1, 0, 2, 3};
  write(step, dir_ / "output_00002", {.number = 2, .progress = {}});
  const auto again = open(dir_ / "output_00002");
  EXPECT_EQ(again.levels, step.levels);
  for (const char* name : {"cpubox_min", "cpubox_max", "bisection_wall", "bisection_next", "bisection_indx"})
    EXPECT_EQ(again.header.attributes.at(name), step.header.attributes.at(name)) << name;
}

/// Each domain alone, as the ranks of a run write it, for the step's own number of domains and for others.
TEST_F(RamsesRewrite, domains_written_alone_are_the_files_of_the_whole_output) {
  const auto step = open(source_);
  for (const int domains : {3, 5}) {
    const fs::path whole = dir_ / ("whole" + std::to_string(domains)),
                   alone = dir_ / ("alone" + std::to_string(domains));
    write(step, whole, {.domains = domains, .number = 2, .progress = {}});
    for (int d = 0; d < domains; ++d)
      write_one_domain(step, alone, {.domains = domains, .number = 2, .progress = {}}, d);
    int same = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(alone)) {
      EXPECT_EQ(testing::file_bytes(entry.path()), testing::file_bytes(whole / entry.path().filename()))
          << entry.path();
      ++same;
    }
    EXPECT_EQ(same, 4 * domains + 2) << "amr, hydro, grav and part files, namelist, compilation";
  }
}

TEST_F(RamsesWriter, an_existing_directory_is_never_written_to) {
  try {
    write(random_step(2), dir_, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::usage);
  }
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(RamsesWriter, what_the_format_cannot_hold_is_not_supported) {
  const auto refused = [&](const mesh::Dataset& step) {
    try {
      write(step, dir_ / "output_00001", {});
    } catch (const Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << "nothing was thrown";
    return Kind::usage;
  };
  auto blocks = random_step(2);
  blocks.header.block = {8, 8, 8};
  EXPECT_EQ(refused(blocks), Kind::unsupported);
  auto odd = random_step(2);
  odd.header.roots[0] = 3;
  EXPECT_EQ(refused(odd), Kind::unsupported);
  auto deep = random_step(2);
  deep.header.attributes["nlevelmax"] = std::int64_t{40};
  EXPECT_EQ(refused(deep), Kind::unsupported);
}

}  // namespace
}  // namespace octavo::formats::ramses
