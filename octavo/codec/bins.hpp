#pragma once
#include "octavo/codec/chunk.hpp"
#include "octavo/codec/codec.hpp"

/// Inside the codec room: values, or differences of them, by the bin in which they are and their place in it
/// (docs/codecs.md, "Bins"): a table if there are few values, and what is left if nothing predicts them. Payloads only;
/// lossless. After pcodec (Loncaric et al., arXiv:2502.06112, 2025: bins of equal counts, merged by their cost).
namespace octavo::codec {

/// Bytes that the values are likely to take, from at most 512 of them.
template <class T>
double estimate_bins(std::span<const T> values);

/// Appends the smallest payload of all orders of differences, or (`quick`) of the order that the estimate prefers.
template <class T>
void encode_bins(std::span<const T> values, bool quick, Bytes& payload);
template <class T>
void decode_bins(ChunkReader& in, std::span<T> out);

}  // namespace octavo::codec
