#pragma once
#include <mpi.h>

#include <cstdint>
#include <optional>

#include "octavo/parallel/options.hpp"

namespace octavo::parallel {

/// The choice between sync and background for the steps of one flow, from what they cost the application. Steps 0 and 1
/// are tried one way and the other; the first two make files and touch memory for the first time, so two more follow,
/// and those are measured.
class AutoMode {
 public:
  /// The way the next step goes.
  Mode next() const noexcept;
  /// A step has taken so many seconds of its end_step() and had so many bytes.
  void seen(double seconds, std::uint64_t bytes) noexcept;
  bool must_decide() const noexcept { return steps_ == trials && !decision_; }
  /// Collective: the way that cost the slowest rank less a byte.
  void decide(MPI_Comm comm);
  /// Mode::automatic as long as nothing is decided.
  Mode decided() const noexcept { return decision_.value_or(Mode::automatic); }

 private:
  static constexpr int trials = 4;
  int steps_ = 0;
  double seconds_per_byte_[2] = {0, 0};  // sync, background
  std::optional<Mode> decision_;
};

}  // namespace octavo::parallel
