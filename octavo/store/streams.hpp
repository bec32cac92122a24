#pragma once
#include "octavo/file/posix.hpp"
#include "octavo/store/store.hpp"

namespace octavo::store {

struct WriteWay {
  bool direct_io = false;         ///< past the page cache, if the file system can
  bool starts_writeback = false;  ///< the system writes bytes to the disk as soon as they are in the page cache
  bool keeps_values = false;      ///< the part keeps its values, so that it can be written once more
};

/// Forgets the values of a part, not where they stand.
void drop_values(EncodedPart& part);

/// Writes the part's streams from byte `begin` (a multiple of 8) of a subfile on, and forgets their bytes. Raw values
/// go to the file straight from the caller's memory; their checksum is taken on the way. Writes end at multiples of
/// tile_bytes in the file, except for the last. Throws Error(corrupt) if a checksum is not the expected one. Returns
/// false if direct I/O is asked for and the file system does not support it.
bool write_streams(const file::File& file, EncodedPart& part, std::uint64_t begin, const WriteWay& way = {});

}  // namespace octavo::store
