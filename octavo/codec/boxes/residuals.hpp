#pragma once
#include <optional>

#include "octavo/codec/boxes/head.hpp"
#include "octavo/codec/boxes/walk.hpp"
#include "octavo/codec/grids.hpp"

/// Inside the codec room: from a value and its prediction to a number, and back, under a bound (docs/codecs.md,
/// "Boxes").
namespace octavo::codec {

/// The index that stands for a prediction on the exact grid.
template <class T>
std::int64_t exact_index(double expected) {
  const bool has_place = std::abs(expected) <= static_cast<double>(std::numeric_limits<T>::max());
  return has_place ? ExactGrid<T>::index_of(static_cast<T>(expected)) : 0;
}

/// The numbers of some points, and the values that they stand for.
struct Quantised {
  alignas(32) std::array<std::int64_t, Points::most> number;
  alignas(32) std::array<double, Points::most> value, level;
  std::array<std::uint8_t, Points::most> good;  ///< 1: the value keeps its bound, wherever all are moved
};

/// Residuals of one kind of bound. A *level* is what they are added to: a value, or its logarithm under a point-wise
/// bound.
template <class T>
struct Residuals {
  BoundKind kind;
  double bound;
  bool logarithms;
  double step = 1, inverse = 1;
  double half_width = 0;  ///< of a cell if nothing is to be moved
  double centre = 0;      ///< of a cell on the logarithmic scale, from its level
  /// By sign: the shift of all decoded values, absolute and relative.
  std::array<double, 2> moved{}, factor{1, 1};

  explicit Residuals(const BoxHead& head);

  bool pointwise() const { return kind == BoundKind::pointwise_relative; }
  static bool has_logarithm(double x) { return PointwiseGrid<T>::has_place(std::abs(x)); }
  /// Whether an expected value is negative.
  static bool negative(double x) { return has_logarithm(x) && x < 0; }
  double level_of(double expected) const {
    if (!pointwise() || logarithms) return expected;
    return has_logarithm(expected) ? log2_of(expected) : 0.0;
  }
  /// The number that stands for x where `level` is expected; nothing where there is none.
  std::optional<std::int64_t> number(double x, double level) const {
    const double distance = ((pointwise() ? log2_of(x) : x) - level) * inverse;
    if (!(std::abs(distance) < 0x1p49)) return {};
    return floor_of(distance + 0.5);
  }
  double value_at(double level, bool is_negative) const {
    if (!pointwise()) return level;
    const double magnitude = exp2_of(level + centre);
    return is_negative ? -magnitude : magnitude;
  }
  /// From what others are interpolated.
  double known(double value, double level) const { return logarithms ? level : value; }
  bool within(double x, double y) const {
    return pointwise() ? PointwiseGrid<T>::within(x, y, bound) : AbsoluteGrid<T>::within(x, y, bound);
  }
  /// As it is decoded.
  T finish(double value) const {
    const std::size_t n = value < 0 ? 1 : 0;
    return AbsoluteGrid<T>::finish(pointwise() ? value * factor[n] : value + moved[n]);
  }

  /// Numbers for some values, `expected` being predicted, that stay within the bound if all are moved by (`ends`:
  /// absolute or relative) as much as they may be. Not good where that is not sure.
  void quantise(const double* values, const double* expected, const std::array<double, 2>& ends, std::size_t count,
                Quantised& result) const;
  /// Values and levels from numbers below 2^50, positive under a point-wise bound.
  void reconstruct(const double* expected, std::size_t count, Quantised& result) const;
};

}  // namespace octavo::codec
