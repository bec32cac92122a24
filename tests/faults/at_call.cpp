// Ends or stops a process at an instant, by LD_PRELOAD:
//
//     OCTAVO_AT_CALL="NTH SIGNAL WHERE"
//
// SIGNAL (a number: 9 kill, 19 stop) hits the process right before its NTH call, from 1, that makes, renames, removes,
// shortens or syncs a file or directory whose path contains WHERE; with NTH 0 none does, and the number of such calls
// is added to the file that OCTAVO_AT_CALL_COUNT names when the process ends.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Instant {
  int nth = -1, signal = 0;
  std::string where;
  Instant() {
    char path[256] = "";
    const char* text = std::getenv("OCTAVO_AT_CALL");
    if (text != nullptr && std::sscanf(text, "%d %d %255s", &nth, &signal, path) == 3) where = path;
  }
};

std::atomic<int> calls{0};

const Instant& instant() {
  static const Instant one;
  return one;
}

void before(const char* path) {
  const Instant& at = instant();
  if (at.nth < 0 || at.where.empty() || path == nullptr || std::strstr(path, at.where.c_str()) == nullptr) return;
  if (++calls == at.nth) ::kill(::getpid(), at.signal);
}

void before(int descriptor) {
  if (instant().nth < 0) return;
  char path[4096];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path - 1);
  if (size <= 0) return;
  path[size] = '\0';
  before(path);
}

template <class F>
F next(F, const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

struct AtEnd {
  ~AtEnd() {
    const char* path = std::getenv("OCTAVO_AT_CALL_COUNT");
    if (path == nullptr || instant().nth != 0 || calls == 0) return;
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%d\n", calls.load());
      std::fclose(file);
    }
  }
} at_end;

int open_flags(int flags, va_list arguments) { return (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0; }

}  // namespace

// Declared with the throw() of the headers where those have it; both names of each, as the C library has them.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = open_flags(flags, arguments);
  va_end(arguments);
  if ((flags & (O_CREAT | O_TRUNC)) != 0) before(path);
  return next(&open, "open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = open_flags(flags, arguments);
  va_end(arguments);
  if ((flags & (O_CREAT | O_TRUNC)) != 0) before(path);
  return next(&open64, "open64")(path, flags, mode);
}
int mkdir(const char* path, mode_t mode) noexcept { return before(path), next(&mkdir, "mkdir")(path, mode); }
int rename(const char* from, const char* to) noexcept { return before(from), next(&rename, "rename")(from, to); }
int renameat2(int d, const char* from, int e, const char* to, unsigned flags) noexcept {
  before(from);
  return next(&renameat2, "renameat2")(d, from, e, to, flags);
}
int unlink(const char* path) noexcept { return before(path), next(&unlink, "unlink")(path); }
int remove(const char* path) noexcept { return before(path), next(&remove, "remove")(path); }
int unlinkat(int directory, const char* path, int flags) noexcept {
  return before(path), next(&unlinkat, "unlinkat")(directory, path, flags);
}
int ftruncate(int descriptor, off_t size) noexcept {
  return before(descriptor), next(&ftruncate, "ftruncate")(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) noexcept {
  return before(descriptor), next(&ftruncate64, "ftruncate64")(descriptor, size);
}
int fsync(int descriptor) { return before(descriptor), next(&fsync, "fsync")(descriptor); }
int fdatasync(int descriptor) { return before(descriptor), next(&fdatasync, "fdatasync")(descriptor); }

}  // extern "C"
