#pragma once
#include <cstdint>

/// For files that a library writes: the errors and the cleaning up that it leaves out when a disk fills up.
namespace octavo::file {

/// Bytes that the disk of an open file has room for.
std::uint64_t free_space(int descriptor);

/// Puts an unnamed file in memory, as long as the real one, in its place: for libraries that lose their senses where a
/// file cannot be written out at its closing. The real file is lost to them, and incomplete.
void detach(int descriptor) noexcept;

}  // namespace octavo::file
