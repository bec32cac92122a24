#include "octavo/engine/plan.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>

#include "octavo/base/error.hpp"
#include "octavo/engine/engine.hpp"

namespace octavo::engine {
namespace {

std::vector<int> hosts(int ranks, int ranks_per_host) {
  std::vector<int> out;
  for (int r = 0; r < ranks; ++r) out.push_back(r / ranks_per_host);
  return out;
}

// Every rank in one file, that of its own host, in ascending order behind the ranks before it.
void expect_sound(const WritePlan& plan, const std::vector<int>& host, const std::vector<std::uint64_t>& bytes) {
  std::vector<int> seen(host.size(), 0);
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    const PlannedFile& file = plan.files[f];
    ASSERT_GT(file.count, 0);
    EXPECT_EQ(file.writer, plan.contributors[static_cast<std::size_t>(file.first)]);
    std::uint64_t position = 0;
    for (int c = 0; c < file.count; ++c) {
      const auto rank = static_cast<std::size_t>(plan.contributors[static_cast<std::size_t>(file.first + c)]);
      ++seen[rank];
      ASSERT_EQ(plan.file_of_rank[rank], static_cast<int>(f));
      ASSERT_EQ(host[rank], host[static_cast<std::size_t>(file.writer)]);
      ASSERT_EQ(plan.offset[rank], position);
      if (!bytes.empty()) position += bytes[rank];
    }
    EXPECT_EQ(file.bytes, position);
  }
  EXPECT_EQ(seen, std::vector<int>(host.size(), 1));
}

TEST(Plan, every_rank_has_one_place_whatever_the_hosts_and_options) {
  for (int ranks : {1, 2, 3, 7, 24})
    for (int per_host : {1, 2, 5, 24})
      for (int contributors : {0, 1, 2, 3, 100})
        for (int writers : {0, 1, 2}) {
          const auto host = hosts(ranks, per_host);
          std::vector<std::uint64_t> bytes;
          for (int r = 0; r < ranks; ++r) bytes.push_back(static_cast<std::uint64_t>(r * r % 11));
          expect_sound(plan_write(host, bytes, {contributors, writers}), host, bytes);
        }
}

TEST(Plan, hosts_may_be_dealt_round_robin) {
  const std::vector<int> host{9, 4, 9, 4, 9};
  const WritePlan plan = plan_write(host, {}, {0, 0});
  expect_sound(plan, host, {});
  ASSERT_EQ(plan.files.size(), 2u);
  EXPECT_EQ(plan.files[0].writer, 0);
  EXPECT_EQ(plan.files[0].count, 3);
}

TEST(Plan, contributors_of_a_host_are_shared_evenly) {
  const WritePlan plan = plan_write(hosts(10, 10), {}, {4, 0});
  ASSERT_EQ(plan.files.size(), 3u);
  EXPECT_EQ(plan.files[0].count, 4);
  EXPECT_EQ(plan.files[1].count, 3);
  EXPECT_EQ(plan.files[2].count, 3);
}

TEST(Plan, writers_per_node_limits_the_files_of_a_host) {
  EXPECT_EQ(plan_write(hosts(12, 6), {}, {1, 2}).files.size(), 4u);
  EXPECT_EQ(plan_write(hosts(12, 6), {}, {6, 2}).files.size(), 2u);
}

TEST(Plan, what_makes_no_sense_is_refused) {
  EXPECT_THROW(plan_write({}, {}, {}), base::Error);
  EXPECT_THROW(plan_write(hosts(2, 1), std::vector<std::uint64_t>{1}, {}), base::Error);
  EXPECT_THROW(plan_write(hosts(2, 1), {}, {-1, 0}), base::Error);
}

TEST(Plan, fifty_thousand_ranks_take_milliseconds_and_a_megabyte) {
  const auto host = hosts(50000, 128);
  const std::vector<std::uint64_t> bytes(host.size(), 300'000'000);
  const std::clock_t begin = std::clock();  // CPU time: a busy machine may stop us in between
  const WritePlan plan = plan_write(host, bytes, {16, 0});
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  expect_sound(plan, host, bytes);
  EXPECT_LT(took, 0.1);
  const std::size_t memory = plan.files.capacity() * sizeof(PlannedFile) + plan.contributors.capacity() * sizeof(int) +
                             plan.file_of_rank.capacity() * sizeof(int) +
                             plan.offset.capacity() * sizeof(std::uint64_t);
  EXPECT_LT(memory, 1'100'000u);
  RecordProperty("seconds", std::to_string(took));
  RecordProperty("bytes", std::to_string(memory));
  const PlanCost cost = cost_of(plan);
  EXPECT_EQ(cost.hosts, 391);
  EXPECT_EQ(cost.files, 390 * 8 + 5);
  EXPECT_EQ(cost.bytes, 15'000'000'000'000u);
}

TEST(Plan, prints_totals_and_the_first_files) {
  const std::vector<std::uint64_t> bytes(6, 100);
  const std::string text = to_text(plan_write(hosts(6, 3), bytes, {2, 0}), 1);
  EXPECT_NE(text.find("6 ranks on 2 hosts write 4 files, up to 2 contributors a file"), std::string::npos) << text;
  EXPECT_NE(text.find("600 bytes before encoding; largest file 200, smallest 100, largest host 300"),
            std::string::npos);
  EXPECT_NE(text.find("file 0: host 0, writer 0, 2 contributors, 200 bytes"), std::string::npos);
  EXPECT_NE(text.find("and 3 more"), std::string::npos);
}

TEST(Plan, time_is_that_of_the_slowest_stage_after_creating) {
  const std::vector<std::uint64_t> bytes(4, 1000);
  const PlanCost cost = cost_of(plan_write(hosts(4, 2), bytes, {1, 0}));
  EXPECT_DOUBLE_EQ(seconds_of_step(cost, {.bytes_per_second_of_writer = 100}), 10);
  EXPECT_DOUBLE_EQ(seconds_of_step(cost, {.bytes_per_second_of_writer = 100, .bytes_per_second_of_host = 100}), 20);
  EXPECT_DOUBLE_EQ(seconds_of_step(cost, {.bytes_per_second = 100, .creates_per_second = 2}), 42);
  // Three syncs a file, one after another; the writers of all files sync at once.
  EXPECT_DOUBLE_EQ(seconds_of_step(cost, {.bytes_per_second = 100, .syncs_per_second = 6}), 40.5);
}

// 16,384 ranks that write four files each and 4.7 TB a step: a quota of two million files ends it after 30 steps.
TEST(Plan, a_quota_of_files_or_bytes_ends_a_run) {
  const std::vector<std::uint64_t> bytes(16384, 4'700'000'000'000 / 16384);
  PlanCost cost = cost_of(plan_write(hosts(16384, 128), bytes, {1, 0}));
  const Machine machine{.quota_files = 2'000'000, .quota_bytes = 100'000'000'000'000};
  EXPECT_EQ(steps_in_quota(cost, machine, 7.1, true), 151);
  cost.creates *= 4;
  EXPECT_EQ(steps_in_quota(cost, machine, 7.1, false), 30);
  EXPECT_EQ(steps_in_quota(cost, machine, 1, false), 21);
  EXPECT_EQ(steps_in_quota(cost, {}, 1, false), -1);
}

}  // namespace
}  // namespace octavo::engine
