#pragma once
#include <span>

#include "octavo/file/posix.hpp"

namespace octavo::file {

/// Writes pieces of memory one after another from `offset` on, in few system calls. As pwrite_all; an observer sees a
/// write for each piece.
void pwritev_all(const File& file, std::uint64_t offset, std::span<const std::span<const std::byte>> pieces);

}  // namespace octavo::file
