// The clocks of codes, for any program: preloaded, they count the core time of the thread that asks, and no longer the time of day.
//
//     cc -shared -fPIC -O2 scripts/try/core_clock.c -o core_clock.so
//     mpirun -n 2 env LD_PRELOAD=$PWD/core_clock.so ...
//
// A code's own timers then say what its calling thread worked in its outputs. On a busy machine that stays the same, and the threads that
// Octavo writes with are not in it. A rank that waits for another one in MPI works, too: MPI looks for messages meanwhile.
#include <limits.h>
#include <stdint.h>
#include <time.h>

static int64_t core_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// MPI's clock in C and in Fortran.
double MPI_Wtime(void) { return 1e-9 * (double)core_nanoseconds(); }
double mpi_wtime_(void) { return MPI_Wtime(); }

// Fortran's SYSTEM_CLOCK as gfortran calls it, with counts of 8 and of 4 bytes. Each argument may be absent.
void _gfortran_system_clock_8(int64_t* count, int64_t* rate, int64_t* max) {
  if (count) *count = core_nanoseconds();
  if (rate) *rate = 1000000000;
  if (max) *max = INT64_MAX;
}
void _gfortran_system_clock_4(int32_t* count, int32_t* rate, int32_t* max) {
  if (count) *count = (int32_t)(core_nanoseconds() / 1000 % INT32_MAX);  // microseconds; from the start again after 35 minutes
  if (rate) *rate = 1000000;
  if (max) *max = INT32_MAX - 1;
}
