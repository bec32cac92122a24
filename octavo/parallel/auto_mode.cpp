#include "octavo/parallel/auto_mode.hpp"

#include <algorithm>

namespace octavo::parallel {

Mode AutoMode::next() const noexcept {
  if (decision_) return *decision_;
  return steps_ % 2 == 0 ? Mode::sync : Mode::background;
}

void AutoMode::seen(double seconds, std::uint64_t bytes) noexcept {
  if (steps_ >= trials) return;
  seconds_per_byte_[steps_ % 2] = seconds / static_cast<double>(std::max<std::uint64_t>(bytes, 1));
  ++steps_;
}

void AutoMode::decide(MPI_Comm comm) {
  double slowest[2];
  MPI_Allreduce(seconds_per_byte_, slowest, 2, MPI_DOUBLE, MPI_MAX, comm);
  decision_ = slowest[0] <= slowest[1] ? Mode::sync : Mode::background;
}

}  // namespace octavo::parallel
