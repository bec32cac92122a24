#include "octavo/parallel/step_job.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_octree.hpp"

namespace octavo::parallel {
namespace {

StepJob job_for(const std::filesystem::path& store, const std::vector<double>& values, const mesh::Octree& tree) {
  StepJob job;
  job.plan.store = store;
  job.plan.attempt = store::random_attempt();
  job.header.dim = tree.dim;
  job.header.roots = tree.roots;
  job.tree = tree;
  Source source;
  source.info.name = "density";
  source.view = view_of(values);
  job.fields.push_back(source);
  return job;
}

struct StepJobTest : ::testing::Test {
  void SetUp() override {
    std::string name = (std::filesystem::path(::testing::TempDir()) / "octavo_job_XXXXXX").string();
    store = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(store); }
  std::filesystem::path store;
  mesh::Octree tree = testing::random_octree(5);
  std::vector<double> values = std::vector<double>(num_cells(tree), 3.5);
  Group group;
  Staging staging{1 << 20};
};

TEST_F(StepJobTest, a_staged_step_no_longer_needs_the_arrays) {
  StepJob job = job_for(store, values, tree);
  staging.reserve(bytes_of(job));
  stage(job, staging);
  std::fill(values.begin(), values.end(), 0.0);
  carry_out(job, group, staging);
  EXPECT_EQ(store::open_step(store).read(0, {}).fields[0].as<double>()[0], 3.5);
  EXPECT_EQ(staging.reserve(1 << 20), 0);  // all memory was given back
}

TEST_F(StepJobTest, option_checksums_finds_a_stray_write_into_the_staged_copy) {
  StepJob job = job_for(store, values, tree);
  staging.reserve(bytes_of(job));
  stage(job, staging);
  job.fields[0].bytes[11] ^= std::byte{4};
  try {
    carry_out(job, group, staging);
    FAIL() << "the damage was not noticed";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    EXPECT_NE(std::string(error.what()).find("field density"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(store::list_steps(store).empty());
  EXPECT_EQ(staging.reserve(1 << 20), 0);
}

TEST_F(StepJobTest, without_the_option_checksums_nothing_is_compared) {
  StepJob job = job_for(store, values, tree);
  job.checksums = false;
  staging.reserve(bytes_of(job));
  stage(job, staging);
  EXPECT_EQ(job.fields[0].checksum, 0u);
  carry_out(job, group, staging);
  EXPECT_EQ(store::list_steps(store).size(), 1u);
}

TEST_F(StepJobTest, what_failed_before_is_thrown_and_nothing_is_written) {
  StepJob job = job_for(store, values, tree);
  job.failure = base::Error(base::Kind::no_space, "no memory");
  EXPECT_THROW(carry_out(job, group, staging), base::Error);
  EXPECT_TRUE(store::list_steps(store).empty());
}

}  // namespace
}  // namespace octavo::parallel
