#include "octavo/engine/step/step_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/step/counted_memory.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/layout.hpp"
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
  StepArray source;
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

// All streams: field, codec, place and the checksum of the bytes.
std::string streams_of(const std::filesystem::path& store) {
  std::string text;
  for (const auto& stream : store::list_streams(store, store::Flow::analysis, 0)) {
    std::vector<std::byte> bytes(stream.stored_bytes);
    file::pread_all(file::open_read(stream.file), stream.offset, bytes);
    text += stream.field + " " + stream.codec + " " + std::to_string(stream.offset) + " " +
            std::to_string(base::checksum(bytes)) + "\n";
  }
  return text;
}

// Three fields of 4 MiB, of which the second is strided, and particles.
StepJob many_fields(const LargeStep& step, const std::vector<double>& both, const std::filesystem::path& store) {
  StepJob job = step.job(store);
  job.fields.push_back(job.fields[0]);
  job.fields[1].info.name = "strided";
  job.fields[1].view.data = both.data() + 1;
  job.fields[1].view.stride = {32, 2, 8, 0, 0};
  job.fields.push_back(job.fields[0]);
  job.fields[2].info.name = "energy";
  job.species.push_back({"stars", 1000, {StepArray{}}});
  job.species[0].attributes[0].info = {"mass", "", mesh::ScalarType::float64, mesh::Centring::particle, 1, 0};
  job.species[0].attributes[0].view = view_of(std::span(step.values).first(1000));
  return job;
}

TEST_F(StepJobTest, a_step_larger_than_staging_takes_no_more_memory_than_staging_and_gives_the_same_bytes) {
  const LargeStep step;
  std::vector<double> both(2 * step.values.size());
  for (std::size_t i = 0; i < step.values.size(); ++i) both[2 * i + 1] = step.values[i];
  for (const bool raw : {true, false}) {
    testing::TemporaryFolder whole;
    StepJob job = many_fields(step, both, whole.path());
    if (!raw) job.encoding.codec.method = codec::Method::zstd;
    carry_out(job, group, staging);
    const std::string expected = streams_of(whole.path());
    for (const std::uint64_t arena_bytes : {std::uint64_t{1} << 12, std::uint64_t{3} << 20, std::uint64_t{5} << 20}) {
      testing::TemporaryFolder other;
      Staging arena(arena_bytes);
      StepJob through = many_fields(step, both, other.path());
      if (!raw) through.encoding.codec.method = codec::Method::zstd;
      testing::most_allocated = testing::allocated.load();
      const std::int64_t before = testing::allocated;
      stage(through, arena);
      EXPECT_LE(arena.held(), arena_bytes);
      EXPECT_GT(arena.held() + 1000 * 8 + 4096, arena_bytes / 2);
      EXPECT_GE(through.lent_bytes + arena_bytes, bytes_of(through));
      int released = 0;
      carry_out(through, group, arena, [&] { ++released; });
      if (raw) {
        EXPECT_LT(testing::most_allocated - before, std::int64_t{1} << 20);
      }
      EXPECT_EQ(released, 1);
      EXPECT_EQ(arena.held(), 0u);
      EXPECT_EQ(streams_of(other.path()), expected);
      EXPECT_TRUE(store::verify(other.path(), 1).findings.empty());
    }
  }
}

TEST_F(StepJobTest, once_the_lent_cells_are_read_the_arrays_are_the_applications_again) {
  const LargeStep step;
  for (const bool raw : {true, false}) {
    LargeStep lent = step;
    testing::TemporaryFolder other;
    Staging arena(std::uint64_t{3} << 20);
    StepJob job = lent.job(other.path());
    if (!raw) job.encoding.codec.method = codec::Method::zstd;
    stage(job, arena);
    std::fill(lent.values.begin() + static_cast<std::ptrdiff_t>(16 * job.fields[0].lent), lent.values.end(), -1.0);
    EXPECT_GT(job.fields[0].lent, 0u);
    std::uint64_t held = 0;
    carry_out(job, group, arena, [&] {
      held = arena.held();
      std::fill(lent.values.begin(), lent.values.end(), -1.0);
    });
    EXPECT_GT(held, 0u) << "the copy is still to be written";
    const mesh::Part part = store::open_step(other.path()).read(0, {});
    EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), step.values));
  }
}

TEST_F(StepJobTest, a_stray_write_into_the_copied_end_of_a_step_is_found) {
  const LargeStep step;
  for (const bool raw : {true, false}) {
    testing::TemporaryFolder other;
    Staging arena(std::uint64_t{3} << 20);
    StepJob job = step.job(other.path());
    if (!raw) job.encoding.codec.method = codec::Method::zstd;
    stage(job, arena);
    job.fields[0].staged[job.fields[0].staged.size() - 5] ^= std::byte{4};
    EXPECT_THROW(carry_out(job, group, arena), base::Error);
    EXPECT_EQ(arena.held(), 0u);
  }
}

TEST_F(StepJobTest, no_write_of_raw_values_crosses_a_multiple_of_256_kib_in_the_file) {
  const LargeStep step;
  std::vector<double> both(2 * step.values.size());
  std::uint64_t writes = 0;
  file::set_observer([&](const file::Event& event) {
    if (event.operation != file::Operation::write || event.size < 4096 || event.offset < store::head_size)
      return file::Verdict{};
    ++writes;
    EXPECT_EQ(event.offset / store::tile_bytes, (event.offset + event.size - 1) / store::tile_bytes);
    return file::Verdict{};
  });
  StepJob job = many_fields(step, both, store);
  carry_out(job, group, staging);
  EXPECT_GE(writes, 3 * 16u);
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
