#pragma once

namespace octavo::testing {

/// Whether the thread sanitizer watches this program, as gcc or clang says.
inline bool thread_sanitizer() {
#if defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

}  // namespace octavo::testing
