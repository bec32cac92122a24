#pragma once
#include <cstdint>

#include "octavo/file/posix.hpp"

/// Advice on the pages of a file. It changes no byte and promises nothing, so failures are ignored: a sync reports
/// them.
namespace octavo::file {

/// Asks the system to start writing these bytes to the disk now (sync_file_range), and does not wait for it.
void start_writeback(const File& file, std::uint64_t offset, std::uint64_t bytes) noexcept;

/// Removes pages from the page cache (POSIX_FADV_DONTNEED), as far as they are on the disk: call this after a sync.
/// `bytes` 0: up to the end of the file.
void drop_pages(const File& file, std::uint64_t offset = 0, std::uint64_t bytes = 0) noexcept;

/// Bytes of the file that are in the page cache (mincore). For tests and reports.
std::uint64_t cached_bytes(const File& file);

}  // namespace octavo::file
