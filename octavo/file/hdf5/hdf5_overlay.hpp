#pragma once
// For octavo/file only, in builds that have HDF5.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "octavo/file/hdf5/hdf5_library.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::file::hdf5 {

/// A file that HDF5 may change without touching a byte on disk. Its writes stay here until a caller writes them to
/// disk, in whatever order it chooses. With `through`, writes go to the disk at once, until one fails. From then on
/// metadata stay here and values are dropped, so that HDF5 (1.10) can close what it has open. Otherwise HDF5 would not
/// close it, and would crash the program at its end.
struct Overlay {
  file::File file;                                            ///< on disk
  std::uint64_t length = 0;                                   ///< as HDF5 sees it
  std::uint64_t end = 0;                                      ///< end of HDF5's allocated bytes
  std::map<std::uint64_t, std::vector<std::byte>> changed{};  ///< by offset in the file; they do not overlap
  bool through = false;
  std::optional<base::Error> failed{};  ///< for `through`: why the file is incomplete
};

void put(Overlay& overlay, std::uint64_t at, std::span<const std::byte> bytes);
/// Forgets the changed bytes of a range, because another writer owns the range and writes it to disk.
void forget(Overlay& overlay, std::uint64_t at, std::uint64_t size);
/// Reads bytes as HDF5 sees them. Bytes that are neither changed nor on disk are 0.
void get(const Overlay& overlay, std::uint64_t at, std::span<std::byte> out);

/// The access properties for opening a file through the overlay, which must outlive both the properties and the file.
/// The caller must hold the lock (Locked).
Id overlay_access(Overlay& overlay);

/// The superblock of an HDF5 file whose root group's header is at `root` and whose end of file is `end`. Written in one
/// piece, it changes the whole file at once. Knows versions 0 to 3 (HDF5 File Format Specification, II.A). Throws
/// Error(unsupported) for others, and for files whose HDF5 data do not start at the first byte.
std::vector<std::byte> superblock(const file::File& file, std::uint64_t root, std::uint64_t end);

}  // namespace octavo::file::hdf5
