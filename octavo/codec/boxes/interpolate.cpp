#include "octavo/codec/boxes/interpolate.hpp"

#include "octavo/codec/wide.hpp"

namespace octavo::codec {

namespace {

[[gnu::always_inline]] inline void known_of_four(const Four& x, FourBits& known) {
  known = (FourBits)((FourBits)x != unknown_bits);
}
[[gnu::always_inline]] inline void masked(const FourBits& mask, const Four& x, Four& result) {
  result = (Four)(mask & (FourBits)x);
}

/// Interpolation along one axis: where values of both sides are known, and where those of one are at least.
struct AlongAxis {
  FourBits both, any;
  Four middle, curve, side;  ///< from both sides, and from one
};
[[gnu::always_inline]] inline void along_axis(const std::array<std::array<double, Points::most>, 4>& near,
                                              std::size_t t, AlongAxis& result) {
  Four a, b, c, d, e, f;
  std::memcpy(&a, near[0].data() + t, sizeof a);
  std::memcpy(&b, near[1].data() + t, sizeof b);
  std::memcpy(&c, near[2].data() + t, sizeof c);
  std::memcpy(&d, near[3].data() + t, sizeof d);
  FourBits has_a, has_b, has_c, has_d;
  known_of_four(a, has_a);
  known_of_four(b, has_b);
  known_of_four(c, has_c);
  known_of_four(d, has_d);
  result.both = has_a & has_b;
  result.any = has_a | has_b;
  result.middle = 0.5 * (a + b);
  // With a weight of 1/8 of `curve` the result is the cubic through the four points: 9/16 of the near two, less 1/16 of
  // the far two.
  masked(has_c, (2.0 * a - b) - c, e);
  masked(has_d, (2.0 * b - a) - d, f);
  const Four curve = (0.0 + e) + f, half = 0.5 * curve;
  select_four(has_c & has_d, half, curve, result.curve);
  // From one side: a and c, or b and d.
  select_four(has_a, a, b, e);
  select_four(has_a, c, d, f);
  const FourBits has_next = (has_a & has_c) | (~has_a & has_d);
  const Four further = e + 0.5 * (e - f);
  select_four(has_next, further, e, result.side);
}

/// The mean over the axes along which both sides are known; without such, over those with one.
template <std::size_t axes>
[[gnu::always_inline]] inline void interpolate_four(const Points& points, std::size_t t, Interpolated& result) {
  std::array<AlongAxis, axes> along;
  FourBits both{}, any{};
  for (std::size_t r = 0; r < axes; ++r) {
    along_axis(points.near[r], t, along[r]);
    both |= along[r].both;
    any |= along[r].any;
  }
  Four value{}, curve{}, count{}, one;
  for (std::size_t r = 0; r < axes; ++r) {
    const FourBits counts = (both & along[r].both) | (~both & along[r].any);
    select_four(both, along[r].middle, along[r].side, one);
    masked(counts, one, one);
    value = value + one;
    masked(along[r].both, along[r].curve, one);
    curve = curve + one;
    masked(counts, Four{} + 1.0, one);
    count = count + one;
  }
  if constexpr (axes > 1) {
    select_four((FourBits)(count > 1.0), count, Four{} + 1.0, count);
    value = value / count;
    curve = curve / count;
  }
  std::memcpy(result.value.data() + t, &value, sizeof value);
  std::memcpy(result.curve.data() + t, &curve, sizeof curve);
  for (std::size_t k = 0; k < 4; ++k) result.known[t + k] = static_cast<std::uint8_t>(any[k] & 1);
}

template <std::size_t axes>
[[gnu::always_inline]] inline void interpolate_all(const Points& points, Interpolated& result) {
  for (std::size_t t = 0; t < points.count; t += 4) interpolate_four<axes>(points, t, result);
}

}  // namespace

OCTAVO_WIDE void interpolate(const Points& points, Interpolated& result) {
  switch (points.axes) {
    case 0: return result.known.fill(0);
    case 1: return interpolate_all<1>(points, result);
    case 2: return interpolate_all<2>(points, result);
    default: return interpolate_all<3>(points, result);
  }
}

OCTAVO_WIDE void expect(const Interpolated& found, double weight, std::size_t count, double* expected) {
  for (std::size_t t = 0; t < count; ++t) expected[t] = found.value[t] + weight * found.curve[t];
}

OCTAVO_WIDE void add_misses(const Points& points, const Interpolated& found, const double* values,
                            const std::array<double, 4>& weights, bool relative, std::array<double, 4>& sums) {
  Four weight, sum;
  std::memcpy(&weight, weights.data(), sizeof weight);
  std::memcpy(&sum, sums.data(), sizeof sum);
  for (std::size_t t = 0; t < points.count; ++t) {
    const double x = values[points.at[t]];
    if (found.known[t] == 0 || !is_known(x) || (relative && x == 0)) continue;
    Four miss;
    magnitudes_of_four(x - (found.value[t] + weight * found.curve[t]), miss);
    sum = sum + (relative ? miss / (miss + std::abs(x)) : miss);
  }
  std::memcpy(sums.data(), &sum, sizeof sum);
}

}  // namespace octavo::codec
