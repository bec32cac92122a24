#include "octavo/engine/write/auto_mode.hpp"

#include <gtest/gtest.h>

#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

TEST(AutoMode, a_slow_store_is_written_in_the_background) {
  EXPECT_EQ(cheaper({.calls = 4, .computing = 10, .working = 4}, {.calls = 0.2, .computing = 10, .working = 4}),
            Mode::background);
}

TEST(AutoMode, on_a_store_as_fast_as_memory_the_slowdown_of_the_computation_makes_it_sync) {
  // In the background the call is cheaper, but the whole is not.
  const TrialCost sync{.calls = 1.0, .computing = 10.0, .working = 1.0};
  EXPECT_EQ(cheaper(sync, {.calls = 0.4, .computing = 10.9, .working = 1.2}), Mode::sync);
  EXPECT_EQ(cheaper(sync, {.calls = 0.4, .computing = 10.1, .working = 1.2}), Mode::background);
}

TEST(AutoMode, computation_that_takes_longer_for_reasons_of_its_own_does_not_count) {
  const TrialCost sync{.calls = 2.0, .computing = 10.0, .working = 2.0};
  EXPECT_EQ(cheaper(sync, {.calls = 0.2, .computing = 60.0, .working = 1.0}), Mode::background);
  EXPECT_EQ(cheaper(sync, {.calls = 0.2, .computing = 5.0, .working = 2.0}), Mode::background);
}

TEST(AutoMode, where_nothing_is_gained_no_thread_is_used) {
  EXPECT_EQ(cheaper({.calls = 1}, {.calls = 1}), Mode::sync);
  EXPECT_EQ(cheaper({}, {}), Mode::sync);
}

// Six steps of which the application computes for one second after a sync step, and `after` after a background step.
AutoMode tried(double sync_call, double background_call, double after, double work) {
  testing::everyone();  // starts MPI
  AutoMode mode;
  double application = 0, working = 0;
  for (int step = 0; step < AutoMode::trials; ++step) {
    const bool background = mode.next() == Mode::background;
    mode.begins(application, working);
    EXPECT_FALSE(mode.must_decide());
    // The first steps of each mode create files. They are slow and do not count.
    mode.seen(step < 2 ? 100 : background ? background_call : sync_call);
    application += background ? after : 1.0;
    working += work;
  }
  mode.begins(application, working);
  EXPECT_TRUE(mode.must_decide());
  return mode;
}

TEST(AutoMode, four_steps_are_measured_with_the_computation_that_follows_each) {
  AutoMode mode = tried(1.0, 0.25, 1.0, 1.0);
  mode.decide(MPI_COMM_SELF);
  EXPECT_EQ(mode.decided(), Mode::background);
  EXPECT_EQ(mode.next(), Mode::background);
  mode = tried(1.0, 0.25, 1.9, 1.0);
  mode.decide(MPI_COMM_SELF);
  EXPECT_EQ(mode.decided(), Mode::sync);
}

TEST(AutoMode, steps_that_grow_steadily_are_no_advantage) {
  testing::everyone();
  AutoMode mode;
  for (int step = 0; step < AutoMode::trials; ++step) {
    mode.begins(0, 0);
    mode.seen(step);
  }
  mode.begins(0, 0);
  mode.decide(MPI_COMM_SELF);
  EXPECT_EQ(mode.decided(), Mode::sync);
}

}  // namespace
}  // namespace octavo::engine
