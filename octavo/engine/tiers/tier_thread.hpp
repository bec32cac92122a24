#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::engine {

/// Work on files of a step that is committed on the local disk.
struct TierJob {
  std::optional<std::int64_t> number;   ///< of the step; nothing: a chore, which nobody waits for
  std::function<std::uint64_t()> work;  ///< returns bytes; makes no MPI call
};

/// The outcome of a job.
struct TierDone {
  std::int64_t number = 0;
  std::optional<base::Error> failure;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// A thread that does jobs in the order they come. The destructor waits until all are done.
class TierThread {
 public:
  /// Most steps that wait or are at work. One more may be being written on the local disk meanwhile.
  static constexpr std::size_t most_behind = 2;

  explicit TierThread(bool bound = true);  ///< it stays on the cores of the calling thread
  ~TierThread();
  TierThread(const TierThread&) = delete;
  TierThread& operator=(const TierThread&) = delete;

  /// Returns when no more than `most_behind` are left, and the seconds that took.
  double submit(TierJob job);
  /// Does not wait. For chores, and for jobs of steps that were submitted before.
  void add(TierJob job);
  /// Waits until nothing is left; returns the seconds that took.
  double wait();
  /// The steps that have ended since the last call, in order.
  std::vector<TierDone> collect();
  /// Least number of a step that has not ended; nothing if all have.
  std::optional<std::int64_t> oldest() const;

 private:
  void run();
  double wait_for(std::size_t most);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TierJob> jobs_;  // the first of them is at work
  std::vector<TierDone> done_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace octavo::engine
