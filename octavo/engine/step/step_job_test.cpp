#include "octavo/engine/step/step_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "octavo/engine/step/counted_memory.hpp"
#include "octavo/file/posix.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::engine {
namespace {

using testing::largest_allocation;

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
  void TearDown() override { file::set_observer({}); }
  testing::TemporaryFolder folder;
  std::filesystem::path store = folder.path();
  mesh::Octree tree = testing::random_octree(5);
  std::vector<double> values = std::vector<double>(num_cells(tree), 3.5);
  Group group;
  Staging staging{1 << 20};
};

void set_raw(StepJob& job) { job.encoding.codec.method = codec::Method::raw; }

TEST_F(StepJobTest, a_staged_step_no_longer_needs_the_arrays) {
  for (bool raw : {false, true}) {
    std::fill(values.begin(), values.end(), 3.5);
    StepJob job = job_for(store, values, tree);
    if (raw) set_raw(job);
    stage(job, staging);
    std::fill(values.begin(), values.end(), 0.0);
    carry_out(job, group, staging);
    EXPECT_EQ(store::open_step(store).read(0, {}).fields[0].as<double>()[0], 3.5);
    EXPECT_EQ(staging.held(), 0u);  // all memory was given back
  }
}

TEST_F(StepJobTest, option_checksums_finds_a_stray_write_into_the_staged_copy) {
  for (bool raw : {false, true}) {
    StepJob job = job_for(store, values, tree);
    if (raw) set_raw(job);
    stage(job, staging);
    job.fields[0].staged[11] ^= std::byte{4};
    try {
      carry_out(job, group, staging);
      FAIL() << "the damage was not noticed";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::corrupt);
      EXPECT_NE(std::string(error.what()).find("field density"), std::string::npos) << error.what();
    }
    EXPECT_TRUE(store::list_steps(store).empty());
    EXPECT_EQ(staging.held(), 0u);
  }
}

TEST_F(StepJobTest, without_the_option_checksums_nothing_is_compared) {
  StepJob job = job_for(store, values, tree);
  job.checksums = false;
  stage(job, staging);
  EXPECT_TRUE(job.fields[0].checksums.empty());
  carry_out(job, group, staging);
  EXPECT_EQ(store::list_steps(store).size(), 1u);
}

TEST_F(StepJobTest, without_the_option_checksums_raw_values_are_stored_without_and_read_all_the_same) {
  StepJob job = job_for(store, values, tree);
  job.checksums = false;
  set_raw(job);
  carry_out(job, group, staging);
  EXPECT_EQ(store::open_step(store).read(0, {}).fields[0].as<double>()[0], 3.5);
  EXPECT_TRUE(store::verify(store, 1).findings.empty());
}

TEST_F(StepJobTest, what_failed_before_is_thrown_and_nothing_is_written) {
  StepJob job = job_for(store, values, tree);
  job.failure = base::Error(base::Kind::no_space, "no memory");
  EXPECT_THROW(carry_out(job, group, staging), base::Error);
  EXPECT_TRUE(store::list_steps(store).empty());
}

// A field of 4 MiB in one level, so that nothing else of the step is nearly as large.
struct LargeStep {
  mesh::Octree tree;
  std::vector<double> values;
  LargeStep() {
    tree.roots = {64, 64, 8};
    tree.block = {4, 4, 1};
    tree.refined = {base::BitArray(64 * 64 * 8)};
    tree.owned = {base::BitArray(64 * 64 * 8, true)};
    values.resize(64 * 64 * 8 * 16);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  }
  StepJob job(const std::filesystem::path& store) const {
    StepJob job = job_for(store, values, tree);
    job.header.block = tree.block;
    job.fields[0].view = view_of(values);
    job.fields[0].view.block = {4, 4, 1};
    job.fields[0].view.cells = 64 * 64 * 8;
    set_raw(job);
    return job;
  }
};

TEST_F(StepJobTest, raw_fields_are_written_from_the_applications_arrays) {
  const LargeStep step;
  StepJob job = step.job(store);
  std::uint64_t from_the_array = 0;
  file::set_observer([&](const file::Event& event) {
    const auto* begin = reinterpret_cast<const std::byte*>(step.values.data());
    if (event.operation == file::Operation::write && event.bytes.data() >= begin &&
        event.bytes.data() < begin + step.values.size() * sizeof(double))
      from_the_array += event.bytes.size();
    return file::Verdict{};
  });
  largest_allocation = 0;
  carry_out(job, group, staging);
  EXPECT_EQ(from_the_array, step.values.size() * sizeof(double));
  EXPECT_LT(largest_allocation, step.values.size() * sizeof(double) / 4);
  const mesh::Part part = store::open_step(store).read(0, {});
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), step.values));
}

TEST_F(StepJobTest, a_flipped_bit_in_a_raw_stream_is_found) {
  StepJob job = job_for(store, values, tree);
  set_raw(job);
  carry_out(job, group, staging);
  const file::File file = file::open_write(store / "analysis" / "data.000");
  std::uint64_t end = 0;
  for (const auto& stream : store::list_streams(store, store::Flow::analysis, 0)) {
    if (stream.field != "density") continue;
    end = stream.offset + stream.stored_bytes;
    for (std::uint64_t at = stream.offset; at < end; at += at < stream.offset + 16 ? 1 : 1 + stream.stored_bytes / 20) {
      std::array<std::byte, 1> byte{};
      file::pread_all(file, at, byte);
      byte[0] ^= std::byte{16};
      file::pwrite_all(file, at, byte);
      EXPECT_EQ(store::verify(store, 1).findings.size(), 1u) << at - stream.offset;
      mesh::Request coarse;
      coarse.max_level = 0;
      EXPECT_THROW(store::open_step(store).read(0, coarse), base::Error) << at - stream.offset;
      byte[0] ^= std::byte{16};
      file::pwrite_all(file, at, byte);
    }
    break;  // coarser levels are in the first
  }
  EXPECT_GT(end, 0u);
}

TEST_F(StepJobTest, a_background_step_allocates_nothing_as_large_as_a_field) {
  const LargeStep step;
  Staging arena(std::uint64_t{8} << 20);
  StepJob job = step.job(store);
  largest_allocation = 0;
  stage(job, arena);
  carry_out(job, group, arena);
  EXPECT_LT(largest_allocation, step.values.size() * sizeof(double) / 4);
}

TEST_F(StepJobTest, strided_raw_fields_pass_through_a_small_buffer) {
  const LargeStep step;
  std::vector<double> both(2 * step.values.size());
  for (std::size_t i = 0; i < step.values.size(); ++i) both[2 * i + 1] = step.values[i];
  StepJob job = step.job(store);
  job.fields[0].view.data = both.data() + 1;
  job.fields[0].view.stride = {32, 2, 8, 0, 0};
  largest_allocation = 0;
  carry_out(job, group, staging);
  EXPECT_LT(largest_allocation, step.values.size() * sizeof(double) / 4);
  const mesh::Part part = store::open_step(store).read(0, {});
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), step.values));
  EXPECT_TRUE(store::verify(store, 1).findings.empty());
}

}  // namespace
}  // namespace octavo::engine
