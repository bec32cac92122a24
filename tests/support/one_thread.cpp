// Linked into test programs, in front of MPI and HDF5: every function of either that the library calls goes through
// here, and one that is called by another thread than the program's first ends the process. So whatever a test does, it
// also proves that MPI_THREAD_FUNNELED is enough; and with MPI_THREAD_SINGLE that the library starts no thread at all.
//
// one_thread_names.inc has a line ONE_THREAD(name) for each function that the library's objects leave undefined.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#ifdef OCTAVO_HAVE_HDF5
#include <hdf5.h>
#endif

namespace {

[[noreturn]] void refuse(const char* what, const char* why) {
  std::fprintf(stderr, "one thread only: %s %s\n", what, why);
  std::abort();
}

void* behind(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) refuse(name, "is in no library");
  return found;
}

template <class Function>
struct Through;
template <class Result, class... Arguments>
struct Through<Result(Arguments...)> {
  template <const char* name>
  static Result call(Arguments... arguments) {
    if (syscall(SYS_gettid) != getpid()) refuse(name, "was called by another thread than the first");
    static const auto real = reinterpret_cast<Result (*)(Arguments...)>(behind(name));
    return real(arguments...);
  }
};

}  // namespace

// An indirect function: its address is what its resolver returns, so that no signature need be written out here.
// Hidden: other libraries in the process, such as libmed with an HDF5 of its own, keep calling what they were linked
// with.
#define ONE_THREAD(function)                                                           \
  static constexpr char name_of_##function[] = #function;                              \
  extern "C" decltype(&function) resolve_##function() {                                \
    return &Through<decltype(function)>::call<name_of_##function>;                     \
  }                                                                                    \
  extern "C" __attribute__((ifunc("resolve_" #function))) decltype(function) function; \
  asm(".hidden " #function);
#include "one_thread_names.inc"

#ifdef __GLIBCXX__
// std::thread and std::jthread begin with this function.
void std::thread::_M_start_thread(_State_ptr state, void (*depend)()) {
  int initialized = 0, finalized = 0, provided = MPI_THREAD_FUNNELED;
  if (syscall(SYS_gettid) == getpid()) MPI_Initialized(&initialized);
  if (initialized != 0) MPI_Finalized(&finalized);
  if (initialized != 0 && finalized == 0) MPI_Query_thread(&provided);
  if (provided == MPI_THREAD_SINGLE) refuse("std::thread", "was started with MPI_THREAD_SINGLE");
  using Start = void (std::thread::*)(_State_ptr, void (*)());
  union {
    struct {
      void* code;
      std::ptrdiff_t adjust;
    } parts;
    Start start;
  } real{{behind("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"), 0}};
  (this->*real.start)(std::move(state), depend);
}
#endif
