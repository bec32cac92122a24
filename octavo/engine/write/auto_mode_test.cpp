#include "octavo/engine/write/auto_mode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

using ::testing::HasSubstr;

TEST(AutoMode, a_slow_store_is_written_in_the_background) {
  const WriteCost cost{.copying = 0.01, .writing = 0.25, .writing_cpu = 0.02};
  EXPECT_EQ(cheapest(cost, false).mode, Mode::background);
}

TEST(AutoMode, a_store_as_fast_as_memory_is_written_in_the_call_unless_cores_are_idle) {
  WriteCost cost{.copying = 0.01, .writing = 0.02, .writing_cpu = 0.02};
  EXPECT_EQ(cheapest(cost, false).mode, Mode::sync);
  cost.idle = 0.02;
  EXPECT_EQ(cheapest(cost, false).mode, Mode::background);
  cost.copying = 0.02;
  EXPECT_EQ(cheapest(cost, false).mode, Mode::sync) << "nothing is gained";
  EXPECT_EQ(cheapest({}, false).mode, Mode::sync);
}

TEST(AutoMode, lossless_in_the_background_needs_an_idle_core_or_a_store_slower_than_the_codec) {
  // Encoding halves the bytes, so raw values would take 0.2 s.
  WriteCost cost{.copying = 0.01, .encoding = 0.3, .writing = 0.1, .writing_cpu = 0.02, .ratio = 2};
  EXPECT_FALSE(cheapest(cost, true).encodes);
  EXPECT_EQ(cheapest(cost, true).mode, Mode::background);
  EXPECT_TRUE(cheapest(cost, false).encodes) << "the user has chosen the codec";
  cost.idle = 0.33;
  EXPECT_TRUE(cheapest(cost, true).encodes);
  cost.idle = 0;
  cost.writing = 0.4;
  EXPECT_TRUE(cheapest(cost, true).encodes);
  EXPECT_TRUE(cheapest(cost, true, Mode::sync).encodes);
  cost.writing = 0.1;
  cost.idle = 1;
  EXPECT_FALSE(cheapest(cost, true, Mode::sync).encodes) << "an idle core does not help a rank that waits";
}

TEST(AutoMode, the_reason_has_the_figures) {
  const WriteCost cost{.copying = 0.01, .encoding = 0.1, .writing = 0.25, .writing_cpu = 0.02, .ratio = 2.5};
  EXPECT_EQ(
      to_text(cheapest(cost, false), cost, 64'000'000),
      "background, encoded: the first step, 64.0 MB, took 0.010 s to copy, 0.100 s to encode (2.50 to 1), 0.250 s "
      "to write; the thread takes cores from the computation");
}

// A first step, then an interval in which the application uses `busy` of the time of a core.
AutoMode measured(double busy, const WriteCost& cost) {
  testing::everyone();  // starts MPI
  AutoMode mode;
  EXPECT_EQ(mode.choice().mode, Mode::background);
  mode.handed_over({10, 100});
  EXPECT_FALSE(mode.must_decide());
  mode.written(cost, 1000, 500);
  mode.written({.copying = 1e9}, 1, 1);  // of a later step
  mode.begins({20, 100 + 10 * busy + cost.encoding + cost.writing_cpu});
  EXPECT_TRUE(mode.must_decide());
  return mode;
}

TEST(AutoMode, cores_that_no_rank_uses_between_steps_are_idle) {
  const WriteCost cost{.copying = 0.01, .encoding = 0.3, .writing = 0.1, .writing_cpu = 0.02};
  AutoMode mode = measured(1.0, cost);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 1, true, {}), HasSubstr("takes cores"));
  EXPECT_FALSE(mode.choice().encodes);
  mode = measured(1.0, cost);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 2, true, {}), HasSubstr("finds idle cores"));
  EXPECT_TRUE(mode.choice().encodes);
  EXPECT_FALSE(mode.must_decide());
  mode = measured(2.0, cost);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 2, true, {}), HasSubstr("takes cores"));
}

}  // namespace
}  // namespace octavo::engine
