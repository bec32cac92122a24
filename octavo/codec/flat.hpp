#pragma once
#include <type_traits>

#include "octavo/codec/chunk.hpp"
#include "octavo/codec/codec.hpp"

/// Inside the codec room: the codecs that know no tree, and the two published ones. Payloads only; all are lossless.
namespace octavo::codec {

/// First bytes of all values, then second bytes ...: the planes of `width`-byte elements, lowest first.
Bytes split_planes(std::span<const std::byte> bytes, std::size_t width);
void join_planes(std::span<const std::byte> planes, std::size_t width, std::span<std::byte> bytes);

/// The index of each value less that of the value before, by zigzag (docs/codecs.md, "Differences").
template <class T>
using Number = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
std::vector<Number<T>> differences_of(std::span<const T> values);
/// A payload has one byte, 0 or 1 for planes, and a zstd frame.
template <class T>
void decode_differences(ChunkReader& in, std::span<T> out);

/// XOR with the value before; leading zeros common to eight counted once.
template <class T>
void encode_delta(std::span<const T> values, Bytes& payload);
template <class T>
void decode_delta(ChunkReader& in, std::span<T> out);

/// XOR with the parent; leading zeros common to a family counted once, at most 15.
template <class T>
void encode_pcp(std::span<const T> values, const Context<T>& context, Bytes& payload);
template <class T>
void decode_pcp(ChunkReader& in, const Context<T>& context, std::span<T> out);

}  // namespace octavo::codec
