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

/// The values of a chunk while a walk visits them. The last entries of each array are a box that is not there.
struct BoxState {
  std::vector<double> value;         ///< as others are interpolated from it, or unknown
  std::vector<std::uint8_t> length;  ///< of a number, in finished groups
  BoxState(const BoxGrid& grid, std::size_t count)
      : value(count + grid.cells * grid.components, unknown_value()), length(value.size()) {}
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

/// The properties of points that a visitor reads, beside their numbers.
enum class PointProperties : std::uint8_t { values = 1, activity = 2, both = 3 };

/// Visits the points of a stage. `share`: an activity divided by the mean length. `State`: has what a BoxState has, as
/// far as it is `wanted`.
template <PointProperties wanted, class State = BoxState>
class BoxWalk {
 public:
  BoxWalk(const BoxGrid& grid, const Stage& stage, const State& state, unsigned share)
      : grid_(grid), stage_(stage), state_(state), share_(share), size_(grid.cells * grid.components) {
    points_.axes = stage.num_axes();
  }

  /// Calls visit(points) for those of every n-th box. The points are the visitor's to change.
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
    const auto& boxes = grid_.boxes_of(stage_);
    if (boxes.empty()) return;
    const bool alike = grid_.is_apart(stage_) || grid_.all_alike(stage_);
    bool known = false;
    for (std::size_t n = 0; n < boxes.size(); n += every) {
      const std::uint32_t box = boxes[n];
      if (!known) {
        const StageRows rows = grid_.rows_of(stage_, box);
        if (rows.count() == 0) continue;
        if (!(rows == pattern_.rows)) pattern_ = pattern_of(grid_, stage_, rows);
        known = alike;
        if (alike && rows.count() == 1 && grid_.components == 1) return run_single<axes>(boxes, every, visit);
      }
      find_boxes(box);
      visit_box<axes>(visit);
    }
    flush(visit);
  }

  /// Boxes that have one point each, at the same place in all.
  template <std::size_t axes, class Visit>
  void run_single(const std::vector<std::uint32_t>& boxes, std::size_t every, Visit& visit) {
    const auto& [x, y, z] = pattern_.rows.row;
    const std::int64_t row = grid_.boxes.shape[0], plane = row * grid_.boxes.shape[1];
    const auto value = static_cast<std::size_t>(x.first + y.first * row + z.first * plane);
    std::array<std::size_t, 4 * axes + 1> place{}, in_box{};
    std::vector<std::uint32_t> one(4 * axes);  // the boxes of one point, where no list has them
    const std::uint32_t* const near = grid_.is_apart(stage_) ? grid_.apart(stage_).near.data() : nullptr;
    const bool listed = near != nullptr || !grid_.beside.empty();
    std::size_t r = 0;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 4 && (stage_.axes >> a & 1) != 0; ++d, ++r) {
        const Near& n = pattern_.near[a][0][d];
        place[r] = near != nullptr || !listed ? r : grid_.place_beside(a, pattern_.boxes[n.box].steps);
        in_box[r] = value + static_cast<std::size_t>(n.values);
      }
    for (std::size_t n = 0; n < boxes.size(); n += every) {
      const std::uint32_t* from = near != nullptr ? near + n * 4 * axes : one.data();
      if (near == nullptr && listed) from = grid_.beside[boxes[n]].data();
      if (!listed) find_near(boxes[n], one);
      add_single<axes>(boxes[n] * size_ + value, from, place, in_box);
      if (points_.count == Points::most) flush(visit);
    }
    flush(visit);
  }

  void find_near(std::size_t box, std::vector<std::uint32_t>& near) const {
    std::size_t r = 0;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 4 && (stage_.axes >> a & 1) != 0; ++d, ++r) {
        const std::int64_t steps = pattern_.boxes[pattern_.near[a][0][d].box].steps;
        near[r] = steps == 0 ? static_cast<std::uint32_t>(box) : grid_.find(box, a, steps);
      }
  }

  /// Where the values of the boxes of the pattern begin.
  void find_boxes(std::size_t box) {
    begin_.resize(pattern_.boxes.size());
    begin_[0] = box * size_;
    for (std::size_t n = 1; n < begin_.size(); ++n)
      begin_[n] = grid_.find(box, pattern_.boxes[n].axis, pattern_.boxes[n].steps) * size_;
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
    Around around;
    for (std::size_t r = 0; r < axes; ++r)
      for (std::size_t d = 0; d < 4; ++d) {
        const Near& n = (*near[r])[d];
        look_at(begin_[n.box] + value + static_cast<std::size_t>(n.values), r, d, around);
      }
    finish<axes>(begin_[0] + value, around);
  }
  template <std::size_t axes>
  void add_single(std::size_t at, const std::uint32_t* near, const std::array<std::size_t, 4 * axes + 1>& place,
                  const std::array<std::size_t, 4 * axes + 1>& in_box) {
    Around around;
    for (std::size_t r = 0; r < axes; ++r)
      for (std::size_t d = 0; d < 4; ++d) look_at(near[place[4 * r + d]] * size_ + in_box[4 * r + d], r, d, around);
    finish<axes>(at, around);
  }

  /// The lengths of the numbers around a point, and how many points a box has; bits: which of -1 and +1 strides along
  /// the axis at hand, and whether the point is between both along any axis.
  struct Around {
    unsigned sum = 0, count = 0, sides = 0, between = 0;
  };
  [[gnu::always_inline]] void look_at(std::size_t i, std::size_t r, std::size_t d, Around& around) {
    if constexpr (wanted != PointProperties::activity) points_.near[r][d][points_.count] = state_.value[i];
    if constexpr (wanted != PointProperties::values) {
      if (d >= 2) return;
      const unsigned there = i < absent_ ? 1u : 0u;
      around.sum += state_.length[i];
      around.count += there;
      around.between |= d == 0 ? 0 : around.sides & there;
      around.sides = there;
    }
  }
  template <std::size_t axes>
  [[gnu::always_inline]] void finish(std::size_t at, const Around& around) {
    constexpr std::array<std::uint32_t, 7> parts{0, 65536, 32768, 21846, 16384, 13108, 10923};  // of 2^16, rounded up
    const std::size_t t = points_.count++;
    points_.at[t] = at;
    if constexpr (wanted != PointProperties::values)
      points_.activity[t] =
          static_cast<std::uint8_t>(around.between == 0 ? 0 : 1 + (share_ * around.sum * parts[around.count] >> 16));
  }

  template <class Visit>
  void flush(Visit& visit) {
    if (points_.count > 0) visit(points_);
    points_.count = 0;
  }

  const BoxGrid& grid_;
  const Stage& stage_;
  const State& state_;
  unsigned share_;
  std::size_t size_;                                  ///< values of a box
  std::size_t absent_ = state_.value.size() - size_;  ///< values of all boxes
  Pattern pattern_;
  std::vector<std::size_t> begin_;
  Points points_;
};

}  // namespace octavo::codec
