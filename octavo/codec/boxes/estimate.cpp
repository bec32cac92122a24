#include <algorithm>
#include <cmath>

#include "octavo/codec/boxes.hpp"
#include "octavo/codec/boxes/encode.hpp"

namespace octavo::codec {

namespace {

/// How often each class of numbers comes, and the bits that their symbols leave open.
struct Classes {
  std::array<std::uint32_t, 256> count{};
  std::size_t numbers = 0, low_bits = 0;

  void add(std::int64_t number) {
    const unsigned c = class_of(zigzag(number));
    ++count[c];
    ++numbers;
    low_bits += symbol_table(Alphabet::numbers).bits[num_specials + c];
  }
  /// Bits a number.
  double bits() const {
    double sum = static_cast<double>(low_bits);
    for (const std::uint32_t n : count)
      if (n > 0) sum += n * (log2_of(static_cast<double>(numbers)) - log2_of(n));
    return numbers == 0 ? 0 : sum / static_cast<double>(numbers);
  }
};

/// The values of a chunk in place of a BoxState's: a walk over some boxes needs few of them.
template <class T>
struct GivenValues {
  std::span<const T> given;
  std::size_t values_of_a_box;  ///< the last entries are a box that is not there
  std::size_t size() const { return given.size() + values_of_a_box; }
  double operator[](std::size_t i) const {
    const double x = i < given.size() ? static_cast<double>(given[i]) : unknown_value();
    return std::isfinite(x) ? x : unknown_value();
  }
};
template <class T>
struct GivenState {
  GivenValues<T> value;
};

/// Puts logarithms in the place of values around points.
template <class T>
void take_logarithms(Points& points) {
  std::array<double, Points::most> logarithm;
  for (std::size_t r = 0; r < points.axes; ++r)
    for (auto& near : points.near[r]) {
      logarithms_of(near.data(), logarithm.data(), points.count);
      for (std::size_t t = 0; t < points.count; ++t)
        near[t] = Residuals<T>::has_logarithm(near[t]) ? logarithm[t] : unknown_value();
    }
}

/// The numbers that stand for values of the finest stride in every n-th box.
template <class T>
Classes classes_of(std::span<const T> values, const BoxGrid& grid, std::size_t every, const BoxHead& head) {
  const GivenState<T> state{{values, grid.cells * grid.components}};
  const Residuals<T> residuals(head);
  const std::array<double, 2> ends = residuals.pointwise() ? std::array{1.0, 1.0} : std::array{0.0, 0.0};
  Classes classes;
  Interpolated found;
  Quantised q;
  alignas(32) std::array<double, Points::most> expected, x;
  for (const Stage& stage : stages_of(1)) {
    if (stage.axes == 0) continue;
    BoxWalk<PointProperties::values, GivenState<T>>(grid, stage, state, 1)(every, [&](Points& points) {
      if (head.logarithms) take_logarithms<T>(points);
      interpolate(points, found);
      expect(found, head.weight_of(stage), points.count, expected.data());
      for (std::size_t k = 0; k < points.count; ++k) x[k] = static_cast<double>(values[points.at[k]]);
      if (head.bound.kind != BoundKind::lossless) residuals.quantise(x.data(), expected.data(), ends, points.count, q);
      for (std::size_t k = 0; k < points.count; ++k) {
        if (found.known[k] == 0) continue;
        if (head.bound.kind == BoundKind::lossless)
          classes.add(wrapping_difference(ExactGrid<T>::index_of(values[points.at[k]]), exact_index<T>(expected[k])));
        else if (q.good[k] != 0)
          classes.add(q.number[k]);
      }
    });
  }
  return classes;
}

}  // namespace

template <class T>
double estimate_bits(std::span<const T> values, const BoxGrid& grid, BoxHead head) {
  const std::size_t points = std::clamp<std::size_t>(values.size() / 16, 512, 2048);
  const std::size_t wanted = std::max<std::size_t>(8, points / (grid.cells * grid.components));
  // As the encoder begins (encode_bounded() in boxes.cpp), with cubic interpolation.
  head.lattice.narrow = 1024;
  head.strides = 1;
  head.weight.assign(weights_a_stride, 8);
  return classes_of(values, grid, std::max<std::size_t>(1, grid.boxes.at.size() / wanted), head).bits();
}

template <class T>
double estimate_boxes(std::span<const T> values, const Context<T>& context, const Bound& bound) {
  BoxHead head;
  head.bound = bound;
  constexpr double head_and_tables = 25;
  const double bits = estimate_bits(values, grid_of(context.boxes, values.size()), head);
  return bits / 8 * static_cast<double>(values.size()) + head_and_tables;
}

template double estimate_bits(std::span<const double>, const BoxGrid&, BoxHead);
template double estimate_bits(std::span<const float>, const BoxGrid&, BoxHead);
template double estimate_boxes(std::span<const double>, const Context<double>&, const Bound&);
template double estimate_boxes(std::span<const float>, const Context<float>&, const Bound&);

}  // namespace octavo::codec
