#include <algorithm>

#include "octavo/codec/boxes.hpp"
#include "octavo/codec/boxes/interpolate.hpp"
#include "octavo/codec/boxes/residuals.hpp"

namespace octavo::codec {

namespace {

template <class T>
class BoxDecoder {
 public:
  BoxDecoder(const BoxGrid& grid, const BoxHead& head, std::span<T> out)
      : grid_(grid), head_(head), residuals_(head), state_(grid, out.size()), out_(out) {}

  void decode(ChunkReader& in) {
    const unsigned share = head_.bound.kind == BoundKind::lossless ? 1 : 2;
    std::vector<std::uint8_t> activity;
    Room<std::size_t> at;
    // A group's symbols are decoded as a block before any of its values is known: their contexts come from the groups
    // before.
    for (const StageGroup& group : groups_of(grid_, head_.strides)) {
      activity.clear();
      at.clear();
      for (const Stage& stage : group.stages)
        BoxWalk<PointProperties::activity>(grid_, stage, state_, share)(1, [&](const Points& points) {
          activity.insert(activity.end(), points.activity.begin(), points.activity.begin() + points.count);
          at.insert(at.end(), points.at.begin(), points.at.begin() + points.count);
        });
      decode_symbols(in, head_.alphabet(), {group.values, 1, 1}, activity, symbols_);
      place(group, share);
      set_lengths(symbols_, at, state_);
    }
    if (!sound_) in.fail("a value is out of range");
    const std::vector<T> exact = get_exact<T>(in, exact_.size());
    for (std::size_t e = 0; e < exact.size(); ++e) out_[exact_[e]] = exact[e];
  }

 private:
  void place(const StageGroup& group, unsigned share) {
    Interpolated found;
    alignas(32) std::array<double, Points::most> expected;
    std::size_t t = 0;
    for (const Stage& stage : group.stages)
      BoxWalk<PointProperties::values>(grid_, stage, state_, share)(1, [&](const Points& points) {
        interpolate(points, found);
        expect(found, head_.weight_of(stage), points.count, expected.data());
        if (head_.bound.kind == BoundKind::lossless)
          place_exactly(points, found, expected.data(), t);
        else
          place_bounded(points, found, expected.data(), t);
        t += points.count;
      });
  }

  void place_exactly(const Points& points, const Interpolated& found, const double* expected, std::size_t t) {
    for (std::size_t k = 0; k < points.count; ++k, ++t) {
      const std::size_t i = points.at[k];
      const std::int64_t from = exact_index<T>(found.known[k] != 0 ? expected[k] : last_);
      const std::int64_t index = wrapping_sum(from, unzigzag(symbols_.number[t]));
      sound_ = sound_ && symbols_.symbol[t] >= num_specials && ExactGrid<T>::in_range(index);
      out_[i] = ExactGrid<T>::value_of(index);
      last_ = state_.value[i] = known_value(static_cast<double>(out_[i]));
    }
  }

  void place_bounded(const Points& points, const Interpolated& found, const double* expected, std::size_t t) {
    Quantised q;
    for (std::size_t k = 0; k < points.count; ++k) {
      const std::int64_t number = unzigzag(symbols_.number[t + k]);
      const bool special = symbols_.symbol[t + k] < num_specials;
      const bool good = special || (number >= -index_limit && number <= index_limit);
      sound_ = sound_ && good;
      q.number[k] = good && !special ? number : 0;
    }
    residuals_.reconstruct(expected, points.count, q);
    for (std::size_t k = 0; k < points.count; ++k, ++t) {
      const std::size_t i = points.at[k];
      if (place_special(i, symbols_.symbol[t])) continue;
      const double from = found.known[k] != 0 ? expected[k] : last_;
      const bool flip = head_.signs && ((symbols_.symbol[t] - static_cast<unsigned>(num_specials)) & 1) != 0;
      const bool expected_negative = head_.logarithms ? last_negative_ : Residuals<T>::negative(from);
      const bool negative = head_.signs && expected_negative != flip;
      double level = q.level[k], y = q.value[k];
      if (found.known[k] == 0) {
        level = residuals_.level_of(from) + double_of(q.number[k]) * residuals_.step;
        y = residuals_.value_at(level, false);
      }
      if (negative) y = -y;
      out_[i] = residuals_.finish(y);
      last_ = state_.value[i] = residuals_.known(y, level);
      last_negative_ = y < 0;
    }
  }

  bool place_special(std::size_t i, unsigned symbol) {
    if (symbol >= num_specials) return false;
    if (symbol == 2) exact_.push_back(i);
    out_[i] = symbol == 1 ? -T{0} : T{0};
    return true;
  }

  const BoxGrid& grid_;
  const BoxHead& head_;
  Residuals<T> residuals_;
  BoxState state_;
  std::span<T> out_;
  Symbols symbols_;
  std::vector<std::size_t> exact_;
  double last_ = 0;  ///< the level or value that became known last
  bool last_negative_ = false;
  bool sound_ = true;
};

}  // namespace

template <class T>
void decode_boxes(ChunkReader& in, const Context<T>& context, std::span<T> out) {
  const BoxHead head = get_box_head(in, scalar_of<T>);
  if (out.empty()) return;
  if (context.boxes.at.empty()) in.fail("values on boxes, whose places are not known");
  BoxGrid& grid = grid_of(context.boxes, out.size());
  grid.prepare(head.strides);
  BoxDecoder<T>(grid, head, out).decode(in);
}

Bound bound_of_boxes(ChunkReader& in) {
  const auto kind = static_cast<BoundKind>(in.byte() & 3);
  return {kind, kind == BoundKind::lossless ? 0.0 : get_bound(in)};
}

template void decode_boxes(ChunkReader&, const Context<double>&, std::span<double>);
template void decode_boxes(ChunkReader&, const Context<float>&, std::span<float>);

}  // namespace octavo::codec
