#include "octavo/base/threads.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "octavo/base/cores.hpp"

namespace octavo::base {

int thread_count(int requested) {
  if (requested > 0) return requested;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {

// The mask has room for 65536 cores, more than any machine has.
using CoreMask = std::array<unsigned long, 1024>;

// Cores of this process and of its parent; no core if the system does not tell.
CoreMask cores_of_parent_and_own() noexcept {
  CoreMask cores{}, own{};
  if (sched_getaffinity(getppid(), sizeof cores, reinterpret_cast<cpu_set_t*>(cores.data())) < 0) return {};
  if (sched_getaffinity(0, sizeof own, reinterpret_cast<cpu_set_t*>(own.data())) < 0) return {};
  for (std::size_t i = 0; i < cores.size(); ++i) cores[i] |= own[i];
  return cores;
}

}  // namespace

void leave_binding() noexcept {
  const CoreMask cores = cores_of_parent_and_own();
  sched_setaffinity(0, sizeof cores, reinterpret_cast<const cpu_set_t*>(cores.data()));
}

int cores_without_binding() noexcept {
  int count = 0;
  for (const unsigned long word : cores_of_parent_and_own()) count += std::popcount(word);
  return count > 0 ? count : thread_count(0);
}

namespace {

/// Runs `body` on `threads` threads; the caller's thread is one of them.
void on_threads(int threads, const std::function<void()>& body) {
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(body);
  body();
}

}  // namespace

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  detail::ordered(count, threads, [&](std::size_t i) {
    work(i);
    return std::function<void()>{};
  });
}

namespace detail {

void ordered(std::size_t count, int threads, const std::function<std::function<void()>(std::size_t)>& work) {
  std::mutex mutex;
  std::condition_variable turn;
  std::size_t next = 0, committed = 0;
  std::exception_ptr failure;

  const auto body = [&] {
    for (;;) {
      std::size_t mine;
      {
        std::lock_guard lock(mutex);
        if (failure || next == count) return;
        mine = next++;
      }
      std::exception_ptr error;
      std::function<void()> commit;
      try {
        commit = work(mine);
      } catch (...) {
        error = std::current_exception();
      }
      std::unique_lock lock(mutex);
      turn.wait(lock, [&] { return failure || committed == mine; });
      if (failure) return;
      try {
        if (error) std::rethrow_exception(error);
        if (commit) commit();
        ++committed;
      } catch (...) {
        failure = std::current_exception();
      }
      turn.notify_all();
    }
  };

  on_threads(static_cast<int>(std::min<std::size_t>(count, static_cast<std::size_t>(std::max(threads, 1)))), body);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace detail

}  // namespace octavo::base
