#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/base/bit_array.hpp"
#include "octavo/mesh/octree.hpp"

/// What the writer and the reader of a part must do alike.
namespace octavo::store {

/// Appends the bits, bit i in byte i / 8 at position i % 8: the raw form of one level of a mesh stream.
void pack_bits(const base::BitArray& bits, std::vector<std::byte>& out);

/// Of values in native order, as they are in little-endian order.
std::uint64_t checksum_little_endian(std::span<const std::byte> values, std::size_t scalar_size);

/// Per level the positions, on the level above, of the cells whose children its families are. Empty for level 0; for
/// all levels where cells carry blocks, whose values have no parent value.
std::vector<std::vector<std::uint32_t>> parents_of(const mesh::Octree& tree);

}  // namespace octavo::store
