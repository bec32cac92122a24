#pragma once
#include "octavo/codec/codec.hpp"
#include "octavo/codec/predict.hpp"

/// Inside the codec room: values on boxes of a regular grid, interpolated from coarse strides to fine ones across all
/// boxes (docs/codecs.md, "Boxes"). Payloads only. After SZ3 (Liang et al., IEEE Trans. Big Data 9, 2023: interpolation
/// whose residuals are quantised) and HPEZ (Liu et al., SIGMOD 2024: along several axes).
namespace octavo::codec {

/// Bytes that a payload is likely to take, from the finest stride of some boxes.
template <class T>
double estimate_boxes(std::span<const T> values, const Context<T>& context, const Bound& bound);

/// Appends the payload and gives in `decoded` what decoding gives. False where it would not have less than `limit`
/// bytes, or where this codec cannot keep the bound or make errors cancel: values are then best stored another way.
template <class T>
bool encode_boxes(std::span<const T> values, const Context<T>& context, const Bound& bound, Effort effort,
                  std::size_t limit, std::span<T> decoded, Bytes& payload);
template <class T>
void decode_boxes(ChunkReader& in, const Context<T>& context, std::span<T> out);

/// The bound at the beginning of a payload.
Bound bound_of_boxes(ChunkReader& in);

}  // namespace octavo::codec
