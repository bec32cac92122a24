#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/base/bit_array.hpp"
#include "octavo/mesh/octree.hpp"

/// Rules that the writer and the reader of a part share.
namespace octavo::store {

/// Appends the bits, bit i in byte i / 8 at position i % 8: the raw form of one level of a mesh stream.
void pack_bits(const base::BitArray& bits, std::vector<std::byte>& out);

/// The roots that a tree holds, in stored form. Each interval is two numbers: how many roots lie between it and the
/// previous interval (or root 0), and how many roots it has.
std::vector<std::uint64_t> numbers_of_roots(const mesh::RootIntervals& held);
/// The inverse. Throws Error(corrupt) unless they are `count` roots of `all`, in intervals that are not empty and do
/// not touch.
mesh::RootIntervals roots_of_numbers(std::span<const std::uint64_t> numbers, std::uint64_t count, std::uint64_t all);
/// Appends the raw form of such numbers: little-endian.
void pack_numbers(std::span<const std::uint64_t> numbers, std::vector<std::byte>& out);
inline constexpr std::size_t bytes_of_interval = 2 * sizeof(std::uint64_t);  ///< in the raw form

/// The checksum that the values, given in native byte order, have in little-endian order.
std::uint64_t checksum_little_endian(std::span<const std::byte> values, std::size_t scalar_size);

/// For each level, the positions of its families' parents on the next coarser level. Empty for level 0. Empty for all
/// levels if cells carry blocks, because the values of a block have no parent value.
std::vector<std::vector<std::uint32_t>> parents_of(const mesh::Octree& tree);

}  // namespace octavo::store
