#include "octavo/file/full_disk.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "octavo/base/error.hpp"

namespace octavo::file {

std::uint64_t free_space(int descriptor) {
  struct statvfs disk {};
  if (::fstatvfs(descriptor, &disk) != 0) throw base::system_error("ask for the disk's free space", errno);
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

void detach(int descriptor) noexcept {
  struct stat real {};
  const int memory = ::memfd_create("lost", MFD_CLOEXEC);
  if (memory < 0) return;
  if (::fstat(descriptor, &real) == 0 && ::ftruncate(memory, real.st_size) == 0) ::dup3(memory, descriptor, O_CLOEXEC);
  ::close(memory);
}

}  // namespace octavo::file
