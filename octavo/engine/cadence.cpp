#include "octavo/engine/cadence.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

base::Error cannot_be(std::string_view text) {
  return base::Error(base::Kind::usage,
                     "expected a number of steps like 100, seconds like 600s or code time like 0.25t, found '" +
                         std::string(text) + "'");
}

template <class T>
T number(std::string_view digits, std::string_view whole) {
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || !(value >= 0))
    throw cannot_be(whole);
  return value;
}

double finite(std::string_view digits, std::string_view whole) {
  const auto value = number<double>(digits, whole);
  if (!std::isfinite(value) || value == 0) throw cannot_be(whole);
  return value;
}

}  // namespace

Cadence parse_cadence(std::string_view text) {
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  if (text.ends_with('s')) return {.seconds = finite(digits, text)};
  if (text.ends_with('t')) return {.time = finite(digits, text)};
  return {.steps = number<std::int64_t>(text, text)};
}

bool is_due(const Cadence& cadence, std::int64_t step, double time, const CadenceState& state) {
  if (cadence.steps > 0) return step % cadence.steps == 0;
  if (cadence.seconds > 0) return state.seconds_since_last >= cadence.seconds;
  if (cadence.time > 0)
    // The first question of a run has no earlier time. A step there would depend on when the run was restarted.
    return state.asked_time && std::floor(time / cadence.time) > std::floor(*state.asked_time / cadence.time);
  return true;
}

}  // namespace octavo::engine
