#include "octavo/engine/write/auto_mode.hpp"

#include <algorithm>

namespace octavo::engine {

Mode cheaper(const TrialCost& sync, const TrialCost& background) noexcept {
  const double slowdown = std::clamp(background.computing - sync.computing, 0.0, std::max(0.0, background.working));
  return sync.calls <= background.calls + slowdown ? Mode::sync : Mode::background;
}

Mode AutoMode::next() const noexcept {
  if (decision_) return *decision_;
  return order[static_cast<std::size_t>(std::min(steps_, trials - 1))];
}

TrialCost& AutoMode::cost_of(int step) noexcept {
  return order[static_cast<std::size_t>(step)] == Mode::sync ? sync_ : background_;
}

void AutoMode::begins(double application_seconds, double working_seconds) noexcept {
  if (!decision_ && steps_ > unmeasured) {
    TrialCost& cost = cost_of(steps_ - 1);
    cost.computing += application_seconds - application_;
    cost.working += working_seconds - working_;
  }
  application_ = application_seconds;
  working_ = working_seconds;
}

void AutoMode::seen(double seconds) noexcept {
  if (steps_ >= trials) return;
  if (steps_ >= unmeasured) cost_of(steps_).calls += seconds;
  ++steps_;
}

void AutoMode::decide(MPI_Comm comm) {
  std::array<double, 6> slowest{sync_.calls,       sync_.computing,       sync_.working,
                                background_.calls, background_.computing, background_.working};
  MPI_Allreduce(MPI_IN_PLACE, slowest.data(), static_cast<int>(slowest.size()), MPI_DOUBLE, MPI_MAX, comm);
  decision_ = cheaper({slowest[0], slowest[1], slowest[2]}, {slowest[3], slowest[4], slowest[5]});
}

}  // namespace octavo::engine
