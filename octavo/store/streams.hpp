#pragma once
#include "octavo/file/posix.hpp"
#include "octavo/store/store.hpp"

namespace octavo::store {

/// Writes the part's streams from byte `begin` (a multiple of 8) of a subfile on, and forgets their bytes. Raw values
/// go to the file straight from the caller's memory; their checksum is taken on the way. Throws Error(corrupt) if it is
/// not the expected one. `direct`: another handle of the file, for direct I/O.
void write_streams(const file::File& file, EncodedPart& part, std::uint64_t begin, const file::File* direct = nullptr);
/// The same, with direct I/O if `direct_io` asks for it. Returns false if it does and the file system does not support
/// it.
bool write_streams(const file::File& file, bool direct_io, EncodedPart& part, std::uint64_t begin);

}  // namespace octavo::store
