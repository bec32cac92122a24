#include "octavo/engine/write/auto_mode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

using ::testing::HasSubstr;

TEST(AutoMode, a_slow_store_is_written_in_the_background) {
  const WriteCost cost{.copying = 0.01, .given = {.writing = 0.25, .writing_cpu = 0.02}};
  EXPECT_EQ(cheapest(cost, false).mode, Mode::background);
}

TEST(AutoMode, a_store_as_fast_as_memory_is_written_in_the_call_unless_cores_are_idle) {
  WriteCost cost{.copying = 0.01, .given = {.writing = 0.02, .writing_cpu = 0.02}};
  EXPECT_EQ(cheapest(cost, false).mode, Mode::sync);
  cost.idle = 0.02;
  EXPECT_EQ(cheapest(cost, false).mode, Mode::background);
  cost.copying = 0.02;
  EXPECT_EQ(cheapest(cost, false).mode, Mode::sync) << "nothing is gained";
  EXPECT_EQ(cheapest({}, false).mode, Mode::sync);
}

TEST(AutoMode, lossless_in_the_background_needs_an_idle_core_or_a_store_slower_than_the_codec) {
  // Encoding halves the bytes, so raw values would take 0.2 s.
  WriteCost cost{.copying = 0.01, .given = {.encoding = 0.3, .writing = 0.1, .writing_cpu = 0.02, .ratio = 2}};
  EXPECT_EQ(cheapest(cost, true).encoding, CodecChoice::raw);
  EXPECT_EQ(cheapest(cost, true).mode, Mode::background);
  EXPECT_EQ(cheapest(cost, false).encoding, CodecChoice::given) << "the user has chosen the codec";
  cost.idle = 0.33;
  EXPECT_EQ(cheapest(cost, true).encoding, CodecChoice::given);
  cost.idle = 0;
  cost.given.writing = 0.4;
  EXPECT_EQ(cheapest(cost, true).encoding, CodecChoice::given);
  EXPECT_EQ(cheapest(cost, true, Mode::sync).encoding, CodecChoice::given);
  cost.given.writing = 0.1;
  cost.idle = 1;
  EXPECT_EQ(cheapest(cost, true, Mode::sync).encoding, CodecChoice::raw)
      << "an idle core does not help a rank that waits";
}

TEST(AutoMode, effort_fast_is_taken_where_it_takes_the_least_time_or_idle_cores_suffice_for_it_alone) {
  // Raw values would take 0.2 s.
  WriteCost cost{.copying = 0.01,
                 .given = {.encoding = 0.3, .writing = 0.1, .writing_cpu = 0.02, .ratio = 2},
                 .fast = EncodingCost{.encoding = 0.07, .writing = 0.11, .writing_cpu = 0.02, .ratio = 1.8}};
  for (const Mode mode : {Mode::sync, Mode::background})
    EXPECT_EQ(cheapest(cost, true, mode).encoding, CodecChoice::fast);
  cost.fast->encoding = 0.1;
  EXPECT_EQ(cheapest(cost, true, Mode::background).encoding, CodecChoice::raw);
  cost.idle = 0.15;
  EXPECT_EQ(cheapest(cost, true, Mode::background).encoding, CodecChoice::fast);
  EXPECT_EQ(cheapest(cost, true, Mode::sync).encoding, CodecChoice::raw);
  EXPECT_EQ(cheapest(cost, false).encoding, CodecChoice::given) << "the user has chosen the codec";
  cost.idle = 0.33;
  EXPECT_EQ(cheapest(cost, true, Mode::background).encoding, CodecChoice::given) << "its steps are smaller";
  // A very slow store, on which the smaller step is the sooner one.
  cost = {.copying = 0.01,
          .given = {.encoding = 0.3, .writing = 10, .writing_cpu = 0.1, .ratio = 2},
          .fast = EncodingCost{.encoding = 0.1, .writing = 15, .writing_cpu = 0.15, .ratio = 1.3}};
  EXPECT_EQ(cheapest(cost, true, Mode::background).encoding, CodecChoice::given);
}

TEST(AutoMode, the_reason_has_the_figures) {
  WriteCost cost{.copying = 0.01, .given = {.encoding = 0.1, .writing = 0.25, .writing_cpu = 0.02, .ratio = 2.5}};
  const std::string first =
      ": the first step, 64.0 MB, took 0.010 s to copy, 0.100 s to encode (2.50 to 1), 0.250 s to write";
  const std::string busy = "; the thread takes cores from the computation";
  EXPECT_EQ(to_text(cheapest(cost, false), cost, 64'000'000), "background, encoded" + first + busy);
  EXPECT_EQ(to_text({Mode::sync, CodecChoice::fast}, cost, 64'000'000),
            "sync, encoded with effort fast" + first + busy);
  cost.fast = EncodingCost{.encoding = 0.03, .writing = 0.26, .writing_cpu = 0.02, .ratio = 2.4};
  const std::string second = "; one with effort fast took 0.030 s to encode (2.40 to 1), 0.260 s to write";
  EXPECT_EQ(to_text(cheapest(cost, true), cost, 64'000'000),
            "background, encoded with effort fast" + first + second + busy);
  cost.idle = 1;
  EXPECT_EQ(to_text({Mode::background, CodecChoice::raw}, cost, 64'000'000),
            "background, as they are" + first + second + "; the thread finds idle cores");
}

// A first step, then an interval of 10 s in which the application uses `busy` of the time of a core, and threads wait
// `waiting` seconds for one.
AutoMode measured(double busy, const EncodingCost& cost, double waiting = 0) {
  testing::everyone();  // starts MPI
  AutoMode mode;
  EXPECT_EQ(mode.choice().mode, Mode::background);
  mode.handed_over({10, 100});
  EXPECT_FALSE(mode.must_decide());
  mode.written(CodecChoice::given, 0.01, cost, 1000, 500);
  mode.written(CodecChoice::given, 1e9, {}, 1, 1);  // a later step
  mode.begins({20, 100 + 10 * busy + cost.encoding + cost.writing_cpu, waiting});
  EXPECT_TRUE(mode.must_decide());
  return mode;
}

TEST(AutoMode, cores_that_no_rank_uses_between_steps_are_idle) {
  const EncodingCost cost{.encoding = 0.3, .writing = 0.1, .writing_cpu = 0.02};
  AutoMode mode = measured(1.0, cost);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 1, true, {}), HasSubstr("takes cores"));
  EXPECT_EQ(mode.choice().encoding, CodecChoice::raw);
  EXPECT_TRUE(mode.decided());
  mode = measured(1.0, cost);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 2, true, {}), HasSubstr("finds idle cores"));
  EXPECT_EQ(mode.choice().encoding, CodecChoice::given);
  EXPECT_TRUE(mode.decided());
  EXPECT_FALSE(mode.must_decide());
  mode = measured(2.0, cost);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 2, true, {}), HasSubstr("takes cores"));
  mode = measured(1.0, cost, 10);
  EXPECT_THAT(mode.decide(MPI_COMM_SELF, 2, true, {}), HasSubstr("takes cores"));
}

TEST(AutoMode, threads_that_share_a_core_wait_for_it) {
  if (!std::ifstream("/proc/self/schedstat")) GTEST_SKIP() << "the system does not count it";
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Spent begin = spent_by_process(0);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) continue;
  });
  while (std::chrono::steady_clock::now() < until) continue;
  const Spent end = spent_by_process(0);
  done = true;
  other.join();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_GT(end.waiting - begin.waiting, 0.05);
  EXPECT_GT(end.cpu - begin.cpu, 0.01);
}

TEST(AutoMode, on_busy_cores_and_a_slow_store_a_step_is_encoded_with_effort_fast_before_the_codec_is_chosen) {
  const EncodingCost cost{.encoding = 0.3, .writing = 0.4, .writing_cpu = 0.02};  // 0.8 to write values as they are
  for (const double encoding : {0.05, 0.35}) {
    AutoMode mode = measured(1.0, cost);
    EXPECT_THAT(mode.decide(MPI_COMM_SELF, 1, true, Mode::background), HasSubstr("encoded with effort fast"));
    EXPECT_EQ(mode.choice().encoding, CodecChoice::fast);
    mode.written(CodecChoice::given, 0, {}, 1, 1);  // a step that was on its way
    EXPECT_FALSE(mode.must_decide());
    mode.written(CodecChoice::fast, 0.01, {.encoding = encoding, .writing = 0.42, .writing_cpu = 0.02}, 1000, 550);
    EXPECT_TRUE(mode.must_decide());
    mode.decide(MPI_COMM_SELF, 1, true, Mode::background);
    EXPECT_EQ(mode.choice().encoding, encoding == 0.05 ? CodecChoice::fast : CodecChoice::given);
    EXPECT_TRUE(mode.decided() && !mode.must_decide());
  }
  AutoMode named = measured(1.0, cost);
  named.decide(MPI_COMM_SELF, 1, false, {});
  EXPECT_TRUE(named.decided()) << "the user has chosen the codec";
}

}  // namespace
}  // namespace octavo::engine
