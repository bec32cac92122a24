#pragma once
#include <atomic>

namespace octavo::testing {

/// How many threads have left the cores of their rank: left_binding_test.cpp has their way out.
extern std::atomic<int> left_binding;

}  // namespace octavo::testing
