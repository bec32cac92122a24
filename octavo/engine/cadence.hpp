#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::engine {

/// How often a flow has a step. A step is due if any of these that is not 0 asks for it. All 0: every step is due.
struct Cadence {
  std::int64_t steps = 0;  ///< at step numbers that are multiples of this
  double seconds = 0;      ///< [s] of wall time after the last one
  double time = 0;         ///< [code time] whenever a multiple of this has been passed
  bool operator==(const Cadence&) const = default;
};

/// "100" (steps), "600s" (wall time), "0.25t" (code time); "0": whenever asked. Throws Error(usage).
Cadence parse_cadence(std::string_view text);

/// The state of a flow when it is asked whether a step is due.
struct CadenceState {
  std::optional<double> asked_time;  ///< [code time] when it was asked before; nothing: never
  double seconds_since_last = 0;     ///< [s] since its last step, or since the run began
};
/// Pure. Except for wall time, the answer does not depend on when a run was restarted.
bool is_due(const Cadence& cadence, std::int64_t step, double time, const CadenceState& state);

}  // namespace octavo::engine
