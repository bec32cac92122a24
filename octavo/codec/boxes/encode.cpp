#include "octavo/codec/boxes/encode.hpp"

#include <algorithm>

namespace octavo::codec {

template <class T>
BoxEncoder<T>::BoxEncoder(std::span<const T> values, std::span<const double> given, const BoxGrid& grid,
                          const BoxHead& head)
    : values_(values), given_(given), grid_(grid), head_(head), residuals_(head), state_(grid, values.size()) {
  const double room = head.lattice.narrow < 2 ? 0 : (head.lattice.narrow - 1) * 0x1p-16;
  slack_ = residuals_.half_width * room;
  ends_ = {slack_, -slack_};
  if (residuals_.pointwise()) ends_ = {exp2_of(slack_), exp2_of(-slack_)};
  if (head.logarithms) coded_.assign(values.size(), unknown_value());
}

template <class T>
bool BoxEncoder<T>::encode(std::size_t limit, Bytes& out) {
  const unsigned share = head_.bound.kind == BoundKind::lossless ? 1 : 2;
  std::vector<std::uint8_t> activity;
  Room<std::size_t> at;
  Interpolated found;
  for (const StageGroup& group : groups_of(grid_, head_.strides)) {
    symbols_.resize(group.values);
    activity.resize(group.values);
    at.resize(group.values);
    std::size_t t = 0;
    for (const Stage& stage : group.stages)
      BoxWalk<PointProperties::both>(grid_, stage, state_, share)(1, [&](const Points& points) {
        interpolate(points, found);
        settle(points, found, head_.weight_of(stage), t);
        std::copy_n(points.activity.begin(), points.count, activity.begin() + static_cast<std::ptrdiff_t>(t));
        std::copy_n(points.at.begin(), points.count, at.begin() + static_cast<std::ptrdiff_t>(t));
        t += points.count;
      });
    encode_symbols(symbols_, head_.alphabet(), {group.values, 1, 1}, activity, out);
    if (out.size() >= limit) return false;
    set_lengths(symbols_, at, state_);
  }
  put_exact(std::span<const T>(exact_), out);
  return out.size() < limit;
}

template <class T>
void BoxEncoder<T>::settle(const Points& points, const Interpolated& found, double weight, std::size_t t) {
  alignas(32) std::array<double, Points::most> expected;
  expect(found, weight, points.count, expected.data());
  if (head_.bound.kind != BoundKind::lossless) return settle_bounded(points, found, expected.data(), t);
  for (std::size_t k = 0; k < points.count; ++k)
    settle_exactly(points.at[k], found.known[k] != 0 ? expected[k] : last_, t + k);
}

template <class T>
void BoxEncoder<T>::settle_bounded(const Points& points, const Interpolated& found, const double* expected,
                                   std::size_t t) {
  alignas(32) std::array<double, Points::most> x;
  Quantised q;
  for (std::size_t k = 0; k < points.count; ++k) x[k] = given_[points.at[k]];
  residuals_.quantise(x.data(), expected, ends_, points.count, q);
  for (std::size_t k = 0; k < points.count; ++k, ++t) {
    const std::size_t i = points.at[k];
    if (found.known[k] == 0) {
      settle_one(i, last_, t);
    } else if (q.good[k] == 0) {
      settle_one(i, expected[k], t);
    } else {
      put(q.number[k], flips(expected[k], x[k] < 0), t);
      know(i, q.value[k], q.level[k]);
    }
  }
}

/// Any value, under a bound.
template <class T>
void BoxEncoder<T>::settle_one(std::size_t i, double expected, std::size_t t) {
  const double x = given_[i];
  const bool plain = x != 0 && (residuals_.pointwise() ? Residuals<T>::has_logarithm(x) : std::isfinite(x));
  const double level = residuals_.level_of(expected);
  std::optional<std::int64_t> number;
  if (plain) number = residuals_.number(x, level);
  const double to = number ? level + double_of(*number) * residuals_.step : 0.0;
  const double y = number ? residuals_.value_at(to, x < 0) : 0.0;
  if (number && stays_within(x, y)) {
    put(*number, flips(expected, x < 0), t);
    return know(i, y, to);
  }
  const ValueKind kind = x != 0 ? ValueKind::exact : std::signbit(x) ? ValueKind::minus_zero : ValueKind::zero;
  symbols_.symbol[t] = static_cast<std::uint8_t>(static_cast<int>(kind) - 1);
  if (kind == ValueKind::exact) exact_.push_back(values_[i]);
}

template <class T>
void BoxEncoder<T>::settle_exactly(std::size_t i, double expected, std::size_t t) {
  put(wrapping_difference(ExactGrid<T>::index_of(values_[i]), exact_index<T>(expected)), false, t);
  last_ = state_.value[i] = known_value(given_[i]);
}

template <class T>
void BoxEncoder<T>::put(std::int64_t number, bool flip, std::size_t t) {
  const std::uint64_t u = zigzag(number);
  const unsigned c = class_of(u);
  symbols_.symbol[t] = static_cast<std::uint8_t>(num_specials + (head_.signs ? 2 * c + (flip ? 1u : 0u) : c));
  symbols_.number[t] = u;
}

template <class T>
void BoxEncoder<T>::know(std::size_t i, double value, double level) {
  // Others are predicted from the decoded value, which the decoder has too.
  last_ = state_.value[i] = residuals_.known(value, level);
  last_negative_ = value < 0;
  if (head_.logarithms) coded_[i] = value;
}

/// Whether the sign is another than expected.
template <class T>
bool BoxEncoder<T>::flips(double expected, bool negative) const {
  return (head_.logarithms ? last_negative_ : Residuals<T>::negative(expected)) != negative;
}

/// Whether y, moved by as much as values may be, still stands for x.
template <class T>
bool BoxEncoder<T>::stays_within(double x, double y) const {
  return std::all_of(ends_.begin(), ends_.end(), [&](double end) {
    return residuals_.within(x, AbsoluteGrid<T>::finish(residuals_.pointwise() ? y * end : y + end));
  });
}

template class BoxEncoder<double>;
template class BoxEncoder<float>;

BoxState state_of(std::span<const double> values, const BoxGrid& grid, const BoxHead& head) {
  BoxState state(grid, values.size());
  std::transform(values.begin(), values.end(), state.value.begin(), [&](double x) {
    if (!head.logarithms) return std::isfinite(x) ? x : unknown_value();
    return Residuals<double>::has_logarithm(x) ? log2_of(x) : unknown_value();
  });
  return state;
}

void fit_weights(const BoxGrid& grid, const BoxState& state, std::size_t every, BoxHead& head) {
  // In 64ths: 0 is linear, 8 cubic interpolation.
  constexpr std::array<std::int8_t, 4> tried{0, 4, 8, 10};
  std::array<double, tried.size()> weights{};
  std::transform(tried.begin(), tried.end(), weights.begin(), [](std::int8_t w) { return w * 0.015625; });
  const bool relative = head.bound.kind != BoundKind::absolute && !head.logarithms;
  std::vector<std::array<double, tried.size()>> error(head.weight.size());
  Interpolated found;
  for (const Stage& stage : stages_of(head.strides)) {
    if (stage.axes == 0) continue;
    auto& sums = error[head.place_of_weight(stage)];
    BoxWalk<PointProperties::values>(grid, stage, state, 1)(stage.stride == 1 ? every : 1, [&](const Points& points) {
      interpolate(points, found);
      add_misses(points, found, state.value.data(), weights, relative, sums);
    });
  }
  for (std::size_t w = 0; w < head.weight.size(); ++w)
    head.weight[w] =
        tried[static_cast<std::size_t>(std::min_element(error[w].begin(), error[w].end()) - error[w].begin())];
}

}  // namespace octavo::codec
