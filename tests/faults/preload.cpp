// Faults from below the engine, by LD_PRELOAD: neither octavo/file nor its observer knows.
//
//     OCTAVO_FAULT="RANK CALL NTH ACTION [WHERE]"
//
// RANK of Open MPI, or all (which may be a process without MPI); CALL: create, reserve, write, record (a write to the
// head of a file), sync, directory (its sync), remove, read; on data files of checkpoints and their directories, and on
// MED files, whose path contains WHERE; lock (flock) on any file whose path contains WHERE.
// ACTION at the NTH such call of the process, 1 the first, 0 each: kill (-9), an error number (the call fails), short
// (from then on each write takes a third of what it is given), block:B (reads of the 4 KiB from byte B on fail with
// EIO), torn:B (a read of byte B gives another value, as one that meets a write may), or count: nothing, but at the end
// a line "RANK CALL HOW-MANY" for each call goes to the file that OCTAVO_FAULT_COUNTS names.
//
// CALL listen: a process calls each socket without a name of its own as soon as that listens, as often as it has room,
// and says nothing; ACTION friend: of the same user; stranger: of another, if root runs this.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Fault {
  std::string call, action, where, rank;
  int nth = 0;
  Fault() {
    const char* text = std::getenv("OCTAVO_FAULT");
    const char* mine = std::getenv("OMPI_COMM_WORLD_RANK");
    if (text == nullptr) return;
    if (mine == nullptr) mine = "";
    char of[16], name[16], what[32], path[256] = "";
    int number = 0;
    if (std::sscanf(text, "%15s %15s %d %31s %255s", of, name, &number, what, path) < 4) return;
    rank = mine;
    where = path;
    if (std::strcmp(of, "all") != 0 && std::strcmp(of, mine) != 0) return;
    call = name;
    action = what;
    nth = number;
  }
};

const Fault& fault() {
  static const Fault one;
  return one;
}
std::atomic<int> calls = 0;
constexpr off_t block_size = 4096, head_size = 3 * block_size;
constexpr std::array names{"create", "reserve", "write", "record", "sync", "directory", "remove", "lock"};
std::array<std::atomic<int>, names.size()> counts{};

void count(const char* call) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::strcmp(names[i], call) == 0) ++counts[i];
}

__attribute__((destructor)) void tell_counts() {
  const char* path = std::getenv("OCTAVO_FAULT_COUNTS");
  if (path == nullptr || fault().action != "count") return;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fault().rank + " " + names[i] + " " + std::to_string(counts[i]) + "\n";
  if (FILE* file = std::fopen(path, "a")) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
}

enum class Now { as_asked, fails, is_short };

Now now(const char* call) {
  if (fault().action == "count") count(call);
  if (fault().action == "count" || fault().call != call) return Now::as_asked;
  const int number = ++calls;
  if (fault().action == "short") return number >= fault().nth ? Now::is_short : Now::as_asked;
  if (number != fault().nth && fault().nth != 0) return Now::as_asked;
  if (fault().action == "kill") kill(getpid(), SIGKILL);
  errno = std::atoi(fault().action.c_str());
  return Now::fails;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_data(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return ((name.rfind("data.", 0) == 0 && path.find("checkpoint") != std::string::npos) || name.ends_with(".med")) &&
         path.find(fault().where) != std::string::npos;
}

std::string path_of(int descriptor) {
  char path[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
  return {path, static_cast<std::size_t>(std::max<ssize_t>(0, length))};
}

Now now_writing(int descriptor, off_t offset) {
  if (!is_data(path_of(descriptor))) return Now::as_asked;
  if (fault().action == "count" && offset < head_size) count("record");
  return now(fault().call == "record" && offset < head_size ? "record" : "write");
}

// Calls the socket until it takes nobody any more. The parent goes on when that is so.
void call_silently(const sockaddr_un& address, socklen_t length) {
  int done[2];
  if (pipe(done) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    if (fault().action == "stranger" && setuid(65534) != 0) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the user takes it back
    for (int calls_made = 0; calls_made < 500; ++calls_made) {
      const int caller = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
      if (connect(caller, reinterpret_cast<const sockaddr*>(&address), length) != 0) break;
    }
    if (write(done[1], "", 1) == 1) sleep(600);
    _exit(0);
  }
  char full = 0;
  if (read(done[0], &full, 1) < 0) std::perror("read");
  close(done[0]);
  close(done[1]);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  if ((flags & O_CREAT) != 0 && is_data(path) && now("create") == Now::fails) return -1;
  return next<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  if (fault().call == "read" && fault().action.starts_with("block:") && is_data(path_of(descriptor))) {
    const off_t block = std::atoll(fault().action.c_str() + 6);
    if (offset >= block && offset < block + block_size) {
      errno = EIO;
      return -1;
    }
    if (offset < block) size = std::min<size_t>(size, static_cast<size_t>(block - offset));
  } else if (fault().call == "read" && fault().action.starts_with("torn:") && is_data(path_of(descriptor))) {
    const off_t byte = std::atoll(fault().action.c_str() + 5) - offset;
    const ssize_t found = next<ssize_t (*)(int, void*, size_t, off_t)>("pread")(descriptor, bytes, size, offset);
    if (byte >= 0 && byte < found && now("read") == Now::fails) static_cast<unsigned char*>(bytes)[byte] ^= 1;
    return found;
  } else if (fault().call == "read" && is_data(path_of(descriptor)) && now("read") == Now::fails) {
    return -1;
  }
  return next<ssize_t (*)(int, void*, size_t, off_t)>("pread")(descriptor, bytes, size, offset);
}

int flock(int descriptor, int operation) {
  if (path_of(descriptor).find(fault().where) != std::string::npos && now("lock") == Now::fails) return -1;
  return next<int (*)(int, int)>("flock")(descriptor, operation);
}

int listen(int descriptor, int backlog) {
  const int result = next<int (*)(int, int)>("listen")(descriptor, backlog);
  sockaddr_un address{};
  socklen_t length = sizeof address;
  // The kernel gives names of a zero and five digits.
  if (result == 0 && fault().call == "listen" &&
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0 && address.sun_family == AF_UNIX &&
      length == sizeof(sa_family_t) + 6 && address.sun_path[0] == '\0')
    call_silently(address, length);
  return result;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  const Now how = now_writing(descriptor, offset);
  if (how == Now::fails) return -1;
  if (how == Now::is_short) size = std::max<size_t>(1, size / 3);
  return next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(descriptor, bytes, size, offset);
}

ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  const Now how = now_writing(descriptor, offset);
  if (how == Now::fails) return -1;
  if (how == Now::is_short && pieces[0].iov_len > 0)
    return next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(
        descriptor, pieces[0].iov_base, std::max<size_t>(1, pieces[0].iov_len / 3), offset);
  return next<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev")(descriptor, pieces, count, offset);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  if (is_data(path_of(descriptor)) && now("reserve") == Now::fails) return -1;
  return next<int (*)(int, int, off_t, off_t)>("fallocate")(descriptor, mode, offset, size);
}

int fdatasync(int descriptor) {
  if (is_data(path_of(descriptor)) && now("sync") == Now::fails) return -1;
  return next<int (*)(int)>("fdatasync")(descriptor);
}

int fsync(int descriptor) {
  const std::string path = path_of(descriptor);
  if (path.find("/checkpoint") != std::string::npos && path.find(fault().where) != std::string::npos &&
      now("directory") == Now::fails)
    return -1;
  return next<int (*)(int)>("fsync")(descriptor);
}

int unlink(const char* path) {
  if (is_data(path) && now("remove") == Now::fails) return -1;
  return next<int (*)(const char*)>("unlink")(path);
}
int unlinkat(int directory, const char* path, int flags) {
  if (is_data(path_of(directory) + "/" + path) && now("remove") == Now::fails) return -1;
  return next<int (*)(int, const char*, int)>("unlinkat")(directory, path, flags);
}

}  // extern "C"
