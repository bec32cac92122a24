#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/lists.hpp"
#include "octavo/mesh/tree/merge.hpp"

// Real FLASH files against the values that their makers found with other programs.
namespace octavo::formats::flash {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path data_directory() {
  if (const char* path = std::getenv("OCTAVO_DATA")) return fs::path(path) / "flash";
  return fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path().parent_path() / "shared" / "data" /
         "flash";
}

struct Case {
  fs::path path;
  json oracle;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_directory(), error)) {
    std::ifstream file(entry.path() / "oracle.json");
    if (!file) continue;
    const json list = json::parse(file);
    for (const json& oracle : list) all.push_back({entry.path() / oracle.at("file").get<std::string>(), oracle});
  }
  return all;
}

class FlashReal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!file::hdf5::available()) GTEST_SKIP() << "this build has no HDF5";
    if (cases().empty()) GTEST_SKIP() << "no real FLASH files at " << data_directory() << ": set OCTAVO_DATA";
  }
};

struct Summary {
  double min = std::numeric_limits<double>::infinity(), max = -min;
  long double sum = 0, magnitude = 0;
};

/// Summarises one field on the owned leaf blocks, over all parts.
Summary summarise(const mesh::Dataset& dataset, const std::string& name, std::string& type) {
  Summary out;
  for (int p = 0; p < dataset.num_parts; ++p) {
    const mesh::Part part = dataset.read(p, {{{name}}, 99, false});
    const mesh::Octree& tree = mesh::octree_of(part);
    type = mesh::name_of(part.fields.at(0).info.type);
    mesh::visit_values(part.fields[0], [&](auto values) {
      std::size_t cell = 0;
      for (std::size_t level = 0; level < tree.owned.size(); ++level)
        for (std::size_t i = 0; i < tree.owned[level].size(); ++i, ++cell) {
          if (!tree.owned[level][i] || tree.refined[level][i]) continue;
          for (std::size_t v = 0; v < mesh::block_size(tree); ++v) {
            const auto value = static_cast<double>(values[cell * mesh::block_size(tree) + v]);
            out.min = std::min(out.min, value);
            out.max = std::max(out.max, value);
            out.sum += static_cast<long double>(value);
            out.magnitude += static_cast<long double>(std::abs(value));
          }
        }
    });
  }
  return out;
}

void expect_mesh(const mesh::Dataset& dataset, const json& oracle) {
  EXPECT_EQ(dataset.header.dim, oracle.at("ndim"));
  EXPECT_EQ(json(dataset.header.block), oracle.at("nxb_nyb_nzb"));
  std::int64_t blocks = 0, leaves = 0;
  for (const mesh::LevelCount& level : dataset.levels) {
    EXPECT_EQ(level.cells, oracle.at("blocks_per_level").at(std::to_string(level.level)));
    EXPECT_EQ(level.leaves, oracle.at("leaf_blocks_per_level").at(std::to_string(level.level)));
    blocks += level.cells;
    leaves += level.leaves;
  }
  EXPECT_EQ(blocks, oracle.at("blocks"));
  EXPECT_EQ(leaves, oracle.at("leaf_blocks"));
  ASSERT_EQ(dataset.header.fields.size(), oracle.at("variables").size());
  for (const auto& [name, expected] : oracle.at("variables").items()) {
    std::string type;
    const Summary found = summarise(dataset, name, type);
    EXPECT_EQ(type, expected.at("dtype")) << name;
    EXPECT_EQ(found.min, expected.at("min").get<double>()) << name;
    EXPECT_EQ(found.max, expected.at("max").get<double>()) << name;
    // The oracle added doubles pairwise, which is exact to about 2^-52 of the sum of magnitudes. We add with 11 bits
    // more.
    EXPECT_NEAR(static_cast<double>(found.sum), expected.at("sum").get<double>(),
                1e-14 * static_cast<double>(1 + found.magnitude))
        << name;
  }
}

void expect_particles(const mesh::Dataset& dataset, const json& oracle) {
  ASSERT_EQ(dataset.species.size(), 1u);
  EXPECT_EQ(dataset.species[0].count, oracle.at("count"));
  std::vector<mesh::Part> parts;
  for (int p = 0; p < dataset.num_parts; ++p) parts.push_back(dataset.read(p, {std::vector<std::string>{}, 99, true}));
  const mesh::Particles particles = mesh::merge(parts).particles.at(0);
  ASSERT_EQ(particles.count, oracle.at("count"));
  for (std::size_t c = 0; c < particles.attributes.size(); ++c) {
    const std::string column = oracle.at("columns").at(c);
    const std::string expected = column.rfind("pos", 0) == 0 ? "position_" + column.substr(3) : column;
    EXPECT_EQ(particles.attributes[c].info.name, expected);
    const auto values = particles.attributes[c].as<double>();
    const json& numbers = oracle.at("per_column").at(column);
    EXPECT_EQ(*std::min_element(values.begin(), values.end()), numbers.at("min").get<double>()) << column;
    EXPECT_EQ(*std::max_element(values.begin(), values.end()), numbers.at("max").get<double>()) << column;
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), numbers.at("sum").get<double>(), 1e-10) << column;
  }
}

TEST_F(FlashReal, files_have_the_values_that_other_programs_found) {
  for (const Case& one : cases())
    for (std::int64_t a_part : {0, 5}) {
      SCOPED_TRACE(one.path.string());
      const mesh::Dataset dataset = open_flash(one.path, {a_part});
      EXPECT_EQ(dataset.header.time, one.oracle.at("time").get<double>());
      EXPECT_EQ(real(dataset.header.attributes, "real scalars/dt"), one.oracle.at("dt").get<double>());
      EXPECT_EQ(integer(dataset.header.attributes, "integer scalars/nstep"), one.oracle.at("nstep").get<int>());
      EXPECT_EQ(integer(dataset.header.attributes, "integer scalars/globalnumparticles"),
                one.oracle.at("globalnumparticles").get<int>());
      if (one.oracle.contains("blocks")) expect_mesh(dataset, one.oracle);
      if (one.oracle.contains("particles")) expect_particles(dataset, one.oracle.at("particles"));
    }
}

TEST_F(FlashReal, total_mass_is_one_within_rounding) {
  for (const Case& one : cases()) {
    if (!one.oracle.contains("total_mass")) continue;
    const mesh::Dataset dataset = open_flash(one.path);
    const mesh::Part part = dataset.read(0, {{{"dens"}}, 99, false});
    const mesh::Octree& tree = mesh::octree_of(part);
    double mass = 0;
    mesh::visit_values(part.fields[0], [&](auto values) {
      std::size_t cell = 0;
      for (std::size_t level = 0; level < tree.owned.size(); ++level) {
        const mesh::Point3 size = mesh::cell_size(dataset.header, static_cast<int>(level));
        double volume = 1;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) volume *= size[axis];
        for (std::size_t i = 0; i < tree.owned[level].size(); ++i, ++cell)
          for (std::size_t v = 0; !tree.refined[level][i] && v < mesh::block_size(tree); ++v)
            mass += static_cast<double>(values[cell * mesh::block_size(tree) + v]) * volume;
      }
    });
    EXPECT_NEAR(mass, one.oracle.at("total_mass").get<double>(), 1e-13) << one.path;
  }
}

TEST_F(FlashReal, written_again_they_read_the_same_to_the_last_bit_and_attribute) {
  const fs::path out = fs::temp_directory_path() / ("octavo_flash_real_" + std::to_string(::getpid()));
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.path.string());
    fs::remove(out);
    const mesh::Dataset original = open_flash(one.path, {7});
    WriteOptions options;
    write_flash(original, out, options);
    const mesh::Dataset back = open_flash(out, {7});
    mesh::Header expected = original.header, found = back.header;
    // Only the file's name says whether it is a plotfile.
    found.attributes["flash/kind"] = expected.attributes["flash/kind"];
    EXPECT_EQ(found, expected);
    ASSERT_EQ(back.num_parts, original.num_parts);
    for (int p = 0; p < back.num_parts; ++p) {
      const mesh::Part a = original.read(p, {{}, 99, true}), b = back.read(p, {{}, 99, true});
      EXPECT_EQ(mesh::octree_of(a), mesh::octree_of(b));
      EXPECT_TRUE(a.fields == b.fields);
      EXPECT_TRUE(a.particles == b.particles);
    }
  }
  fs::remove(out);
}

}  // namespace
}  // namespace octavo::formats::flash
