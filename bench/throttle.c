// A store of a given rate, for any program: preloaded, it sleeps before each write as long as its bytes take.
//
//     cc -shared -fPIC -O2 bench/throttle.c -o throttle.so -ldl
//     mpirun -x LD_PRELOAD=$PWD/throttle.so -x THROTTLE_MB_S=250 ...
//
// The rate is each process's own; with THROTTLE_SHARED=FILE (any file that is there) all processes share it. With
// THROTTLE_UNDER=DIRECTORY (without links in it) only files below it are slow: a disk of the node is not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_slow(int file) {
  const char* under = getenv("THROTTLE_UNDER");
  if (under == NULL) return 1;
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(name, path, sizeof path);
  const size_t wanted = strlen(under);
  return length > (ssize_t)wanted && strncmp(path, under, wanted) == 0 && path[wanted] == '/';
}

static void wait_for(int file, size_t bytes) {
  const char* rate = getenv("THROTTLE_MB_S");
  if (rate == NULL || bytes < 65536 || !is_slow(file)) return;  // pipes, sockets and headers go as they are
  const double seconds = (double)bytes / (1e6 * atof(rate));
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  const char* shared = getenv("THROTTLE_SHARED");
  const int lock = shared == NULL ? -1 : open(shared, O_RDONLY | O_CLOEXEC);  // threads of a process wait as well
  if (lock >= 0) flock(lock, LOCK_EX);
  nanosleep(&time, NULL);
  if (lock >= 0) close(lock);
}

static size_t total(const struct iovec* pieces, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += pieces[i].iov_len;
  return bytes;
}

#define REAL(name)                      \
  static __typeof__(&name) real = NULL; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void* from, size_t bytes) {
  REAL(write);
  wait_for(file, bytes);
  return real(file, from, bytes);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset) {
  REAL(pwrite);
  wait_for(file, bytes);
  return real(file, from, bytes, offset);
}
ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t offset) {
  REAL(pwrite64);
  wait_for(file, bytes);
  return real(file, from, bytes, offset);
}
ssize_t writev(int file, const struct iovec* pieces, int count) {
  REAL(writev);
  wait_for(file, total(pieces, count));
  return real(file, pieces, count);
}
ssize_t pwritev(int file, const struct iovec* pieces, int count, off_t offset) {
  REAL(pwritev);
  wait_for(file, total(pieces, count));
  return real(file, pieces, count, offset);
}
