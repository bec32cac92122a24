#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <memory>

#include "octavo/file/imitated.hpp"
#include "simulated.hpp"

// Threads that the engine starts are real ones, also those of virtual ranks (local disks have some). They make no call
// of MPI. A thread's operations on files are those of its rank's process.
namespace {

struct Start {
  void* (*function)(void*);
  void* argument;
  int process;
};

void* run(void* given) {
  const Start start = *std::unique_ptr<Start>(static_cast<Start*>(given));
  octavo::file::imitate_process(start.process);
  return start.function(start.argument);
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (!octavo::simulated::is_virtual_rank()) return create(thread, attributes, function, argument);
  auto start = std::make_unique<Start>(Start{function, argument, octavo::file::imitated()});
  const int result = create(thread, attributes, run, start.get());
  if (result == 0) static_cast<void>(start.release());
  return result;
}

// A rank that waits for its thread lets the other ranks run instead, whose threads may have to come first: the
// condition may then hold or not, as the standard allows (a spurious wake-up). Outside of simulate() this waits as
// ever.
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  constexpr timespec never{time_t{1} << 40, 0};
  if (!octavo::simulated::is_virtual_rank()) return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &never);
  pthread_mutex_unlock(mutex);
  octavo::simulated::pass_turn();
  sched_yield();
  return pthread_mutex_lock(mutex);
}

}  // extern "C"
