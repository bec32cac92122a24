#include "octavo/codec/quantise.hpp"

#include <cstring>

// Wider vector instructions where the machine has them: the same operations on the same numbers, so the same results.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define OCTAVO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define OCTAVO_WIDE
#endif

namespace octavo::codec {

LogGrid log_grid(double bound) {
  const double e = std::min(bound, 0.5);
  const double above = log2_of(1.0 + e);
  const double width = above - log2_of(1.0 - e);
  const double step = width * (1.0 - 0x1p-20);
  return {step, 1.0 / step, above - width * 0x1p-21};
}

namespace {

// The functions of the header for four numbers at once, operation by operation the same. (Compilers do not find out by
// themselves that those on one number can be joined.)
using Four = double __attribute__((vector_size(32)));
using FourBits = std::uint64_t __attribute__((vector_size(32)));

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

}  // namespace

OCTAVO_WIDE void indices_on(const LogGrid& grid, const double* values, std::int64_t* indices, std::size_t count) {
  const double inverse = grid.inverse;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four x;
    FourBits q;
    std::memcpy(&x, values + i, sizeof x);
    log2_of_four(x, x);
    floor_of_four(x * inverse, q);
    std::memcpy(indices + i, &q, sizeof q);
  }
  for (; i < count; ++i) indices[i] = floor_of(log2_of(values[i]) * inverse);
}

OCTAVO_WIDE void values_on(const LogGrid& grid, const std::int64_t* indices, double* values, std::size_t count) {
  const double step = grid.step, offset = grid.offset, magic = 6755399441055744.0;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    FourBits q;
    std::memcpy(&q, indices + i, sizeof q);
    Four x = (Four)(q + std::bit_cast<std::uint64_t>(magic)) - magic;
    exp2_of_four(x * step + offset, x);
    std::memcpy(values + i, &x, sizeof x);
  }
  for (; i < count; ++i) values[i] = exp2_of(double_of(indices[i]) * step + offset);
}

LinearGrid linear_grid(double bound) {
  const double step = 2.0 * bound;
  return {step, 1.0 / step};
}

}  // namespace octavo::codec
