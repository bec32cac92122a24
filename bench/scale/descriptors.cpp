#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "counted.hpp"
#include "simulated.hpp"

/// Files of virtual ranks. A machine keeps more of them open than one process may. So a virtual rank's descriptor is a
/// name with flags: each function of the C library that octavo/file calls with it is defined here, in front of the
/// library's, and opens the file for the moment. Descriptors of directories, and of other code, are the system's.
namespace octavo::simulated {
namespace {

constexpr int first_descriptor = 1 << 24;

struct Name {
  std::string path;
  int flags = 0;
};

std::vector<Name>& names() {
  static std::vector<Name> all;
  return all;
}
std::vector<int>& free_names() {
  static std::vector<int> all;
  return all;
}

bool is_name(int descriptor) { return descriptor >= first_descriptor; }

int open_now(const char* path, int flags, mode_t mode) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int close_now(int descriptor) { return static_cast<int>(::syscall(SYS_close, descriptor)); }

int keep_name(const char* path, int flags) {
  const Uncounted own;
  int number = static_cast<int>(names().size());
  if (free_names().empty()) {
    names().emplace_back();
  } else {
    number = free_names().back();
    free_names().pop_back();
  }
  names()[static_cast<std::size_t>(number)] = {path, flags & ~(O_CREAT | O_EXCL | O_TRUNC)};
  return first_descriptor + number;
}

void forget_name(int descriptor) {
  const Uncounted own;
  names()[static_cast<std::size_t>(descriptor - first_descriptor)] = {};
  free_names().push_back(descriptor - first_descriptor);
}

// The file of a descriptor, open while `work` uses it.
template <class Work>
auto with_file(int descriptor, Work&& work) {
  if (!is_name(descriptor)) return work(descriptor);
  const Name& name = names()[static_cast<std::size_t>(descriptor - first_descriptor)];
  const int opened = open_now(name.path.c_str(), name.flags, 0);
  if (opened < 0) return decltype(work(opened)){-1};
  const auto result = work(opened);
  const int error = errno;
  close_now(opened);
  errno = error;
  return result;
}

}  // namespace
}  // namespace octavo::simulated

using octavo::simulated::with_file;

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  const int opened = octavo::simulated::open_now(path, flags, mode);
  if (opened < 0 || (flags & O_DIRECTORY) != 0 || !octavo::simulated::is_virtual_rank()) return opened;
  octavo::simulated::close_now(opened);
  return octavo::simulated::keep_name(path, flags);
}

int close(int descriptor) {
  if (!octavo::simulated::is_name(descriptor)) return octavo::simulated::close_now(descriptor);
  octavo::simulated::forget_name(descriptor);
  return 0;
}

// A file that is gone has no name: then the count of its names is 0.
int fstat(int descriptor, struct stat* status) noexcept {
  const int result = with_file(descriptor, [&](int file) {
    return static_cast<int>(::syscall(SYS_newfstatat, file, "", status, AT_EMPTY_PATH));
  });
  if (result == 0 || errno != ENOENT || !octavo::simulated::is_name(descriptor)) return result;
  *status = {};
  return 0;
}

ssize_t pread(int descriptor, void* to, size_t size, off_t offset) {
  return with_file(descriptor, [&](int file) { return ::syscall(SYS_pread64, file, to, size, offset); });
}

ssize_t pwrite(int descriptor, const void* from, size_t size, off_t offset) {
  return with_file(descriptor, [&](int file) { return ::syscall(SYS_pwrite64, file, from, size, offset); });
}

ssize_t pwritev(int descriptor, const struct iovec* pieces, int count, off_t offset) {
  return with_file(descriptor, [&](int file) { return ::syscall(SYS_pwritev, file, pieces, count, offset, 0L); });
}

int ftruncate(int descriptor, off_t size) noexcept {
  return with_file(descriptor, [&](int file) { return static_cast<int>(::syscall(SYS_ftruncate, file, size)); });
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return with_file(descriptor,
                   [&](int file) { return static_cast<int>(::syscall(SYS_fallocate, file, mode, offset, size)); });
}

int fstatfs(int descriptor, struct statfs* status) noexcept {
  return with_file(descriptor, [&](int file) { return static_cast<int>(::syscall(SYS_fstatfs, file, status)); });
}

// Nothing of a virtual rank has to survive. Its syncs are counted above, in octavo/file.
int fdatasync(int descriptor) {
  return octavo::simulated::is_virtual_rank() ? 0 : static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}
int fsync(int descriptor) {
  return octavo::simulated::is_virtual_rank() ? 0 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}

// Ranks that share a file hand its descriptor on (unix(7), SCM_RIGHTS): the receiver gets one of the system's.
ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  cmsghdr* rights = CMSG_FIRSTHDR(message);
  const bool hands_on = rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS;
  if (!hands_on) return ::syscall(SYS_sendmsg, socket, message, flags);
  int given = -1;
  std::memcpy(&given, CMSG_DATA(rights), sizeof given);
  return with_file(given, [&](int file) {
    std::memcpy(CMSG_DATA(rights), &file, sizeof file);
    const ssize_t sent = ::syscall(SYS_sendmsg, socket, message, flags);
    std::memcpy(CMSG_DATA(rights), &given, sizeof given);
    return sent;
  });
}

// Nobody else writes the files of a virtual rank.
int flock(int descriptor, int operation) noexcept {
  return octavo::simulated::is_name(descriptor) ? 0 : static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

int posix_fadvise(int descriptor, off_t offset, off_t size, int advice) noexcept {
  return octavo::simulated::is_name(descriptor)
             ? 0
             : static_cast<int>(::syscall(SYS_fadvise64, descriptor, offset, size, advice));
}

int sync_file_range(int descriptor, off_t offset, off_t size, unsigned flags) {
  return octavo::simulated::is_name(descriptor)
             ? 0
             : static_cast<int>(::syscall(SYS_sync_file_range, descriptor, offset, size, flags));
}

}  // extern "C"
