// Real outputs, with what an independent reader found in them (oracle.json beside each).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/formats/amrex/amrex.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"
#include "tests/support/amrex_whole.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path data_path() {
  if (const char* path = std::getenv("OCTAVO_DATA")) return fs::path(path) / "amrex";
  return fs::path(__FILE__).parent_path() / "../../../../shared/data/amrex";
}

struct Sample {
  std::string name;  ///< "multi3d_r4/plt00007"
  fs::path path;
  json oracle;
};

std::vector<Sample> samples(const std::string& kind) {
  std::vector<Sample> found;
  if (!fs::is_directory(data_path())) return found;
  for (const auto& set : fs::directory_iterator(data_path())) {
    if (!fs::exists(set.path() / "oracle.json")) continue;
    const json oracle = json::parse(std::ifstream(set.path() / "oracle.json"));
    for (const auto& [name, entry] : oracle.items())
      if (entry.is_object() && entry.contains(kind))
        found.push_back({set.path().filename().string() + "/" + name, set.path() / name, entry});
  }
  return found;
}

/// Minimum, maximum and sum.
struct Summary {
  double min = INFINITY, max = -INFINITY, sum = 0, magnitude = 0;
  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
    magnitude += std::abs(value);
  }
};

void expect_summary(const Summary& found, const json& expected, const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_EQ(found.min, expected["min"].get<double>());
  EXPECT_EQ(found.max, expected["max"].get<double>());
  // Sums differ only by the order of their terms.
  EXPECT_NEAR(found.sum, expected["sum"].get<double>(), 1e-12 * found.magnitude);
}

Summary summarise(const mesh::Field& field, std::size_t first, std::size_t count) {
  Summary summary;
  mesh::visit_values(field, [&](auto values) {
    for (std::size_t i = first; i < first + count; ++i) summary.add(static_cast<double>(values[i]));
  });
  return summary;
}

std::size_t num_cells(const std::vector<mesh::IndexBox>& boxes, int dim) {
  std::size_t n = 0;
  for (const auto& box : boxes) n += static_cast<std::size_t>(mesh::num_cells(box, dim));
  return n;
}

// As NumPy calls it.
std::string type_name(const RealFormat& format) {
  if (format.order == std::endian::little) return std::string(mesh::name_of(format.type));
  return format.type == mesh::ScalarType::float64 ? ">f8" : ">f4";
}

TEST(amrex_real, every_plotfile_has_the_patches_and_values_of_the_oracle) {
  const auto all = samples("names");
  if (all.empty()) GTEST_SKIP() << "no real data at " << data_path();
  for (const Sample& sample : all) {
    SCOPED_TRACE(sample.name);
    const AmrexOutput output = open_output(sample.path);
    const mesh::Part part = read_patches(output);
    const auto& patches = std::get<mesh::Patches>(part.mesh);
    EXPECT_EQ(output.header.time, sample.oracle["time"].get<double>());
    EXPECT_EQ(patches.dim, sample.oracle["dim"].get<int>());
    EXPECT_EQ(patches.ratio, sample.oracle["ref_ratio"].get<std::vector<int>>());
    ASSERT_EQ(patches.boxes.size(), sample.oracle["levels"].size());
    std::size_t first = 0;
    for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
      const json& expected = sample.oracle["levels"][level];
      const std::size_t cells = num_cells(patches.boxes[level], patches.dim);
      EXPECT_EQ(patches.boxes[level].size(), expected["boxes"].get<std::size_t>());
      EXPECT_EQ(cells, expected["cells"].get<std::size_t>());
      for (const mesh::Field& field : part.fields) {
        EXPECT_EQ(type_name(output.multifabs[level][0].format), expected["fab_dtype"].get<std::string>());
        EXPECT_EQ(field.info.type, output.multifabs[level][0].format.type);
        expect_summary(summarise(field, first, cells), expected["comp"][field.info.name], field.info.name);
      }
      first += cells;
    }
  }
}

TEST(amrex_real, every_multifab_of_a_checkpoint_has_the_values_of_the_oracle) {
  const auto all = samples("multifabs");
  if (all.empty()) GTEST_SKIP() << "no real data at " << data_path();
  for (const Sample& sample : all)
    for (const auto& [name, expected] : sample.oracle["multifabs"].items()) {
      SCOPED_TRACE(sample.name + "/" + name);
      const MultiFab multifab = open_multifab(sample.path / name);
      EXPECT_EQ(multifab.version, expected["version"].get<int>());
      const auto ghost = expected["ngrow"].get<std::int64_t>();
      EXPECT_EQ(multifab.ghost[0], ghost);
      const auto type = expected["index_type"].get<std::vector<std::int64_t>>();
      for (std::size_t axis = 0; axis < type.size(); ++axis) EXPECT_EQ(multifab.boxes.nodal[axis], type[axis]);
      EXPECT_EQ(num_cells(multifab.boxes.boxes, multifab.boxes.dim), expected["points"].get<std::size_t>());
      // Once without ghost cells, like the oracle, and once with them. The inner values must be the same.
      std::vector<Take> takes;
      std::size_t values = 0;
      for (std::size_t i = 0; i < multifab.boxes.boxes.size(); ++i) {
        takes.push_back({i, multifab.boxes.boxes[i], values});
        values += static_cast<std::size_t>(mesh::num_cells(multifab.boxes.boxes[i], multifab.boxes.dim));
      }
      for (int c = 0; c < multifab.components; ++c) {
        mesh::Field field = mesh::make_field({.name = name, .unit = "", .type = multifab.format.type}, values);
        const std::span<std::byte> target(field.bytes);
        read_cells(multifab, takes, std::span(&c, 1), field.info.type, std::span(&target, 1));
        const auto at = static_cast<std::size_t>(c);
        expect_summary(summarise(field, 0, values),
                       {{"min", expected["min"][at]}, {"max", expected["max"][at]}, {"sum", expected["sum"][at]}},
                       name);
      }
      const MultiFabValues whole = read_multifab(multifab);
      EXPECT_EQ(whole.fields.size(), static_cast<std::size_t>(multifab.components));
      EXPECT_EQ(whole.fields[0].size(), num_cells(whole.boxes, multifab.boxes.dim));
      EXPECT_EQ(whole.fields[0].info.ghost, static_cast<int>(ghost));
    }
}

// Integral, by field, and owned leaves, by level index, over all parts.
struct Totals {
  std::map<std::string, double> integral;
  std::map<int, std::int64_t> leaves;
  double volume = 0;
};

Totals integrate(const mesh::Dataset& dataset) {
  Totals totals;
  for (int number = 0; number < dataset.num_parts; ++number) {
    const mesh::Part part = dataset.read(number, {});
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    mesh::validate(tree);
    const auto offsets = mesh::level_offsets(tree);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      const auto l = static_cast<std::size_t>(level);
      const mesh::Point3 size = mesh::cell_size(dataset.header, level);
      double volume = 1;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) volume *= size[axis];
      for (std::size_t i = 0; i < tree.owned[l].size(); ++i) {
        if (!tree.owned[l][i] || tree.refined[l][i]) continue;
        ++totals.leaves[mesh::code_level(dataset.header, level)];
        totals.volume += volume;
        for (const mesh::Field& field : part.fields)
          mesh::visit_values(field, [&](auto values) {
            totals.integral[field.info.name] += volume * static_cast<double>(values[offsets[l] + i]);
          });
      }
    }
  }
  return totals;
}

TEST(amrex_real, as_trees_in_any_number_of_parts_plotfiles_integrate_to_the_oracle) {
  const auto all = samples("names");
  if (all.empty()) GTEST_SKIP() << "no real data at " << data_path();
  for (const Sample& sample : all)
    for (const std::int64_t part_cells : {std::int64_t{1} << 20, std::int64_t{700}}) {
      SCOPED_TRACE(sample.name + ", parts of " + std::to_string(part_cells));
      DatasetOptions options;
      options.part_cells = part_cells;
      options.max_roots = part_cells == 700 ? 100 : 4096;  // unfolded, too
      const mesh::Dataset dataset = open(sample.path, options);
      EXPECT_EQ(dataset.num_parts > 1, part_cells == 700);
      const Totals totals = integrate(dataset);
      // About 1e4 additions, each exact to 1e-16. The float build wrote cell sizes rounded to 4 bytes, and the oracle
      // computed its volumes from them.
      const double tolerance = sample.name.starts_with("single") ? 1e-7 : 1e-12;
      EXPECT_NEAR(totals.volume, sample.oracle["volume"].get<double>(), tolerance);
      for (const auto& [name, expected] : sample.oracle["integral"].items())
        EXPECT_NEAR(totals.integral.at(name), expected.get<double>(), tolerance * std::abs(expected.get<double>()))
            << name;
      for (const mesh::LevelCount& level : dataset.levels) {
        const json& expected = sample.oracle["levels"][static_cast<std::size_t>(level.level)];
        EXPECT_EQ(level.cells, expected["cells"].get<std::int64_t>());
        EXPECT_EQ(level.leaves, expected["uncovered"].get<std::int64_t>());
        EXPECT_EQ(totals.leaves.at(level.level), level.leaves);
      }
    }
}

// ---------------------------------------------------------------------------------------------------------- particles

Summary summarise(const std::vector<mesh::Particles>& parts, const std::string& name) {
  Summary summary;
  for (const mesh::Particles& particles : parts)
    for (const mesh::Field& field : particles.attributes)
      if (field.info.name == name)
        mesh::visit_values(field, [&](auto values) {
          for (const auto value : values) summary.add(static_cast<double>(value));
        });
  return summary;
}

void expect_particles(const std::vector<mesh::Particles>& parts, const json& expected) {
  std::int64_t count = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> identities;
  for (const mesh::Particles& particles : parts) {
    count += particles.count;
    const auto find = [&](const std::string& name) -> const mesh::Field& {
      return *std::find_if(particles.attributes.begin(), particles.attributes.end(),
                           [&](const mesh::Field& field) { return field.info.name == name; });
    };
    const auto ids = find("id").as<std::int64_t>();
    const auto cpus = find("cpu").as<std::int32_t>();
    for (std::size_t i = 0; i < ids.size(); ++i) identities.emplace(ids[i], cpus[i]);
  }
  EXPECT_EQ(count, expected["total_read"].get<std::int64_t>());
  EXPECT_EQ(identities.size(), expected["unique_id_cpu"].get<std::size_t>());
  expect_summary(summarise(parts, "id"), expected["id"], "id");
  expect_summary(summarise(parts, "cpu"), expected["cpu"], "cpu");
  for (const auto& [axis, values] : expected["pos"].items())
    expect_summary(summarise(parts, "position_" + axis), values, axis);
  for (const auto& [name, values] : expected["reals"].items()) expect_summary(summarise(parts, name), values, name);
  for (const auto& [name, values] : expected["ints"].items()) expect_summary(summarise(parts, name), values, name);
}

TEST(amrex_real, particles_of_all_parts_together_are_those_of_the_oracle) {
  auto all = samples("names");
  for (Sample& sample : samples("multifabs")) all.push_back(std::move(sample));
  if (all.empty()) GTEST_SKIP() << "no real data at " << data_path();
  std::size_t checked = 0;
  for (const Sample& sample : all)
    for (const auto& [key, expected] : sample.oracle.items()) {
      if (!key.starts_with("particles:")) continue;
      for (const std::int64_t part_cells : {std::int64_t{1} << 20, std::int64_t{700}}) {
        SCOPED_TRACE(sample.name + " " + key + ", parts of " + std::to_string(part_cells));
        DatasetOptions options;
        options.part_cells = part_cells;
        const mesh::Dataset dataset = open(sample.path, options);
        std::vector<mesh::Particles> parts;
        mesh::Request request;
        request.fields = std::vector<std::string>{};
        request.particles = true;
        for (int part = 0; part < dataset.num_parts; ++part)
          for (mesh::Particles& particles : dataset.read(part, request).particles)
            if ("particles:" + particles.species == key) parts.push_back(std::move(particles));
        expect_particles(parts, expected);
        ++checked;
      }
    }
  EXPECT_GT(checked, 10U);
}

TEST(amrex_real, a_wrongly_indexed_particle_folder_is_damage_and_never_a_number) {
  const fs::path path = data_path() / "asyncbad2d_r4/bad/chk00007";
  if (!fs::is_directory(path)) GTEST_SKIP() << "no real data at " << data_path();
  const mesh::Dataset dataset = open(path);
  EXPECT_TRUE(std::any_of(dataset.notes.begin(), dataset.notes.end(),
                          [](const std::string& note) { return note.starts_with("damaged"); }));
  EXPECT_GT(dataset.read(0, {}).fields[0].size(), 0U);
  mesh::Request request;
  request.particles = true;
  try {
    dataset.read(0, request);
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt) << error.what();
  }
}

// ------------------------------------------------------------------------------------------------- written and read

std::multiset<std::vector<double>> rows_of(const mesh::Particles& particles) {
  std::multiset<std::vector<double>> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(particles.count); ++i) {
    std::vector<double> row;
    for (const mesh::Field& field : particles.attributes)
      mesh::visit_values(field, [&](auto values) { row.push_back(static_cast<double>(values[i])); });
    rows.insert(row);
  }
  return rows;
}

mesh::Part read_all(const AmrexOutput& output) {
  mesh::Part part = read_patches(output);
  for (const ParticleFolder& folder : output.particles) {
    std::vector<GridNumber> grids;
    for (std::size_t level = 0; level < folder.grids.size(); ++level)
      for (std::size_t grid = 0; grid < folder.grids[level].size(); ++grid) grids.push_back({level, grid});
    part.particles.push_back(read_particles(folder, grids, [](const auto&, const auto&) { return true; }));
  }
  return part;
}

void expect_same(const AmrexOutput& before, const mesh::Part& expected, const AmrexOutput& after) {
  const mesh::Part found = read_all(after);
  EXPECT_EQ(std::get<mesh::Patches>(found.mesh), std::get<mesh::Patches>(expected.mesh));
  EXPECT_EQ(found.fields, expected.fields);
  EXPECT_EQ(after.header.time, before.header.time);
  EXPECT_EQ(after.header.attributes.at("level_steps"), before.header.attributes.at("level_steps"));
  // Plotfiles have no time steps.
  if (before.header.attributes.contains("level_dt") && after.family == OutputFamily::hand_written) {
    EXPECT_EQ(after.header.attributes.at("level_dt"), before.header.attributes.at("level_dt"));
  }
  ASSERT_EQ(found.particles.size(), expected.particles.size());
  for (std::size_t i = 0; i < found.particles.size(); ++i) {
    EXPECT_EQ(found.particles[i].species, expected.particles[i].species);
    EXPECT_EQ(rows_of(found.particles[i]), rows_of(expected.particles[i]));
  }
}

TEST(amrex_real, what_is_written_again_is_read_as_the_same_bits) {
  const auto all = samples("names");
  if (all.empty()) GTEST_SKIP() << "no real data at " << data_path();
  const fs::path folder = fs::path(::testing::TempDir()) / ("amrex_again_" + std::to_string(getpid()));
  int number = 0;
  for (const Sample& sample : all)
    for (const int files : {0, 3}) {
      SCOPED_TRACE(sample.name);
      const AmrexOutput output = open_output(sample.path);
      const mesh::Part part = read_all(output);
      const fs::path path = folder / ("plt" + std::to_string(number++));
      write_plotfile(path, output.header, part, {.files = files, .sync = false});
      expect_same(output, part, open_output(path));
      // The table of minima and maxima equals AMReX's, unless values were rounded after it was made.
      const MultiFab here = open_output(path).multifabs[0][0];
      if (output.multifabs[0][0].minima.size() == here.minima.size() && here.format.type == mesh::ScalarType::float64) {
        EXPECT_EQ(here.minima, output.multifabs[0][0].minima);
        EXPECT_EQ(here.maxima, output.multifabs[0][0].maxima);
      }
      std::vector<NamedFields> names{{"State", {}}};
      for (std::size_t i = 0; i < part.fields.size(); ++i) names[0].fields.push_back(i);
      const fs::path chk = folder / ("chk" + std::to_string(number));
      mesh::Header header = output.header;
      EXPECT_THROW(write_checkpoint(chk, "Checkpoint file", header, part, names), base::Error);  // no time step
      header.attributes["level_dt"] = std::vector<double>{0.5};
      write_checkpoint(chk, "Checkpoint file", header, part, names, {.files = files, .sync = false});
      const AmrexOutput again = open_output(chk);
      expect_same(output, part, again);
      EXPECT_EQ(again.header.lo, header.lo);
      EXPECT_EQ(again.header.hi, header.hi);
      EXPECT_EQ(again.header.time, header.time);
      EXPECT_TRUE(again.common_form);
    }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace octavo::formats::amrex
