#pragma once
#include "octavo/codec/codec.hpp"
#include "octavo/codec/predict.hpp"

/// Inside the codec room: the tree codecs, lossless and on a grid (docs/codecs.md, "Tree"). Payloads only.
namespace octavo::codec {

/// Parts of the byte that says how a chunk is predicted.
constexpr unsigned across_bits = 3 << 4, weights_bit = 1 << 6, sides_bit = 1 << 7;

/// False where this codec cannot do it: values are then best stored another way.
template <class T>
bool encode_tree(std::span<const T> values, const Context<T>& context, Effort effort, Bytes& payload);
template <class T>
void decode_tree(ChunkReader& in, const Context<T>& context, std::span<T> out);

/// On a logarithmic (point-wise relative) or linear (absolute) grid; `decoded` gets what decoding gives.
template <class T>
bool encode_grid(std::span<const T> values, const Context<T>& context, const Bound& bound, Effort effort,
                 std::span<T> decoded, Bytes& payload);
template <class T>
void decode_grid(ChunkReader& in, BoundKind kind, const Context<T>& context, std::span<T> out);

}  // namespace octavo::codec
