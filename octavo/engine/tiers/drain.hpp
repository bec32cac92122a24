#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "octavo/store/store.hpp"
#include "octavo/store/write/copy_segment.hpp"

namespace octavo::engine {

/// Keeps a thread below a rate by sleeping.
class Pace {
 public:
  explicit Pace(double bytes_per_second = 0) : bytes_per_second_(bytes_per_second) {}  ///< 0: no limit
  /// Returns when `bytes` more may have gone. Time that went unused is not made up for.
  void spend(std::uint64_t bytes);

 private:
  double bytes_per_second_;
  std::chrono::steady_clock::time_point free_{};
};

/// A segment that is committed on the local disk, and the plan of its copy in the store.
struct DrainJob {
  std::filesystem::path local;  ///< directory of the segment
  std::filesystem::path subfile;
  store::SegmentPlan to;
  bool keep_local = false;  ///< else the directory is removed once the segment is in the store
};

/// Copies the segment, checking its stored checksums, and commits it in the store. If it throws, the local copy stays.
store::Copied drain_now(const DrainJob& job, Pace& pace);

}  // namespace octavo::engine
