#include "octavo/file/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::file {

void start_writeback(const File& file, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (bytes > 0)
    (void)::sync_file_range(file.descriptor(), static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                            SYNC_FILE_RANGE_WRITE);
}

void drop_pages(const File& file, std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)::posix_fadvise(file.descriptor(), static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

std::uint64_t cached_bytes(const File& file) {
  const auto bytes = static_cast<std::size_t>(size(file)), page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes == 0) return 0;
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) throw base::system_error("map the file", errno).at(file.path().string());
  std::vector<unsigned char> there((bytes + page - 1) / page);
  const int error = ::mincore(memory, bytes, there.data()) == 0 ? 0 : errno;
  ::munmap(memory, bytes);
  if (error != 0) throw base::system_error("look at the page cache", error).at(file.path().string());
  const auto pages = std::count_if(there.begin(), there.end(), [](unsigned char flags) { return (flags & 1U) != 0; });
  return static_cast<std::uint64_t>(pages) * page;
}

}  // namespace octavo::file
