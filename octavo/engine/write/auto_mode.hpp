#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// The cost of the steps that were written in one mode.
struct TrialCost {
  double calls = 0;      ///< [s] in end_step()
  double computing = 0;  ///< [s] that the application took from such a step to the flow's next one
  double working = 0;    ///< [s] of encoding and writing
};
/// Returns the mode that costs less, sync if both cost the same. Writing in the background costs a copy, and it slows
/// the computation down by at most its own work: a longer slowdown has other reasons and does not count. Pure.
Mode cheaper(const TrialCost& sync, const TrialCost& background) noexcept;

/// Chooses between sync and background for the steps of one flow. The first two steps are not measured, because they
/// create files and touch memory for the first time. The next four are, in an order that favours neither mode if steps
/// grow steadily.
class AutoMode {
 public:
  static constexpr int trials = 6;

  /// The mode of the next step.
  Mode next() const noexcept;
  /// Notes that a step of the flow begins. Both arguments are totals so far [s]: the application's time outside of
  /// calls, and background work.
  void begins(double application_seconds, double working_seconds) noexcept;
  /// Notes the seconds that a step spent in end_step().
  void seen(double seconds) noexcept;
  bool must_decide() const noexcept { return steps_ == trials && !decision_; }
  /// Collective: decides by the slowest rank, for each kind of cost.
  void decide(MPI_Comm comm);
  /// Mode::automatic until decide() has been called.
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
