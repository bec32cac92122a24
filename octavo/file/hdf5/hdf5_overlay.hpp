#pragma once
// For octavo/file alone, in builds that have HDF5.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "octavo/file/hdf5/hdf5_library.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::file::hdf5 {

/// A file that HDF5 may change without touching a byte on disk. Its writes stay here until a caller puts them there, in
/// the order of his choice. Or, with `through`: its writes go to the disk at once, until that fails. From then on the
/// description of the file stays here, and values are dropped, so that HDF5 (1.10) can close what it has open.
/// It would not otherwise, and crash the program at its end.
struct Overlay {
  file::File file;                                            ///< on disk
  std::uint64_t length = 0;                                   ///< as HDF5 sees it
  std::uint64_t end = 0;                                      ///< of its allocated bytes
  std::map<std::uint64_t, std::vector<std::byte>> changed{};  ///< by place in the file; they do not overlap
  bool through = false;
  std::optional<base::Error> failed{};  ///< of `through`: why the file is not whole
};

void put(Overlay& overlay, std::uint64_t at, std::span<const std::byte> bytes);
/// Drops the bytes that were put there: another writer owns them and writes them to disk.
void forget(Overlay& overlay, std::uint64_t at, std::uint64_t size);
/// Bytes that are neither changed nor on disk are 0.
void get(const Overlay& overlay, std::uint64_t at, std::span<std::byte> out);

/// To be opened with: a list of access properties, which the overlay must outlive, and so the file opened with it.
/// Holds the lock.
Id overlay_access(Overlay& overlay);

/// The first bytes of an HDF5 file whose root group's header stands at `root` and which is `end` long: written in one
/// piece, they change everything at once. Versions 0 to 3 (HDF5 File Format Specification, II.A). Throws
/// Error(unsupported) for others, and files that do not begin at their first byte.
std::vector<std::byte> superblock(const file::File& file, std::uint64_t root, std::uint64_t end);

}  // namespace octavo::file::hdf5
