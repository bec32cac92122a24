#include "octavo/formats/ramses/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

class RamsesWriter : public ::testing::Test {
 protected:
  RamsesWriter() {
    std::string name = (fs::temp_directory_path() / "octavo_ramses_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~RamsesWriter() override { fs::remove_all(dir_); }
  fs::path dir_;
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
  for (const char* name : {"density", "pressure"}) {
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
  auto keyless = random_step(2);
  keyless.num_parts = 2;
  EXPECT_EQ(refused(keyless), Kind::unsupported);
}

TEST_F(RamsesWriter, octs_that_two_domains_share_are_not_supported) {
  auto step = random_step(5);
  auto part = step.read(0, {});
  std::get<mesh::Octree>(part.mesh).owned.back().set(0, false);
  step.read = [part](int, const mesh::Request&) { return part; };
  try {
    write(step, dir_ / "output_00001", {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unsupported);
  }
}

}  // namespace
}  // namespace octavo::formats::ramses
