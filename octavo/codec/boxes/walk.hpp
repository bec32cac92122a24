#pragma once
#include <limits>

#include "octavo/codec/boxes/places.hpp"
#include "octavo/codec/entropy.hpp"

/// Inside the codec room: the points of a stage, in order, with the values around them.
namespace octavo::codec {

/// Stands for a value that nothing can be interpolated from. A NaN that no arithmetic makes and that no field's value
/// becomes: `known_value` gives all NaN of fields other bits.
constexpr std::uint64_t unknown_bits = 0x7ff8000000000001ULL;
inline double unknown_value() { return std::bit_cast<double>(unknown_bits); }
inline bool is_known(double x) { return std::bit_cast<std::uint64_t>(x) != unknown_bits; }
inline double known_value(double x) { return x == x ? x : std::numeric_limits<double>::quiet_NaN(); }

/// The values of a chunk while a walk visits them. The last entry of each array stands for values that no box has.
struct BoxState {
  std::vector<double> value;         ///< as others are interpolated from it, or unknown
  std::vector<std::uint8_t> length;  ///< of a number, in finished groups
  explicit BoxState(std::size_t count) : value(count + 1, unknown_value()), length(count + 1) {}
  std::size_t nowhere() const { return value.size() - 1; }
};

/// Notes the lengths of a finished group's numbers, `at` being the numbers of its values.
void set_lengths(const Symbols& symbols, std::span<const std::size_t> at, BoxState& state);

/// Some points of a stage, side by side.
struct Points {
  static constexpr std::size_t most = 128;
  std::size_t count = 0, axes = 0;
  std::array<std::size_t, most> at{};  ///< numbers of their values
  /// For each axis of the stage the values at -1, +1, -3 and +3 strides.
  alignas(32) std::array<std::array<std::array<double, most>, 4>, 3> near{};
  /// How large their numbers may be, from the lengths of the numbers at -1 and +1 strides.
  std::array<std::uint8_t, most> activity{};
};

/// The number of a point's neighbour is that of the point, counted in another box of `Pattern::boxes`, plus `values`.
struct Near {
  std::size_t box;
  std::int64_t values;
};

/// The points of a stage in one box, which are the same in many.
struct Pattern {
  struct Other {
    std::size_t axis;
    std::int64_t steps;
    bool operator==(const Other&) const = default;
  };
  StageRows rows;
  std::vector<Other> boxes{Other{0, 0}};  ///< the own one first
  /// For each axis of the stage, by the place of a point's coordinate in the row.
  std::array<std::vector<std::array<Near, 4>>, 3> near;
};
Pattern pattern_of(const BoxGrid& grid, const Stage& stage, const StageRows& rows);

/// Visits the points of a stage. `share`: an activity divided by the mean length.
class BoxWalk {
 public:
  BoxWalk(const BoxGrid& grid, const Stage& stage, const BoxState& state, unsigned share)
      : grid_(grid), stage_(stage), state_(state), share_(share) {
    points_.axes = stage.num_axes();
  }

  /// Calls visit(points) for those of every n-th box.
  template <class Visit>
  void operator()(std::size_t every, Visit&& visit) {
    switch (points_.axes) {
      case 0: return run<0>(every, visit);
      case 1: return run<1>(every, visit);
      case 2: return run<2>(every, visit);
      default: return run<3>(every, visit);
    }
  }

 private:
  template <std::size_t axes, class Visit>
  void run(std::size_t every, Visit& visit) {
    const bool alike = grid_.all_alike(stage_);
    bool known = false;
    const auto& boxes = grid_.boxes_of(stage_);
    for (std::size_t n = 0; n < boxes.size(); n += every) {
      const std::uint32_t box = boxes[n];
      if (!known) {
        const StageRows rows = grid_.rows_of(stage_, box);
        if (rows.count() == 0) continue;
        if (!(rows == pattern_.rows)) pattern_ = pattern_of(grid_, stage_, rows);
        known = alike;
      }
      find_boxes(box);
      visit_box<axes>(visit);
    }
    flush(visit);
  }

  /// Where the values of the boxes of the pattern begin.
  void find_boxes(std::size_t box) {
    const std::size_t size = grid_.cells * grid_.components;
    begin_.resize(pattern_.boxes.size());
    begin_[0] = box * size;
    for (std::size_t n = 1; n < begin_.size(); ++n) {
      const std::uint32_t other = grid_.find(box, pattern_.boxes[n].axis, pattern_.boxes[n].steps);
      begin_[n] = other == no_box ? nowhere : other * size;
    }
  }

  template <std::size_t axes, class Visit>
  void visit_box(Visit& visit) {
    const auto& [x, y, z] = pattern_.rows.row;
    const std::size_t step = static_cast<std::size_t>(stage_.step()) * grid_.components;
    const std::size_t row = grid_.boxes.shape[0], plane = row * grid_.boxes.shape[1];
    std::array<const std::array<Near, 4>*, 3> near{};
    std::array<std::size_t, 3> at{};  // along each axis
    for (at[2] = 0; at[2] < static_cast<std::size_t>(z.count); ++at[2])
      for (at[1] = 0; at[1] < static_cast<std::size_t>(y.count); ++at[1]) {
        std::size_t value = static_cast<std::size_t>(x.first) * grid_.components +
                            (static_cast<std::size_t>(y.first) * grid_.components + at[1] * step) * row +
                            (static_cast<std::size_t>(z.first) * grid_.components + at[2] * step) * plane;
        for (at[0] = 0; at[0] < static_cast<std::size_t>(x.count); ++at[0], value += step) {
          std::size_t r = 0;
          for (std::size_t a = 0; a < 3; ++a)
            if ((stage_.axes >> a & 1) != 0) near[r++] = &pattern_.near[a][at[a]];
          for (std::size_t j = 0; j < grid_.components; ++j) {
            add<axes>(value + j, near);
            if (points_.count == Points::most) flush(visit);
          }
        }
      }
  }

  template <std::size_t axes>
  void add(std::size_t value, const std::array<const std::array<Near, 4>*, 3>& near) {
    const double* const values = state_.value.data();
    const std::uint8_t* const lengths = state_.length.data();
    const std::size_t last = state_.nowhere(), t = points_.count++;
    unsigned sum = 0, count = 0;
    points_.at[t] = begin_[0] + value;
    for (std::size_t r = 0; r < axes; ++r)
      for (std::size_t d = 0; d < 4; ++d) {
        const Near& n = (*near[r])[d];
        const std::size_t begin = begin_[n.box];
        const std::size_t i = begin == nowhere ? last : begin + value + static_cast<std::size_t>(n.values);
        points_.near[r][d][t] = values[i];
        if (d >= 2) continue;
        sum += lengths[i];
        count += begin == nowhere ? 0u : 1u;
      }
    points_.activity[t] = static_cast<std::uint8_t>(count == 0 ? 0 : 1 + share_ * sum / count);
  }

  template <class Visit>
  void flush(Visit& visit) {
    if (points_.count > 0) visit(static_cast<const Points&>(points_));
    points_.count = 0;
  }

  static constexpr std::size_t nowhere = ~std::size_t{0};
  const BoxGrid& grid_;
  const Stage& stage_;
  const BoxState& state_;
  unsigned share_;
  Pattern pattern_;
  std::vector<std::size_t> begin_;
  Points points_;
};

}  // namespace octavo::codec
