#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::base {

/// XXH3, 64 bits, seed 0: the checksum of every byte range in a store.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace octavo::base
