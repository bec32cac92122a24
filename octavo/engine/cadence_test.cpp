#include "octavo/engine/cadence.hpp"

#include <gtest/gtest.h>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

TEST(Cadence, is_steps_seconds_or_code_time) {
  EXPECT_EQ(parse_cadence("100"), (Cadence{.steps = 100}));
  EXPECT_EQ(parse_cadence("0"), Cadence{});
  EXPECT_EQ(parse_cadence("600s"), (Cadence{.seconds = 600}));
  EXPECT_EQ(parse_cadence("2.5e-1t"), (Cadence{.time = 0.25}));
  for (const char* text : {"", "-1", "1.5", "s", "-2s", "0t", "nant", "infs", "10m", "10 s"})
    EXPECT_THROW(parse_cadence(text), base::Error) << text;
}

TEST(Cadence, steps_are_due_at_multiples_whenever_a_run_began) {
  for (std::int64_t step = 0; step < 30; ++step) EXPECT_EQ(is_due({.steps = 10}, step, 0, {}), step % 10 == 0) << step;
}

TEST(Cadence, code_time_is_due_whenever_a_multiple_has_been_passed_and_once_only) {
  int due = 0;
  CadenceState state;
  for (std::int64_t step = 0; step <= 100; ++step) {
    const double time = 0.03 * static_cast<double>(step);
    due += is_due({.time = 0.25}, step, time, state) ? 1 : 0;
    state.asked_time = time;
  }
  EXPECT_EQ(due, 12);  // 0.25 ... 3.00
  // A run that restarts between two multiples waits for the next one.
  EXPECT_FALSE(is_due({.time = 0.25}, 0, 0.3, {}));
  EXPECT_FALSE(is_due({.time = 0.25}, 1, 0.45, {.asked_time = 0.3}));
  EXPECT_TRUE(is_due({.time = 0.25}, 2, 0.5, {.asked_time = 0.45}));
}

TEST(Cadence, wall_time_is_due_after_the_last_step) {
  EXPECT_FALSE(is_due({.seconds = 60}, 5, 0, {.asked_time = {}, .seconds_since_last = 59}));
  EXPECT_TRUE(is_due({.seconds = 60}, 5, 0, {.asked_time = {}, .seconds_since_last = 60}));
}

TEST(Cadence, without_one_every_step_is_due) { EXPECT_TRUE(is_due({}, 7, 0.1, {})); }

}  // namespace
}  // namespace octavo::engine
