#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "octavo/codec/quantise.hpp"

/// Inside the codec room: quantise.hpp's functions for four numbers at once, operation by operation the same.
/// (Compilers do not find out by themselves that those on one number can be joined.)

// Wider vector instructions where the machine has them: the same operations on the same numbers, so the same results.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define OCTAVO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define OCTAVO_WIDE
#endif

namespace octavo::codec {

using Four = double __attribute__((vector_size(32)));
using FourBits = std::uint64_t __attribute__((vector_size(32)));
using FourInts = std::int64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void log2_of_four(const Four& x, Four& result) {
  const FourBits bits = (FourBits)x & 0x7fffffffffffffffULL;
  const FourBits biased = (bits + 0x00095f619980c433ULL) >> 52;
  const Four m = (Four)(bits - ((biased - 1023) << 52));
  const Four exponent = (Four)(biased | 0x4330000000000000ULL) - 4503599627371519.0;
  const Four s = (m - 1.0) / (m + 1.0);
  const Four z = s * s;
  Four sum = 0.16972882833987804 * z + 0.19235933878519512;
  sum = sum * z + 0.22195308321368667;
  sum = sum * z + 0.2623081892525388;
  sum = sum * z + 0.3205988979753252;
  sum = sum * z + 0.4121985831111324;
  sum = sum * z + 0.5770780163555853;
  sum = sum * z + 0.9617966939259756;
  sum = sum * z + 2.8853900817779268;
  result = exponent + s * sum;
}

[[gnu::always_inline]] inline void floor_of_four(const Four& y, FourBits& result) {
  const double magic = 6755399441055744.0;
  const Four nearest = (y + magic) - magic;
  const FourBits one = FourBits{} + std::bit_cast<std::uint64_t>(1.0);
  const Four below = nearest - (Four)((FourBits)(nearest > y) & one);
  result = (FourBits)(below + magic) - std::bit_cast<std::uint64_t>(magic);
}

[[gnu::always_inline]] inline void double_of_four(const FourBits& q, Four& result) {
  const double magic = 6755399441055744.0;
  result = (Four)(q + std::bit_cast<std::uint64_t>(magic)) - magic;
}

[[gnu::always_inline]] inline void exp2_of_four(const Four& y, Four& result) {
  const double magic = 6755399441055744.0;
  const Four least = Four{} - 1023.0, most = Four{} + 1024.0;
  const Four raised = y > least ? y : least;
  const Four clamped = raised < most ? raised : most;
  const Four shifted = clamped + magic;
  const Four t = (clamped - (shifted - magic)) * 0.6931471805599453;
  const FourBits whole = (FourBits)shifted - std::bit_cast<std::uint64_t>(magic);
  Four sum = 2.08767569878681e-09 * t + 2.505210838544172e-08;
  sum = sum * t + 2.755731922398589e-07;
  sum = sum * t + 2.7557319223985893e-06;
  sum = sum * t + 2.48015873015873e-05;
  sum = sum * t + 0.0001984126984126984;
  sum = sum * t + 0.001388888888888889;
  sum = sum * t + 0.008333333333333333;
  sum = sum * t + 0.041666666666666664;
  sum = sum * t + 0.16666666666666666;
  sum = sum * t + 0.5;
  sum = sum * t + 1.0;
  sum = sum * t + 1.0;
  result = sum * (Four)((whole + 1023) << 52);
}

/// Where the sign bit is set: all bits.
[[gnu::always_inline]] inline void signs_of_four(const Four& x, FourBits& result) { result = -((FourBits)x >> 63); }
[[gnu::always_inline]] inline void magnitudes_of_four(const Four& x, Four& result) {
  result = (Four)((FourBits)x & 0x7fffffffffffffffULL);
}
/// `set` where all bits of the mask are set, else `clear`.
[[gnu::always_inline]] inline void select_four(const FourBits& mask, const Four& set, const Four& clear, Four& result) {
  result = (Four)((mask & (FourBits)set) | (~mask & (FourBits)clear));
}

// indices_on and values_on, for callers that are compiled for wide vectors themselves.

[[gnu::always_inline]] inline void wide_indices_on(const LogGrid& grid, const double* values, std::int64_t* indices,
                                                   std::size_t count) {
  const double inverse = grid.inverse;
  const Four first = Four{} + grid.phase[0], second = Four{} + grid.phase[1];
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four x;
    FourBits q;
    std::memcpy(&x, values + i, sizeof x);
    FourBits negative;
    Four phase;
    signs_of_four(x, negative);
    select_four(negative, second, first, phase);
    log2_of_four(x, x);
    floor_of_four(x * inverse - phase, q);
    std::memcpy(indices + i, &q, sizeof q);
  }
  if (grid.common)
    for (std::size_t k = 0; k < i; ++k)
      if (std::signbit(values[k]) == grid.common.negative)
        indices[k] = grid.common.index(indices[k], std::abs(values[k]));
  for (; i < count; ++i) indices[i] = index_on(grid, values[i]);
}

template <class Flag>
[[gnu::always_inline]] inline void wide_values_on(const LogGrid& grid, const std::int64_t* indices,
                                                  const Flag* negative, double* values, std::size_t count) {
  const double step = grid.step;
  const Four first = Four{} + grid.offset[0], second = Four{} + grid.offset[1];
  const bool apart = grid.offset[0] != grid.offset[1], inserted = static_cast<bool>(grid.common);
  const FourBits sign = FourBits{} + (grid.common.negative ? 1u : 0u);
  const FourInts cell = FourInts{} + grid.common.cell;
  const Four magnitude = Four{} + grid.common.magnitude;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    FourBits q, is_common{};
    std::memcpy(&q, indices + i, sizeof q);
    FourBits signs{};
    if constexpr (sizeof(Flag) == sizeof(std::uint64_t))
      std::memcpy(&signs, negative + i, sizeof signs);
    else if (apart || inserted)
      signs = FourBits{negative[i], negative[i + 1], negative[i + 2], negative[i + 3]};
    if (inserted) {
      const auto of_its_sign = (FourBits)(signs == sign);
      is_common = (FourBits)((FourInts)q == cell) & of_its_sign;
      q += (FourBits)((FourInts)q > cell) & of_its_sign;  // one less
    }
    Four x, offsets = first;
    if (apart) select_four(-signs, second, first, offsets);
    double_of_four(q, x);
    exp2_of_four(x * step + offsets, x);
    if (inserted) select_four(is_common, magnitude, x, x);
    std::memcpy(values + i, &x, sizeof x);
  }
  for (; i < count; ++i) values[i] = value_on(grid, indices[i], negative[i] != 0);
}

[[gnu::always_inline]] inline void wide_indices_on(const LinearGrid& grid, const double* values, std::int64_t* indices,
                                                   std::size_t count) {
  const double inverse = grid.inverse;
  const Four first = Four{} + grid.phase[0], second = Four{} + grid.phase[1];
  std::size_t i = 0;
  for (; i + 4 <= count && !grid.common; i += 4) {
    Four x, phase;
    FourBits negative, q;
    std::memcpy(&x, values + i, sizeof x);
    signs_of_four(x, negative);
    select_four(negative, second, first, phase);
    magnitudes_of_four(x, x);
    const Four distance = x * inverse;
    floor_of_four((distance + phase) + 0.5, q);
    q &= ~(FourBits)(distance + distance < 1.0 - phase);
    q = (q ^ negative) - negative;
    std::memcpy(indices + i, &q, sizeof q);
  }
  for (; i < count; ++i) indices[i] = index_on(grid, values[i]);
}

[[gnu::always_inline]] inline void wide_values_on(const LinearGrid& grid, const std::int64_t* indices, double* values,
                                                  std::size_t count) {
  const double step = grid.step;
  const Four first = Four{} + grid.phase[0], second = Four{} + grid.phase[1];
  std::size_t i = 0;
  for (; i + 4 <= count && !grid.common; i += 4) {
    Four phase;
    FourBits q;
    std::memcpy(&q, indices + i, sizeof q);
    const FourBits negative = -(q >> 63);
    select_four(negative, second, first, phase);
    q = (q ^ negative) - negative;
    Four x;
    double_of_four(q, x);
    x = (x - phase) * step;
    x = (Four)(((FourBits)x | (negative << 63)) & ~(FourBits)(q == 0));
    std::memcpy(values + i, &x, sizeof x);
  }
  for (; i < count; ++i) values[i] = value_on(grid, indices[i]);
}

}  // namespace octavo::codec
