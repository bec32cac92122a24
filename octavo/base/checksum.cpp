#include "octavo/base/checksum.hpp"

#include <xxhash.h>

namespace octavo::base {

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace octavo::base
