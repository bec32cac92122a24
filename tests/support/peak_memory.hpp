#pragma once
#include <cstdint>
#include <fstream>
#include <string>

namespace octavo::testing {

/// The largest resident memory since reset_peak() [bytes].
inline std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}
/// False where the system has none that can be reset.
inline bool reset_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush); }

}  // namespace octavo::testing
