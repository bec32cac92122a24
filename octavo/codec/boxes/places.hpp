#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/codec/codec.hpp"

/// Inside the codec room: where boxes stand, which ones stand beside each other, and which of their cells a stage of
/// the interpolation has (docs/codecs.md, "Boxes").
namespace octavo::codec {

using BoxPlace = std::array<std::uint32_t, 3>;

/// The boxes at -2, -1, 1 and 2 along an axis; `no_box` where there is none.
using BesideBox = std::array<std::uint32_t, 4>;
constexpr std::uint32_t no_box = 0xffffffff;

/// Finds boxes by their position, in units of boxes.
class BoxMap {
 public:
  explicit BoxMap(std::span<const BoxPlace> at);
  /// The box that stands `steps` boxes from `place` along an axis, or `no_box`.
  std::uint32_t find(BoxPlace place, std::size_t axis, std::int64_t steps) const;
  /// Those beside a box, along each axis.
  std::array<BesideBox, 3> beside(const BoxPlace& place) const;
  std::int64_t longest() const;
  /// The length of the space around all boxes along an axis, in boxes.
  std::int64_t extent(std::size_t axis) const { return extent_[axis]; }

 private:
  std::size_t entry(const BoxPlace& p) const;
  std::size_t slot(const BoxPlace& p) const;

  BoxPlace lo_{};
  std::array<std::int64_t, 3> extent_{};
  std::span<const BoxPlace> at_;
  std::vector<std::uint32_t> dense_;  ///< the box at each place of the space around all
  std::vector<std::uint32_t> table_;  ///< in its stead where boxes are few in that space: open addressing
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

/// The boxes of a chunk, and how many values each of their cells has.
struct BoxGrid {
  Boxes boxes;
  BoxMap map;
  std::size_t cells = 0, components = 0;
  std::vector<std::array<BesideBox, 3>> beside;       ///< of each box; empty: looked up when asked for
  std::vector<std::vector<std::uint32_t>> of_stride;  ///< boxes that hold a multiple of 2^n along each axis

  BoxGrid(const Boxes& boxes, std::size_t values);
  void sort_by_stride(unsigned strides);
  /// Finds the boxes beside each, if walks ask for them more than once.
  void find_beside();
  /// The boxes that can have points of a stage.
  const std::vector<std::uint32_t>& boxes_of(const Stage& stage) const;
  StageRows rows_of(const Stage& stage, std::size_t box) const;
  /// Whether all boxes have the same rows of a stage.
  bool all_alike(const Stage& stage) const;
  std::size_t values_of(const Stage& stage) const;
  /// The box that stands `steps` boxes from another along an axis, or `no_box`.
  std::uint32_t find(std::size_t box, std::size_t axis, std::int64_t steps) const {
    if (beside.empty() || steps < -2 || steps > 2) return map.find(boxes.at[box], axis, steps);
    return beside[box][axis][static_cast<std::size_t>(steps < 0 ? steps + 2 : steps + 1)];
  }
};

}  // namespace octavo::codec
