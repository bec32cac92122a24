#include "capi/left_binding.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace octavo::testing {
std::atomic<int> left_binding{0};
}

// Replaces the C library's function, so that the tests can count its calls.
extern "C" int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* cores) noexcept {
  ++octavo::testing::left_binding;
  return syscall(SYS_sched_setaffinity, thread, size, cores) < 0 ? -1 : 0;
}
