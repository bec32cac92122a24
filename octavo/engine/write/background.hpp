#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "octavo/engine/targets/target_row.hpp"

namespace octavo::engine {

/// The end of the n-th step.
struct Outcome {
  std::int64_t number = 0;
  std::exception_ptr failure;  ///< nothing: this rank's group has the step on disk
  WrittenSegment written;
  double seconds = 0;
  double seconds_cpu = 0;  ///< of those: of a core
  double seconds_waiting_for_drain = 0;
};

/// Carries out jobs in order: at once, or on a thread of its own, which makes no MPI call.
class Background {
 public:
  /// `bound`: the thread stays on the cores of the calling thread.
  explicit Background(bool threaded, bool bound = true);
  /// Finishes the jobs that were submitted.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Runs the work's `write`, then the job's `ended`. Returns the seconds of work done inside the call. `lent`: the
  /// work reads the application's arrays until it calls `released`.
  double submit(std::int64_t number, StepWork work, bool lent);
  /// Runs `chore` after the jobs submitted so far and before any later one. The chore must not throw.
  void run_behind(std::function<void()> chore);
  /// Waits until no job is left; returns the seconds that took.
  double drain();
  /// Waits until no more than `most` jobs are left; returns the seconds that took.
  double wait_for_room(std::size_t most);
  /// Waits until no job reads the application's arrays any more.
  double take_back_lent();
  /// The outcomes of jobs that have finished since the last call, in order.
  std::vector<Outcome> collect();

 private:
  struct Entry {
    std::int64_t number = 0;
    StepWork work;
    bool lent = false;
    std::function<void()> chore;  ///< in place of a job
  };
  void run();
  Outcome perform(Entry& entry);
  void put(Entry entry);
  template <class Condition>
  double wait_until(Condition&& condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;
  std::size_t jobs_ = 0;  // in the queue, or at work
  std::vector<Outcome> outcomes_;
  int lent_ = 0;  // jobs that still read the application's arrays
  bool busy_ = false;
  bool ending_ = false;
  bool threaded_;
  std::thread thread_;
};

}  // namespace octavo::engine
