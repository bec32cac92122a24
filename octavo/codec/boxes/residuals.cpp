#include "octavo/codec/boxes/residuals.hpp"

#include "octavo/codec/wide.hpp"

namespace octavo::codec {

template <class T>
Residuals<T>::Residuals(const BoxHead& head)
    : kind(head.bound.kind), bound(head.bound.value), logarithms(head.logarithms) {
  if (kind == BoundKind::absolute) {
    const LinearGrid grid = linear_grid(bound, {{}, head.lattice.narrow, {}});
    step = grid.step, inverse = grid.inverse, half_width = bound;
  } else if (pointwise()) {
    const LogGrid grid = log_grid(bound, {{}, head.lattice.narrow, {}});
    const double e = std::min(bound, 0.5), above = log2_of(1.0 + e), below = log2_of(1.0 - e);
    step = grid.step, inverse = grid.inverse;
    centre = 0.5 * (above + below), half_width = 0.5 * (above - below);
  }
  for (std::size_t n = 0; n < 2; ++n) {
    const double phase = head.lattice.phase[n] < 0.5 ? head.lattice.phase[n] : head.lattice.phase[n] - 1.0;
    moved[n] = phase * step;
    if (pointwise()) factor[n] = exp2_of(moved[n]);
  }
}

namespace {

/// Whether a value lies in the range of T, and there what rounding to T makes of it.
template <class T>
[[gnu::always_inline]] inline void round_four(Four& x, FourBits& good) {
  Four size;
  magnitudes_of_four(x, size);
  good &= (FourBits)(size <= static_cast<double>(std::numeric_limits<T>::max()));
  if constexpr (sizeof(T) == 4) {
    using FourFloats = float __attribute__((vector_size(16)));
    x = __builtin_convertvector(__builtin_convertvector(x, FourFloats), Four);
  }
}

/// Residuals::level_of.
[[gnu::always_inline]] inline void level_of_four(const Four& expected, bool pointwise, bool logarithms, Four& level) {
  level = expected;
  if (!pointwise || logarithms) return;
  Four size;
  magnitudes_of_four(expected, size);
  const FourBits has = (FourBits)(size >= log_grid_lowest) & (FourBits)(size <= std::numeric_limits<double>::max());
  log2_of_four(expected, level);
  level = (Four)((FourBits)level & has);
}

template <class T, bool pointwise>
[[gnu::always_inline]] inline void quantise_four(const Residuals<T>& r, const Four& x, const Four& expected,
                                                 const std::array<double, 2>& ends, std::size_t t, Quantised& result) {
  Four size, level, place = x, y;
  FourBits good, number, sign;
  magnitudes_of_four(x, size);
  good = (FourBits)(size <= std::numeric_limits<double>::max());
  good &= pointwise ? (FourBits)(size >= log_grid_lowest) : (FourBits)(size > 0.0);
  level_of_four(expected, pointwise, r.logarithms, level);
  if constexpr (pointwise) log2_of_four(x, place);
  const Four distance = (place - level) * r.inverse;
  Four far;
  magnitudes_of_four(distance, far);
  good &= (FourBits)(far < 0x1p49);
  floor_of_four(distance + 0.5, number);
  double_of_four(number, y);
  level = level + y * r.step;
  y = level;
  if constexpr (pointwise) {
    exp2_of_four(level + r.centre, y);
    signs_of_four(x, sign);
    y = (Four)((FourBits)y | (sign << 63));
  }
  for (const double end : ends) {
    Four moved = pointwise ? y * end : y + end, error;
    round_four<T>(moved, good);
    magnitudes_of_four(x - moved, error);
    if constexpr (pointwise)
      // A little less than the bound, because the product may have been rounded up.
      good &= (FourBits)(error <= r.bound * (1 - 0x1p-50) * size);
    else
      good &= (FourBits)(error < r.bound);
  }
  std::memcpy(result.number.data() + t, &number, sizeof number);
  std::memcpy(result.value.data() + t, &y, sizeof y);
  std::memcpy(result.level.data() + t, &level, sizeof level);
  for (std::size_t k = 0; k < 4; ++k) result.good[t + k] = static_cast<std::uint8_t>(good[k] & 1);
}

template <class T, bool pointwise>
[[gnu::always_inline]] inline void quantise_all(const Residuals<T>& r, const double* values, const double* expected,
                                                const std::array<double, 2>& ends, std::size_t count,
                                                Quantised& result) {
  Four x, e;
  for (std::size_t t = 0; t < count; t += 4) {
    std::memcpy(&x, values + t, sizeof x);
    std::memcpy(&e, expected + t, sizeof e);
    quantise_four<T, pointwise>(r, x, e, ends, t, result);
  }
}

}  // namespace

template <class T>
OCTAVO_WIDE void Residuals<T>::quantise(const double* values, const double* expected, const std::array<double, 2>& ends,
                                        std::size_t count, Quantised& result) const {
  if (pointwise())
    quantise_all<T, true>(*this, values, expected, ends, count, result);
  else
    quantise_all<T, false>(*this, values, expected, ends, count, result);
}

template <class T>
OCTAVO_WIDE void Residuals<T>::reconstruct(const double* expected, std::size_t count, Quantised& result) const {
  Four e, level, y;
  FourBits number;
  for (std::size_t t = 0; t < count; t += 4) {
    std::memcpy(&e, expected + t, sizeof e);
    std::memcpy(&number, result.number.data() + t, sizeof number);
    level_of_four(e, pointwise(), logarithms, level);
    double_of_four(number, y);
    level = level + y * step;
    y = level;
    if (pointwise()) exp2_of_four(level + centre, y);
    std::memcpy(result.value.data() + t, &y, sizeof y);
    std::memcpy(result.level.data() + t, &level, sizeof level);
  }
}

template struct Residuals<double>;
template struct Residuals<float>;

}  // namespace octavo::codec
