#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/store/store.hpp"

namespace octavo::engine {

/// A segment that is committed on the local disk, and the plan of its copy in the store.
struct DrainJob {
  std::int64_t number = 0;
  std::filesystem::path local;  ///< a directory, removed once the segment is in the store
  std::filesystem::path subfile;
  store::SegmentPlan to;
};

/// Copies the segment, checking its stored checksums, commits it in the store, then removes the local copy. If it
/// throws, the local copy stays. Returns bytes written.
std::uint64_t drain_now(const DrainJob& job);

/// The outcome of a job.
struct Drained {
  std::int64_t number = 0;
  std::optional<base::Error> failure;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// A thread that drains segments in the order they come. It makes no MPI call. The destructor waits until all is
/// drained.
class Drain {
 public:
  /// Most segments on the local disk that wait or are being copied. One more may be being written meanwhile.
  static constexpr std::size_t most_behind = 2;

  explicit Drain(bool bound = true);  ///< it stays on the cores of the calling thread
  ~Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  /// Returns when no more than `most_behind` are left, and the seconds that took.
  double submit(DrainJob job);
  /// Waits until nothing is left; returns the seconds that took.
  double wait();
  /// The jobs that have ended since the last call, in order.
  std::vector<Drained> collect();
  /// Number of the oldest job that has not ended; nothing if all have.
  std::optional<std::int64_t> oldest() const;

 private:
  void run();
  double wait_for(std::size_t most);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<DrainJob> jobs_;  // the first of them is being drained
  std::vector<Drained> done_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace octavo::engine
