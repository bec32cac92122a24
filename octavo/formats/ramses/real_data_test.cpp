// Real outputs, with what independent readers found in them (README.md beside each).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "octavo/formats/ramses/writer.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;

fs::path data_path() {
  if (const char* path = std::getenv("OCTAVO_DATA")) return fs::path(path) / "ramses";
  return fs::path(__FILE__).parent_path() / "../../../../shared/data/ramses";
}

struct Values {
  std::string name;
  double min, max, mean;
};
struct Oracle {
  std::string set;
  double time, mass, volume;
  std::vector<mesh::LevelCount> levels;
  std::vector<Values> fields;  // over leaf cells
  std::int64_t particles = 0;
  std::vector<Values> attributes{};  // here the mean is a sum
};

std::vector<mesh::LevelCount> levels_of(int dim, const std::vector<std::int64_t>& octs) {
  std::vector<mesh::LevelCount> levels;
  for (std::size_t l = 0; l < octs.size(); ++l)
    levels.push_back(
        {static_cast<int>(l) + 1, octs[l] << dim, (octs[l] << dim) - (l + 1 < octs.size() ? octs[l + 1] : 0)});
  return levels;
}

std::vector<Oracle> oracles() {
  const auto sedov = levels_of(3, {1, 8, 64, 512, 1915, 2917});
  return {
      {"sedov3d_1rank",
       0.003965487876844084,
       0.125,
       0.125,
       sedov,
       {{"density", 0.05555782461982211, 1.966288101231659, 1.0},
        {"pressure", 1e-05, 30.65751505097981, 2.293670451154456}}},
      {"sedov3d_4ranks",
       0.003965487876844084,
       0.125,
       0.125,
       sedov,
       {{"density", 0.05555782461982211, 1.966288101231659, 1.0},
        {"velocity_x", -5.518950747070094, 5.518950747070094, 0},
        {"velocity_y", -5.518950747070091, 5.518950747070091, 0},
        {"pressure", 1e-05, 30.65751505097981, 2.293670451154456}}},
      {"sedov3d_4ranks_medium",
       0.0025535925609587525,
       0.125,
       0.125,
       levels_of(3, {1, 8, 64, 512, 1696, 3539, 7684}),
       {{"density", 0.029072031964212045, 2.428073227431286, 1.0},
        {"velocity_z", -7.285982507636061, 7.285982507636061, 0},
        {"pressure", 1e-05, 55.384523250751826, 7.235404797401618}}},
      {"implosion2d_2ranks",
       0.15259478021984477,
       0.8914794921875,
       1,
       levels_of(2, {1, 4, 16, 64, 256, 440, 1007, 1163}),
       {{"density", 0.17892733099143135, 1.0, 0.6212419029610723},
        {"velocity_x", -0.9286176408354854, 0.0869105193224995, -0.2184342080345631},
        {"velocity_y", -0.9286176408354851, 0.08691051932249923, -0.21843420803456312},
        {"pressure", 0.5452585328393226, 1.4321609440665395, 0.7525391548256709}}},
      {"dm_gas_gravity3d_3ranks",
       0.011640658754501659,
       0.12644042968750002,
       1,
       levels_of(3, {1, 8, 64, 512, 1568, 1880}),
       {{"density", 0.09970581378945652, 7.643155494036421, 0.3462120445150758},
        {"velocity_x", -1.8501618682238767, 1.9213597741002604, 0.01507777701303328},
        {"pressure", 0.09950628564459543, 3.9788648853784, 0.12810290237287547},
        {"potential", -19.459463706665137, 0.8048584477163144, -1.8193599877154507},
        {"force_x", -203.52649444497953, 186.4915400092441, std::numeric_limits<double>::quiet_NaN()}},
       6000,
       {{"position_x", 0.23884241087361072, 0.7473360083935726, 3001.1169951465586},
        {"velocity_z", -2.5145499740022714, 2.288161442950463, 42.42735424774099},
        {"mass", 0.000166666667, 0.000166666667, 1.0000000019999997},
        {"identity", 1, 6000, 18003000},
        {"levelp", 5, 6, 35906},
        {"family", 1, 1, 6000},
        {"tag", 0, 0, 0}}},
      {"tracer2d_3ranks",
       0.003374110804321035,
       0.25,
       0.25,
       levels_of(2, {1, 4, 16, 64, 256, 185, 256}),
       {{"density", 0.3173899444987963, 2.1222850682481296, 1.0},
        {"pressure", 1e-05, 17.077492126589632, 2.41444443654076}},
       12512,
       {{"position_y", 0.001953125, 0.498046875, 3133.4453125},
        {"velocity_x", -21.749896646036678, 21.749896646036678, -152.24927652225676},
        {"identity", 1, 12512, 78281328},
        {"family", 0, 0, 0},
        {"partp", 69, 24427, 156474515}}},
  };
}

struct Found {
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0, size = 0;
  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
    size += std::abs(value);
  }
};

struct Summary {
  std::vector<mesh::LevelCount> levels;
  std::map<std::string, Found> fields, attributes;
  double mass = 0, volume = 0, leaves = 0;
};

void add_leaves(const mesh::Header& header, const mesh::Part& part, Summary& to) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  const auto offsets = mesh::level_offsets(tree);
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    const auto size = mesh::cell_size(header, level);
    double volume = 1;
    for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) volume *= size[a];
    if (to.levels.size() <= l) to.levels.push_back({level + 1, 0, 0});
    to.levels[l].cells += static_cast<std::int64_t>(mesh::num_owned(tree, level));
    to.levels[l].leaves += static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level));
    for (std::size_t i = 0; i < mesh::num_cells(tree, level); ++i) {
      if (!tree.owned[l][i] || tree.refined[l][i]) continue;
      to.volume += volume;
      to.leaves += 1;
      for (const auto& field : part.fields) {
        const double value = field.as<double>()[offsets[l] + i];
        to.fields[field.info.name].add(value);
        if (field.info.name == "density") to.mass += value * volume;
      }
    }
  }
}

Summary summarise(const mesh::Dataset& dataset) {
  Summary summary;
  mesh::Request request;
  request.particles = true;
  for (int d = 0; d < dataset.num_parts; ++d) {
    const mesh::Part part = dataset.read(d, request);
    add_leaves(dataset.header, part, summary);
    for (const auto& particles : part.particles)
      for (const auto& attribute : particles.attributes)
        mesh::visit_values(attribute, [&](auto values) {
          for (const auto value : values) summary.attributes[attribute.info.name].add(static_cast<double>(value));
        });
  }
  return summary;
}

class RamsesRealData : public ::testing::TestWithParam<Oracle> {
 protected:
  void SetUp() override {
    path_ = data_path() / GetParam().set / "output_00002";
    if (!fs::is_directory(path_)) GTEST_SKIP() << "no real output at " << path_;
  }
  fs::path path_;
};

TEST_P(RamsesRealData, counts_extrema_and_sums_are_those_of_independent_readers) {
  const Oracle& oracle = GetParam();
  const auto dataset = open(path_);
  EXPECT_EQ(dataset.header.time, oracle.time);
  EXPECT_EQ(dataset.levels, oracle.levels);
  const Summary found = summarise(dataset);
  EXPECT_EQ(found.levels, oracle.levels);
  // Sums depend on the order of their terms: to 1e-12 of the sum of sizes.
  EXPECT_NEAR(found.mass, oracle.mass, 1e-12 * oracle.mass);
  EXPECT_NEAR(found.volume, oracle.volume, 1e-12 * oracle.volume);
  for (const auto& expected : oracle.fields) {
    const Found& field = found.fields.at(expected.name);
    EXPECT_EQ(field.min, expected.min) << expected.name;
    EXPECT_EQ(field.max, expected.max) << expected.name;
    if (!std::isnan(expected.mean)) {
      EXPECT_NEAR(field.sum / found.leaves, expected.mean, 1e-12 * field.size / found.leaves) << expected.name;
    }
  }
  for (const auto& expected : oracle.attributes) {
    const Found& attribute = found.attributes.at(expected.name);
    EXPECT_EQ(attribute.min, expected.min) << expected.name;
    EXPECT_EQ(attribute.max, expected.max) << expected.name;
    EXPECT_NEAR(attribute.sum, expected.mean, 1e-12 * attribute.size) << expected.name;
  }
  if (oracle.particles > 0) {
    EXPECT_EQ(dataset.species.at(0).count, oracle.particles);
  }
}

TEST_P(RamsesRealData, domains_left_out_by_a_region_own_no_leaf_that_touches_it) {
  const auto dataset = open(path_);
  const mesh::Domain domain = mesh::domain_of(dataset.header);
  const mesh::Region regions[] = {mesh::Box{{0.6, 0.6, 0.6}, {0.65, 0.65, 0.65}},
                                  mesh::Box{{0, 0, 0}, {0.01, 0.01, 0.01}},
                                  mesh::Box{{-0.02, 0.4, 0.9}, {0.02, 0.5, 1.1}}, mesh::Sphere{{0.3, 0.7, 0.2}, 0.05}};
  mesh::Request trees;
  trees.fields.emplace();
  int skipped = 0;
  for (const auto& region : regions) {
    const auto touching = dataset.parts_touching(region);
    for (int d = 0; d < dataset.num_parts; ++d) {
      if (std::find(touching.begin(), touching.end(), d) != touching.end()) continue;
      ++skipped;
      const mesh::Part part = dataset.read(d, trees);
      const auto& tree = std::get<mesh::Octree>(part.mesh);
      auto cells = mesh::root_coordinates(tree);
      for (int level = 0; level < mesh::num_levels(tree); ++level) {
        if (level > 0) cells = mesh::child_coordinates(tree, level - 1, cells);
        const auto l = static_cast<std::size_t>(level);
        const double edge = mesh::cell_size(dataset.header, level)[0] / dataset.header.hi[0];
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (!tree.owned[l][i] || tree.refined[l][i]) continue;
          mesh::Point3 lo{0, 0, 0}, hi{1, 1, 1};
          for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) {
            lo[a] = cells[i][a] * edge;
            hi[a] = lo[a] + edge;
          }
          ASSERT_FALSE(mesh::touches(region, domain, lo, hi)) << "domain " << d + 1 << " level " << level + 1;
        }
      }
    }
  }
  if (dataset.num_parts > 2) {
    EXPECT_GT(skipped, 0);
  }
}

TEST_P(RamsesRealData, what_is_written_reads_back_bit_for_bit) {
  const auto dataset = open(path_);
  std::string name = (fs::temp_directory_path() / "octavo_ramses_XXXXXX").string();
  const fs::path directory = ::mkdtemp(name.data());
  write(dataset, directory / "output_00002", {.number = 2, .progress = {}});
  const auto again = open(directory / "output_00002");
  EXPECT_EQ(again.header.time, dataset.header.time);
  EXPECT_EQ(again.header.roots, dataset.header.roots);
  EXPECT_EQ(again.header.periodic, dataset.header.periodic);
  EXPECT_EQ(again.header.fields, dataset.header.fields);
  EXPECT_EQ(again.levels, dataset.levels);
  EXPECT_EQ(again.species, dataset.species);
  mesh::Request request;
  request.particles = true;
  for (int d = 0; d < dataset.num_parts; ++d) {
    const mesh::Part before = dataset.read(d, request), after = again.read(d, request);
    EXPECT_EQ(std::get<mesh::Octree>(after.mesh), std::get<mesh::Octree>(before.mesh)) << "domain " << d + 1;
    EXPECT_EQ(after.fields, before.fields) << "domain " << d + 1;
    ASSERT_EQ(after.particles.size(), before.particles.size());
    for (std::size_t s = 0; s < after.particles.size(); ++s)
      for (std::size_t a = 0; a < before.particles[s].attributes.size(); ++a) {
        // The number of a cell in a file that renumbers its octs.
        if (before.particles[s].attributes[a].info.name == "partp") continue;
        EXPECT_EQ(after.particles[s].attributes[a], before.particles[s].attributes[a]) << "domain " << d + 1;
      }
  }
  fs::remove_all(directory);
}

INSTANTIATE_TEST_SUITE_P(Sets, RamsesRealData, ::testing::ValuesIn(oracles()),
                         [](const auto& set) { return set.param.set; });

}  // namespace
}  // namespace octavo::formats::ramses
