#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// The cost of steps that were written one way.
struct TrialCost {
  double calls = 0;      ///< [s] in end_step()
  double computing = 0;  ///< [s] the application took from such a step of the flow to the next
  double working = 0;    ///< [s] of encoding and writing
};
/// Returns the mode that costs less, sync if both cost the same. Writing in the background costs its copy, and it slows
/// the computation down, but by no more than its own work: computation that takes longer for other reasons does not
/// count. Pure.
Mode cheaper(const TrialCost& sync, const TrialCost& background) noexcept;

/// The choice between sync and background for the steps of one flow. The first two steps make files and touch memory
/// for the first time; the four that follow are measured, in an order for which steady growth of steps is no advantage.
class AutoMode {
 public:
  static constexpr int trials = 6;

  /// The way the next step goes.
  Mode next() const noexcept;
  /// A step of the flow begins, after so many seconds in all that the application spent outside of calls, and so many
  /// of background work.
  void begins(double application_seconds, double working_seconds) noexcept;
  /// A step has taken so many seconds of its end_step().
  void seen(double seconds) noexcept;
  bool must_decide() const noexcept { return steps_ == trials && !decision_; }
  /// Collective: by the slowest rank of each kind.
  void decide(MPI_Comm comm);
  /// Mode::automatic as long as nothing is decided.
  Mode decided() const noexcept { return decision_.value_or(Mode::automatic); }

 private:
  static constexpr int unmeasured = 2;
  static constexpr std::array<Mode, trials> order{Mode::sync,       Mode::background, Mode::sync,
                                                  Mode::background, Mode::background, Mode::sync};
  TrialCost& cost_of(int step) noexcept;
  int steps_ = 0;
  double application_ = 0, working_ = 0;  // when the step before began
  TrialCost sync_, background_;
  std::optional<Mode> decision_;
};

}  // namespace octavo::engine
