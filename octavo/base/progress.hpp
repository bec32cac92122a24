#pragma once
#include <cstdint>
#include <functional>

namespace octavo::base {

/// Called, from any one thread at a time, with work done and total (same unit, chosen by the job).
/// Returning false asks the job to stop: it then throws Error(Kind::interrupted).
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

}  // namespace octavo::base
