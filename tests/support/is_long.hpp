#pragma once
#include <cstdlib>

namespace octavo::testing {

/// Whether `make test-long` runs: a test with many cases takes all of them then, and a sample of them in `make test`.
inline bool is_long() { return std::getenv("OCTAVO_LONG") != nullptr; }

}  // namespace octavo::testing
