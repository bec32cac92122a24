#pragma once
#include "octavo/file/posix.hpp"
#include "octavo/store/store.hpp"

namespace octavo::store {

/// As the one in store.hpp, on a handle of the subfile that is open already. `direct`: another, for direct I/O.
void write_streams(const file::File& file, EncodedPart& part, std::uint64_t begin, const file::File* direct = nullptr);

}  // namespace octavo::store
