#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "octavo/codec/codec.hpp"

/// Inside the codec room: where boxes stand, which ones stand beside each other, and which of their cells a stage of
/// the interpolation has (docs/codecs.md, "Boxes").
namespace octavo::codec {

using BoxPlace = std::array<std::uint32_t, 3>;

/// The boxes beside one: along each axis those at -2, -1, 1 and 2, then the box itself three times.
/// The number of all boxes stands for one that is not there.
using BesideBox = std::array<std::uint32_t, 16>;

/// Finds boxes by their position, in units of boxes. Space is cut into bricks of 4 places along each axis.
class BoxMap {
 public:
  explicit BoxMap(std::span<const BoxPlace> at);
  /// The box that stands `steps` boxes from `place` along an axis; the number of boxes if there is none.
  std::uint32_t find(BoxPlace place, std::size_t axis, std::int64_t steps) const;
  /// Those beside box `box`.
  BesideBox beside(std::uint32_t box) const;
  std::int64_t longest() const;
  /// The length of the space around all boxes along an axis, in boxes.
  std::int64_t extent(std::size_t axis) const { return extent_[axis]; }

 private:
  std::size_t entry(const BoxPlace& p) const;
  std::size_t brick(const BoxPlace& p) const;
  std::size_t place_in_brick(const BoxPlace& p) const;
  void fill_bricks(std::size_t num_bricks);
  void fill_table();

  BoxPlace lo_{};
  std::array<std::int64_t, 3> extent_{};
  std::array<unsigned, 3> shift_{};  ///< log2 of a brick's length along each axis
  std::span<const BoxPlace> at_;
  std::array<std::int64_t, 3> bricks_along_{};  ///< along each axis, with one more at either end
  std::vector<std::uint32_t> bricks_;           ///< where in `dense_` each brick begins; at 0, if it has no box
  std::vector<std::uint32_t> dense_;            ///< the box at each place of a brick; the first brick has none
  std::vector<std::uint32_t> table_;            ///< in their stead where bricks are few in that space: open addressing
  int hash_shift_ = 0;
};

/// Points whose coordinates are odd multiples of `stride` along `axes` (bits), and multiples of twice the stride along
/// the others. Without axes: the first points of all, multiples of `stride` along all.
struct Stage {
  std::int64_t stride;
  unsigned axes;
  /// From one of its coordinates to the next, along any axis.
  std::int64_t step() const { return axes == 0 ? stride : 2 * stride; }
  std::size_t num_axes() const { return static_cast<std::size_t>(std::popcount(axes)); }
};

constexpr unsigned most_strides = 31;
std::vector<Stage> stages_of(unsigned strides);

/// The coordinates of a stage in one box along an axis: first, first + step ... below the box's end; how many.
struct StageRow {
  std::int64_t first = 0, count = 0;
  bool operator==(const StageRow&) const = default;
};
struct StageRows {
  std::array<StageRow, 3> row;
  std::size_t count() const { return static_cast<std::size_t>(row[0].count * row[1].count * row[2].count); }
  bool operator==(const StageRows&) const = default;
};

/// The boxes that have points of a stage.
struct StageBoxes {
  std::vector<std::uint32_t> boxes;
  /// For each box and each axis of the stage: the boxes with the points at -1, +1, -3 and +3 strides. Empty: unknown.
  std::vector<std::uint32_t> near;
};

/// The boxes of a chunk, and how many values each of their cells has.
struct BoxGrid {
  Boxes boxes;
  BoxMap map;
  std::size_t cells = 0, components = 0;
  std::vector<BesideBox> beside;                      ///< of each box; empty: looked up when asked for
  std::vector<std::vector<std::uint32_t>> of_stride;  ///< boxes that hold a multiple of 2^n along each axis
  /// From this stride on a box has one point at most, its first cell. `of_stage` then has the boxes of each stage.
  std::int64_t least_apart = std::numeric_limits<std::int64_t>::max();
  std::vector<StageBoxes> of_stage;

  BoxGrid(const Boxes& boxes, std::size_t values);
  /// Finds the boxes of all stages and those beside each. Without it there are stages of stride 1 only, and what stands
  /// beside a box is looked up when asked for.
  void prepare(unsigned strides);
  bool is_apart(const Stage& stage) const { return stage.stride >= least_apart; }
  const StageBoxes& apart(const Stage& stage) const { return of_stage[place_of(stage)]; }
  /// The boxes that can have points of a stage.
  const std::vector<std::uint32_t>& boxes_of(const Stage& stage) const;
  StageRows rows_of(const Stage& stage, std::size_t box) const;
  /// Whether all boxes have the same rows of a stage.
  bool all_alike(const Stage& stage) const;
  std::size_t values_of(const Stage& stage) const;
  /// The box that stands `steps` boxes from another along an axis.
  std::uint32_t find(std::size_t box, std::size_t axis, std::int64_t steps) const {
    if (beside.empty() || steps < -2 || steps > 2) return map.find(boxes.at[box], axis, steps);
    return beside[box][place_beside(axis, steps)];
  }
  /// Where `beside` has it.
  static std::size_t place_beside(std::size_t axis, std::int64_t steps) {
    return steps == 0 ? 12 : 4 * axis + static_cast<std::size_t>(steps < 0 ? steps + 2 : steps + 1);
  }

 private:
  static std::size_t place_of(const Stage& stage);
  void sort_by_stride(unsigned strides);
  void sort_apart(unsigned strides);
  void find_beside(unsigned strides);
  void find_near(const Stage& stage);
  std::optional<unsigned> prepared_;
};

/// The grid of a chunk's boxes. Each thread keeps those of a few chunks, because the fields of a part share them: a
/// grid lasts until the next call. (Boxes are compared, so the caller's may change or go.)
BoxGrid& grid_of(const Boxes& boxes, std::size_t values);

}  // namespace octavo::codec
