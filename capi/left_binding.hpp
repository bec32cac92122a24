#pragma once
#include <atomic>

namespace octavo::testing {

/// Counts the threads that have left the cores of their rank: left_binding_test.cpp intercepts the call that they make.
extern std::atomic<int> left_binding;

}  // namespace octavo::testing
