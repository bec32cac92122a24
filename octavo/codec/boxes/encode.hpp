#pragma once
#include "octavo/codec/boxes/interpolate.hpp"
#include "octavo/codec/boxes/residuals.hpp"

/// Inside the codec room: one pass of the encoder over the values of a chunk on boxes.
namespace octavo::codec {

template <class T>
class BoxEncoder {
 public:
  /// `given`: the values.
  BoxEncoder(std::span<const T> values, std::span<const double> given, const BoxGrid& grid, const BoxHead& head);

  /// Appends the coded blocks and exact values. False if they have `limit` bytes or more.
  bool encode(std::size_t limit, Bytes& out);

  /// How far values may be moved within the bound: absolute or in log2.
  double slack() const { return slack_; }
  /// The decoded values before all are moved, under a bound; unknown for zeros and exact values.
  std::span<const double> coded() const {
    return head_.logarithms ? std::span<const double>(coded_) : std::span(state_.value).first(values_.size());
  }

 private:
  void settle(const Points& points, const Interpolated& found, double weight, std::size_t t);
  void settle_bounded(const Points& points, const Interpolated& found, const double* expected, std::size_t t);
  void settle_one(std::size_t i, double expected, std::size_t t);
  void settle_exactly(std::size_t i, double expected, std::size_t t);
  void put(std::int64_t number, bool flip, std::size_t t);
  void know(std::size_t i, double value, double level);
  bool flips(double expected, bool negative) const;
  bool stays_within(double x, double y) const;

  std::span<const T> values_;
  std::span<const double> given_;
  const BoxGrid& grid_;
  const BoxHead& head_;
  Residuals<T> residuals_;
  double slack_ = 0;
  std::array<double, 2> ends_{};  ///< slack as `Residuals::quantise` wants it
  BoxState state_;
  std::vector<double> coded_;
  std::vector<T> exact_;
  Symbols symbols_;
  double last_ = 0;  ///< the level or value that became known last
  bool last_negative_ = false;
};

/// Chooses the weights that leave the least of every n-th box (docs/codecs.md, "How the encoder chooses"). The state
/// has all values, or logarithms of them, as `state_of` makes it.
void fit_weights(const BoxGrid& grid, const BoxState& state, std::size_t every, BoxHead& head);
/// Bits that a value is likely to take with this head's bound, from the finest stride of some boxes.
template <class T>
double estimate_bits(std::span<const T> values, const BoxGrid& grid, BoxHead head);
BoxState state_of(std::span<const double> values, const BoxGrid& grid, const BoxHead& head);

}  // namespace octavo::codec
