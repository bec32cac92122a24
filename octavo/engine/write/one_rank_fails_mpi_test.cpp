#include <gmock/gmock.h>

#include "octavo/engine/step/counted_memory.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/tried_targets.hpp"

/// Errors that one rank alone meets between begin_step() and the end: all are told, none waits for ever.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using testing::all_targets;
using testing::everyone;
using testing::expect_same_everywhere;
using ::testing::HasSubstr;
using testing::message_of;
using testing::rank;
using testing::size;
using testing::TriedTarget;

bool is_last() { return rank() == size() - 1; }

TEST(OneRankMpi, a_step_that_one_rank_cannot_begin_is_an_error_of_end_step_on_all_and_the_next_is_written) {
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    if (!is_last()) writer.begin(0);
    if (is_last()) writer.writer->put_error(Error(Kind::usage, "no flow of that name").at("begin_step"));
    writer.put(0);
    const std::string message = message_of([&] { writer.writer->end_step(); });
    EXPECT_THAT(message, HasSubstr("no flow of that name"));
    EXPECT_THAT(message, HasSubstr("begin_step"));
    expect_same_everywhere(message);
    writer.begin(0);
    writer.put(0);
    writer.writer->end_step();
    writer.writer->close();
    EXPECT_TRUE(writer.is_there(0));
  }
}

TEST(OneRankMpi, close_tells_all_of_a_step_that_one_rank_has_begun_and_of_what_no_end_step_has_told) {
  for (const bool wrong : {false, true}) {
    const testing::SharedDirectory directory;
    for (const TriedTarget& writer : all_targets(directory.path())) {
      if (is_last()) writer.begin(0);
      if (is_last() && wrong) writer.writer->put_error(Error(Kind::usage, "no such array"));
      const std::string message = message_of([&] { writer.writer->close(); });
      EXPECT_THAT(message, HasSubstr(wrong ? "no such array" : "begun and not ended"));
      expect_same_everywhere(message);
      EXPECT_FALSE(writer.is_there(0));
      EXPECT_EQ(message_of([&] { writer.writer->close(); }), "no error");
    }
  }
}

// One step after another, in each of which the last rank lacks another piece of memory: the n-th of those that grow
// with what is written.
void expect_all_told_of_short_memory(const TriedTarget& writer, int& step) {
  const std::size_t large = 12288 / static_cast<std::size_t>(size());
  for (int n = 0, met = 1; met == 1 && n < 200; ++n, ++step) {
    SCOPED_TRACE("piece of memory " + std::to_string(n));
    std::string messages;
    {
      std::optional<testing::Refusal> refusal;
      if (is_last()) refusal.emplace(large, n);
      messages = message_of([&] {
        writer.begin(step);
        writer.put(step);
        writer.writer->end_step();
      });
      messages += "; " + message_of([&] { writer.writer->wait(); });
      met = refusal && refusal->met() ? 1 : 0;
    }
    MPI_Bcast(&met, 1, MPI_INT, size() - 1, everyone());
    expect_same_everywhere(messages);
    if (messages != "no error; no error") {
      EXPECT_THAT(messages, HasSubstr("out of memory"));
    }
    EXPECT_EQ(messages == "no error; no error", writer.is_there(step)) << messages;
    EXPECT_TRUE(met == 1 || writer.is_there(step)) << messages;
  }
}

TEST(OneRankMpi, memory_that_one_rank_lacks_is_told_to_all_wherever_in_a_step_it_is_asked_for) {
  const testing::SharedDirectory directory;
  Options together;
  together.contributors_per_file = 0;
  std::vector<TriedTarget> writers = all_targets(directory.path());
  writers.push_back(testing::to_store(directory.path() / "together", together));
  for (const TriedTarget& writer : writers) {
    int step = 0;
    expect_all_told_of_short_memory(writer, step);
    writer.begin(step);
    writer.put(step);
    writer.writer->end_step();
    writer.writer->close();
    EXPECT_TRUE(writer.is_there(step));
  }
}

}  // namespace
}  // namespace octavo::engine
