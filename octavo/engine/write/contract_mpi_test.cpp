#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "octavo/file/posix.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/tried_targets.hpp"

/// The contract of a Writer, which is the same for all targets (docs/writer.md).
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

bool may_come_late(const std::filesystem::path& file) {
  return file.extension() == ".index" || file.extension() == ".durable";
}

// Writes fail until one has met that. The index and the mark do not count: they are written between two steps, and the
// loss of a line is no error.
class FullDisk {
 public:
  explicit FullDisk(int full) {
    if (full < 0 || full == rank())
      file::set_observer([this](const file::Event& event) {
        if (event.operation != file::Operation::write || may_come_late(event.path)) return file::Verdict{};
        met_ = true;
        return file::Verdict{ENOSPC, 0};
      });
  }
  ~FullDisk() {
    for (int met = 0, n = 0; met == 0 && n < 300000; ++n, std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      met = met_ ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MAX, everyone());
    }
    file::set_observer({});
  }

 private:
  std::atomic<bool> met_{false};
};

std::string write(const TriedTarget& writer, int step) {
  return message_of([&] {
    writer.begin(step);
    writer.put(step);
    writer.writer->end_step();
  });
}

std::string wait(const TriedTarget& writer) {
  return message_of([&] { writer.writer->wait(); });
}
std::string close(const TriedTarget& writer) {
  return message_of([&] { writer.writer->close(); });
}

void expect_one_error(const std::vector<std::string>& messages, const std::string& name) {
  std::string errors;
  for (const std::string& message : messages) {
    expect_same_everywhere(message);
    if (message != "no error") errors += message + "|";
  }
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '|'), 1) << errors;
  EXPECT_THAT(errors, HasSubstr("No space left"));
  EXPECT_THAT(errors, HasSubstr(name));
}

TEST(ContractMpi, a_step_behind_a_failed_one_is_taken_and_the_error_names_the_failed_one) {
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(1));
    EXPECT_EQ(write(writer, 0), "no error");
    EXPECT_EQ(wait(writer), "no error");
    std::vector<std::string> messages;
    {
      const FullDisk full(writer.full);
      messages.push_back(write(writer, 1));
    }
    messages.push_back(write(writer, 2));
    messages.push_back(wait(writer));
    expect_one_error(messages, writer.name(1));
    EXPECT_FALSE(writer.is_there(1));
    EXPECT_TRUE(writer.is_there(2));
    EXPECT_EQ(write(writer, 3), "no error");
    EXPECT_EQ(close(writer), "no error");
    EXPECT_TRUE(writer.is_there(3));
  }
}

// The calls of a scene and what each gives, in words that are the same for all targets.
class Scene {
 public:
  explicit Scene(const TriedTarget& writer) : writer_(writer) {}
  void end(int step) { tell("end " + std::to_string(step), write(writer_, step)); }
  void end_wrong(int step) {
    tell("end wrong " + std::to_string(step), message_of([&] {
           writer_.begin(step);
           writer_.put(step);
           if (rank() == size() - 1) writer_.writer->put_error(Error(Kind::usage, "no such array"));
           writer_.writer->end_step();
         }));
  }
  void wait_for_all() { tell("wait", wait(writer_)); }
  void close_it() { tell("close", close(writer_)); }
  void look(int step) {
    told_.push_back("step " + std::to_string(step) + (writer_.is_there(step) ? " is there" : " is not there"));
  }
  void count() {
    told_.push_back(std::to_string(writer_.writer->steps()) + " durable, " +
                    std::to_string(writer_.writer->statistics().failed) + " failed");
  }
  const std::vector<std::string>& told() const { return told_; }

 private:
  void tell(const std::string& call, const std::string& message) {
    expect_same_everywhere(message);
    std::string said = message.find("no such array") != std::string::npos ? ", no such array" : "";
    for (int step = 0; step < 10; ++step)
      if (message.find(writer_.name(step)) != std::string::npos && message.find("No space") != std::string::npos)
        said += ", " + std::to_string(step) + " has failed";
    told_.push_back(call + (message == "no error" ? "" : said.empty() ? ": " + message : said));
  }
  const TriedTarget& writer_;
  std::vector<std::string> told_;
};

std::vector<std::string> tell_of_full_disk(const TriedTarget& writer, int full) {
  Scene scene(writer);
  scene.end(0);
  scene.wait_for_all();
  {
    const FullDisk disk(full);
    scene.end(1);
    scene.wait_for_all();
  }
  scene.look(1);
  scene.count();
  scene.end(2);
  scene.wait_for_all();
  scene.look(2);
  scene.end_wrong(3);
  scene.wait_for_all();
  scene.look(3);
  scene.end(3);
  scene.close_it();
  scene.look(3);
  scene.count();
  return scene.told();
}

TEST(ContractMpi, a_full_disk_gives_the_same_results_of_every_call_on_every_target) {
  for (const Mode mode : {Mode::sync, Mode::background}) {
    if (testing::single_threaded() && mode != Mode::sync) continue;
    std::vector<std::string> expected{"end 0",
                                      "wait",
                                      "end 1",
                                      "wait",
                                      "step 1 is not there",
                                      "1 durable, 1 failed",
                                      "end 2",
                                      "wait",
                                      "step 2 is there",
                                      "end wrong 3, no such array",
                                      "wait",
                                      "step 3 is not there",
                                      "end 3",
                                      "close",
                                      "step 3 is there",
                                      "3 durable, 1 failed"};
    expected[mode == Mode::sync ? 2 : 3] += ", 1 has failed";
    for (const bool last : {false, true}) {
      const testing::SharedDirectory directory;
      for (const TriedTarget& writer : all_targets(directory.path(), mode)) {
        SCOPED_TRACE(writer.name(1) + (last ? ", last rank" : ", rank 0") + (mode == Mode::sync ? ", sync" : ""));
        const int full = !last ? 0 : writer.full < 0 ? size() - 1 : writer.full;
        EXPECT_THAT(tell_of_full_disk(writer, full), ::testing::ElementsAreArray(expected));
      }
    }
  }
}

// ------------------------------------------------------------------ what differs (docs/targets.md)

bool is_series(const TriedTarget& writer) { return writer.name(1).starts_with("r2d."); }
bool is_store(const TriedTarget& writer) { return writer.name(1).starts_with("checkpoint step"); }
bool is_collected(const TriedTarget& writer) { return writer.name(1).find("collected") != std::string::npos; }

TEST(ContractMpi, only_a_store_shows_a_step_without_a_call) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(0));
    EXPECT_EQ(write(writer, 0), "no error");
    while (writer.writer->statistics().seconds_working == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MPI_Barrier(everyone());
    EXPECT_EQ(writer.is_there(0), is_store(writer) || is_collected(writer));
    MPI_Barrier(everyone());
    EXPECT_TRUE(writer.writer->finished());
    EXPECT_TRUE(writer.is_there(0));
    EXPECT_EQ(close(writer), "no error");
  }
}

// Holds this rank's background writes until release(). A write that nobody lets go for long goes on by itself, so that
// a call that waits for it fails the test and does not hang.
class HeldWrites {
 public:
  HeldWrites() : main_(std::this_thread::get_id()) {
    file::set_observer([this](const file::Event& event) {
      if (event.operation != file::Operation::write || std::this_thread::get_id() == main_) return file::Verdict{};
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::minutes(5), [&] { return released_; })) was_forgotten_ = true;
      released_ = released_ || was_forgotten_;
      return file::Verdict{};
    });
  }
  ~HeldWrites() {
    EXPECT_FALSE(was_forgotten_) << "a call has waited for a step that may be on its way";
    release();
    MPI_Barrier(everyone());
    file::set_observer({});
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
    }
    changed_.notify_all();
  }
  bool is_released() const {
    const std::lock_guard lock(mutex_);
    return released_;
  }

 private:
  std::thread::id main_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false, was_forgotten_ = false;
};

// Whether the call returns only after the writes of all ranks have been let go, which happens a little later than the
// ranks have begun to call.
bool waits_for(HeldWrites& held, const std::function<void()>& call) {
  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held.release();
  });
  call();
  const bool waited = held.is_released();
  releasing.join();
  return waited;
}

// `most` steps are on their way while their writes are held. One more is begun and put, and its end_step waits.
void expect_on_their_way(const TriedTarget& writer, int first, int most) {
  HeldWrites held;
  for (int step = first; step < first + most; ++step) EXPECT_EQ(write(writer, step), "no error");
  EXPECT_FALSE(writer.writer->finished());
  writer.begin(first + most);
  writer.put(first + most);
  EXPECT_FALSE(held.is_released());
  MPI_Barrier(everyone());
  EXPECT_TRUE(waits_for(held, [&] { writer.writer->end_step(); }));
}

TEST(ContractMpi, end_step_waits_if_as_many_steps_are_on_their_way_as_may_be_and_begin_step_never) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(0));
    const int most = is_store(writer) ? Options().steps_in_flight : 1;
    if (is_collected(writer)) {  // end_step itself writes: nothing is left for the background
      const HeldWrites held;
      EXPECT_EQ(write(writer, 0), "no error");
      EXPECT_EQ(wait(writer), "no error");
      EXPECT_FALSE(held.is_released());
    } else {
      expect_on_their_way(writer, 0, most);
    }
    EXPECT_EQ(close(writer), "no error");
    EXPECT_EQ(writer.writer->steps(), is_collected(writer) ? 1 : most + 1);
  }
}

// A slot holds one of the newest `keep_last` durable steps, or a step on its way; there are keep_last + 1.
TEST(ContractMpi, a_store_with_slots_has_as_many_checkpoints_on_their_way_as_slots_that_hold_no_kept_one) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  Options options;
  options.keep_last = 2;
  options.recycle = true;
  const TriedTarget writer = testing::to_store(directory.path(), options);
  expect_on_their_way(writer, 0, 3);
  EXPECT_EQ(wait(writer), "no error");
  expect_on_their_way(writer, 4, 1);
  EXPECT_EQ(close(writer), "no error");
}

TEST(ContractMpi, a_failed_step_leaves_no_partial_file_and_in_a_series_the_next_one_takes_its_place) {
  const testing::SharedDirectory directory;
  const std::filesystem::path slf = directory.path() / "r2d.slf";
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(1));
    EXPECT_EQ(write(writer, 0), "no error");
    EXPECT_EQ(wait(writer), "no error");
    std::error_code none;  // the series has no file before its first step
    const auto size_before = std::filesystem::file_size(slf, none);
    std::string told;
    {
      const FullDisk disk(0);
      told = write(writer, 1);
      told += wait(writer);
    }
    EXPECT_THAT(told, HasSubstr(writer.name(1)));
    MPI_Barrier(everyone());
    EXPECT_TRUE(!is_series(writer) || std::filesystem::file_size(slf, none) == size_before);
    EXPECT_TRUE(is_series(writer) || is_store(writer) || !std::filesystem::exists(writer.name(1) + ".partial"));
    MPI_Barrier(everyone());
    EXPECT_EQ(write(writer, 2), "no error");
    EXPECT_EQ(close(writer), "no error");
    EXPECT_EQ(writer.writer->steps(), 2);
    EXPECT_TRUE(writer.is_there(0) && !writer.is_there(1) && writer.is_there(2));
  }
  EXPECT_EQ(formats::serafin::open_series(slf).steps, 2);
}

TEST(ContractMpi, a_step_that_is_wrong_behind_a_failed_one_is_told_in_the_same_error) {
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(1));
    std::string messages;
    {
      const FullDisk full(writer.full);
      messages = write(writer, 1);
    }
    messages += message_of([&] {
      writer.begin(2);
      writer.put(2);
      if (rank() == size() - 1) writer.writer->put_error(Error(Kind::usage, "no such array"));
      writer.writer->end_step();
    });
    messages += wait(writer);
    expect_same_everywhere(messages);
    EXPECT_THAT(messages, HasSubstr("no such array"));
    EXPECT_THAT(messages, HasSubstr("No space left"));
    EXPECT_THAT(messages, HasSubstr(writer.name(1)));
    EXPECT_FALSE(writer.is_there(1));
    EXPECT_FALSE(writer.is_there(2));
    EXPECT_EQ(write(writer, 2), "no error");
    EXPECT_EQ(close(writer), "no error");
    EXPECT_TRUE(writer.is_there(2));
  }
}

TEST(ContractMpi, finished_shows_a_step_without_waiting_for_it_and_throws_what_failed_once) {
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(1));
    EXPECT_EQ(write(writer, 0), "no error");
    while (!writer.writer->finished()) {
    }
    EXPECT_TRUE(writer.is_there(0));
    EXPECT_EQ(writer.writer->steps(), 1);
    std::string message;
    {
      const FullDisk full(writer.full);
      message = write(writer, 1);
    }
    const bool in_sync_mode = message != "no error";
    for (bool done = in_sync_mode; !done;) {
      message = message_of([&] { done = writer.writer->finished(); });
      done = done || message != "no error";
    }
    EXPECT_THAT(message, HasSubstr(writer.name(1)));
    EXPECT_TRUE(writer.writer->finished());
    EXPECT_EQ(close(writer), "no error");
    EXPECT_EQ(writer.writer->steps(), 1);
    EXPECT_EQ(writer.writer->statistics().failed, 1);
  }
}

TEST(ContractMpi, newest_durable_is_the_last_step_that_did_not_fail) {
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(1));
    EXPECT_FALSE(writer.writer->newest_durable(store::Flow::checkpoint));
    EXPECT_EQ(write(writer, 0), "no error");
    EXPECT_EQ(wait(writer), "no error");
    std::vector<std::string> messages;
    {
      const FullDisk full(writer.full);
      messages.push_back(write(writer, 1));
    }
    messages.push_back(wait(writer));
    expect_one_error(messages, writer.name(1));
    ASSERT_TRUE(writer.writer->newest_durable(store::Flow::checkpoint));
    EXPECT_EQ(writer.writer->newest_durable(store::Flow::checkpoint)->step, 0);
    EXPECT_EQ(close(writer), "no error");
  }
}

TEST(ContractMpi, the_order_of_calls_is_the_same) {
  const testing::SharedDirectory directory;
  for (const TriedTarget& writer : all_targets(directory.path())) {
    SCOPED_TRACE(writer.name(1));
    EXPECT_THAT(message_of([&] { writer.writer->end_step(); }), HasSubstr("there is no step to end"));
    writer.put(0);
    EXPECT_THAT(message_of([&] { writer.writer->end_step(); }), HasSubstr("nothing can be put outside of a step"));
    writer.begin(0);
    EXPECT_THAT(message_of([&] { writer.begin(1); }), HasSubstr("the step before has not ended"));
    writer.put(0);
    writer.writer->end_step();
    EXPECT_EQ(close(writer), "no error");
    EXPECT_EQ(close(writer), "no error");
    EXPECT_THAT(message_of([&] { writer.begin(1); }), HasSubstr("the writer is closed"));
    EXPECT_THAT(wait(writer), HasSubstr("the writer is closed"));
    EXPECT_TRUE(writer.is_there(0));
  }
}

TEST(ContractMpi, a_target_names_itself_where_it_cannot_take_a_put_or_begin_a_step_so) {
  const testing::SharedDirectory directory;
  const mesh::Unstructured triangle{
      .x = {0, 1, 0}, .y = {0, 0, 1}, .connectivity = {0, 1, 2}, .global_point = {0, 1, 2}};
  const std::vector<double> values(3);
  for (const TriedTarget& writer : all_targets(directory.path())) {
    const bool series = writer.name(1).find("r2d.") == 0;
    const bool store = writer.name(1).find("checkpoint step") == 0;
    SCOPED_TRACE(writer.name(1));
    if (!store) {
      EXPECT_THAT(message_of([&] { writer.writer->begin_step(store::Flow::checkpoint, 1, 0); }),
                  HasSubstr(series ? "takes a time only" : "takes a path"));
      writer.begin(1);
      writer.put(1);
      writer.writer->put_mesh(triangle);
      EXPECT_THAT(message_of([&] { writer.writer->end_step(); }),
                  HasSubstr(series ? "one mesh" : "does not take such a put"));
    } else {
      EXPECT_THAT(message_of([&] { writer.writer->begin_step(0.5); }), HasSubstr("a store takes a flow"));
    }
    if (series) {
      writer.begin(1);
      writer.writer->put_particles("tracers", "mass", view_of(values));
      EXPECT_THAT(message_of([&] { writer.writer->end_step(); }), HasSubstr("file does not take such a put"));
    }
    EXPECT_EQ(write(writer, 1), "no error");
    EXPECT_EQ(close(writer), "no error");
    EXPECT_TRUE(writer.is_there(1));
  }
}

}  // namespace
}  // namespace octavo::engine
