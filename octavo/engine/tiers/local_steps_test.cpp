#include "octavo/engine/tiers/local_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace octavo::engine {
namespace {

using store::Flow;
using ::testing::ElementsAre;

store::Attempt run_of(int number) {
  store::Attempt run{};
  run[3] = static_cast<std::byte>(number);
  return run;
}

// Step `number` of a run that began when the store had 10 orders, two segments a step.
LocalRow local(int run, int number, int segment, bool committed = true) {
  LocalRow row;
  row.name = {Flow::checkpoint, static_cast<std::uint64_t>(11 + number), 10, run_of(run), segment};
  row.step = 100 + number;
  row.segments = 2;
  row.committed = committed;
  return row;
}
StepKey key(int run, int number, Flow flow = Flow::checkpoint) {
  const LocalRow row = local(run, number, 0);
  return {flow, row.step, attempt_of(row.name)};
}
StepInStore stored(int number, std::set<int> segments) {
  return {static_cast<std::uint64_t>(11 + number), 0, segments};
}

TEST(LocalSteps, a_name_says_whose_a_segment_is_and_no_other_name_is_taken_for_one) {
  const LocalName name{Flow::analysis, 1234, 17, store::random_attempt(), 12345};
  EXPECT_EQ(parse_local_name(to_text(name)), name);
  const std::string text = to_text(name);
  for (const std::string& other :
       {std::string("data.000"), std::string(), text + "0x", "x" + text, text.substr(1), text.substr(0, 40)})
    EXPECT_FALSE(parse_local_name(other)) << other;
}

TEST(LocalSteps, stores_of_one_name_in_different_places_do_not_meet) {
  EXPECT_NE(local_root("/disk", "/a/run.octavo", "n1"), local_root("/disk", "/b/run.octavo", "n1"));
  EXPECT_EQ(local_root("/disk", "/a/./run.octavo", "n1"), local_root("/disk", "/a/run.octavo", "n1"));
}

TEST(LocalSteps, complete_over_all_hosts_is_drained_and_what_lacks_a_host_is_not) {
  EXPECT_THAT(judge(std::vector{local(1, 0, 0), local(1, 0, 1)}, {}), ElementsAre(Fate::drain, Fate::drain));
  EXPECT_THAT(judge(std::vector{local(1, 0, 1)}, {}), ElementsAre(Fate::incomplete));
  // One segment was drained before the run ended.
  EXPECT_THAT(judge(std::vector{local(1, 0, 1)}, {{key(1, 0), stored(0, {0})}}), ElementsAre(Fate::drain));
}

TEST(LocalSteps, what_is_in_the_store_or_was_never_committed_can_go) {
  EXPECT_THAT(
      judge(std::vector{local(1, 0, 0), local(1, 0, 1), local(1, 1, 0, false)}, {{key(1, 0), stored(0, {0, 1})}}),
      ElementsAre(Fate::stored, Fate::stored, Fate::stored));
}

TEST(LocalSteps, a_store_that_has_gone_on_is_not_given_an_abandoned_branch) {
  const std::vector rows{local(1, 3, 0), local(1, 3, 1)};
  // Later steps of another run supersede it; those of the same run do not.
  EXPECT_THAT(judge(rows, {{key(1, 4), stored(4, {0})}}), ElementsAre(Fate::drain, Fate::drain));
  EXPECT_THAT(judge(rows, {{key(2, 0), stored(0, {0})}}), ElementsAre(Fate::abandoned, Fate::abandoned));
  EXPECT_THAT(judge(rows, {{key(2, 0), {10, 0, {0}}}}), ElementsAre(Fate::drain, Fate::drain));
  EXPECT_THAT(judge(rows, {{key(2, 0, Flow::analysis), stored(0, {0})}}), ElementsAre(Fate::drain, Fate::drain));
}

// Compared one with another, these would be 10^11 pairs. A step that a mark vouches for has no list of its segments.
TEST(LocalSteps, ten_thousand_segments_beside_two_thousand_steps_of_ten_thousand_files_are_judged_one_by_one) {
  constexpr int steps = 2000, files = 10000, of_each = 5;
  StepsInStore in_store;
  std::vector<LocalRow> rows;
  for (int number = 0; number < steps; ++number) {
    const bool is_there = number % 2 == 0;
    if (is_there) in_store[key(1, number)] = {static_cast<std::uint64_t>(11 + number), files, {}};
    for (int segment = 0; segment < of_each; ++segment) {
      rows.push_back(local(1, number, segment));
      rows.back().segments = is_there ? files : of_each;
    }
  }
  const std::vector<Fate> fates = judge(rows, in_store);
  for (std::size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(fates[i], i / of_each % 2 == 0 ? Fate::stored : Fate::drain) << i;
}

}  // namespace
}  // namespace octavo::engine
