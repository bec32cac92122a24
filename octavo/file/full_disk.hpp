#pragma once
#include <cstdint>

/// For files that another library writes: the error handling and the cleaning up that the library lacks when a disk
/// fills up.
namespace octavo::file {

/// The free space on the disk of an open file [bytes].
std::uint64_t free_space(int descriptor);

/// Replaces the file behind the descriptor by an unnamed file in memory of the same length. It serves libraries that
/// cannot close a file which they cannot write. They lose the real file, which stays incomplete.
void detach(int descriptor) noexcept;

}  // namespace octavo::file
