#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "octavo/codec/chunk.hpp"
#include "octavo/codec/codec.hpp"

/// Inside the codec room: the order in which the values of boxes are visited, stage after stage, and which values stand
/// beside each (docs/codecs.md, "Boxes").
namespace octavo::codec {

using Place = std::array<std::uint32_t, 3>;

/// Finds boxes by their position, in units of boxes.
class BoxMap {
 public:
  explicit BoxMap(std::span<const Place> at) : at_(at) {
    lo_ = at.front();
    Place hi = at.front();
    for (const Place& place : at)
      for (std::size_t a = 0; a < 3; ++a) {
        lo_[a] = std::min(lo_[a], place[a]);
        hi[a] = std::max(hi[a], place[a]);
      }
    double volume = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      extent_[a] = std::int64_t{hi[a]} - lo_[a] + 1;
      volume *= static_cast<double>(extent_[a]);
    }
    if (volume <= 8.0 * static_cast<double>(at.size()) + 4096) {
      dense_.assign(static_cast<std::size_t>(extent_[0] * extent_[1] * extent_[2]), none);
      for (std::size_t b = 0; b < at.size(); ++b) dense_[slot(at[b])] = static_cast<std::uint32_t>(b);
    } else {
      hash_shift_ = 63 - bit_length(at.size());
      table_.assign(std::size_t{2} << bit_length(at.size()), none);
      for (std::size_t b = 0; b < at.size(); ++b) *entry(at[b]) = static_cast<std::uint32_t>(b);
    }
  }

  /// The box that stands `steps` boxes from `place` along an axis; -1 where there is none.
  std::int64_t find(Place place, std::size_t axis, std::int64_t steps) const {
    const std::int64_t to = std::int64_t{place[axis]} - lo_[axis] + steps;
    if (to < 0 || to >= extent_[axis]) return -1;
    place[axis] = static_cast<std::uint32_t>(lo_[axis] + to);
    const std::uint32_t box = dense_.empty() ? *entry(place) : dense_[slot(place)];
    return box == none ? -1 : std::int64_t{box};
  }

  std::int64_t longest() const { return *std::max_element(extent_.begin(), extent_.end()); }

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  /// Where the table has the box at a place, or has room for it.
  template <class Self>
  static auto entry_of(Self& self, const Place& p) {
    std::uint64_t h = (p[0] * 0x9e3779b97f4a7c15ULL + p[1]) * 0x9e3779b97f4a7c15ULL + p[2];
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ULL;
    std::size_t at = static_cast<std::size_t>(h >> self.hash_shift_);
    const auto is_other = [&](const Place& q) { return ((q[0] ^ p[0]) | (q[1] ^ p[1]) | (q[2] ^ p[2])) != 0; };
    while (self.table_[at] != none && is_other(self.at_[self.table_[at]])) at = (at + 1) & (self.table_.size() - 1);
    return &self.table_[at];
  }
  std::uint32_t* entry(const Place& p) { return entry_of(*this, p); }
  const std::uint32_t* entry(const Place& p) const { return entry_of(*this, p); }
  std::size_t slot(const Place& p) const {
    return static_cast<std::size_t>(
        ((p[2] - std::int64_t{lo_[2]}) * extent_[1] + (p[1] - std::int64_t{lo_[1]})) * extent_[0] + p[0] - lo_[0]);
  }
  Place lo_{};
  std::array<std::int64_t, 3> extent_{};
  std::span<const Place> at_;
  std::vector<std::uint32_t> dense_;  ///< the box at each place of the space around all
  std::vector<std::uint32_t> table_;  ///< in its stead where boxes are few in that space: open addressing
  int hash_shift_ = 0;
};

/// Points whose coordinates are odd multiples of `stride` along `axes` (bits), and multiples of twice the stride along
/// the others. Without axes: the first points of all, multiples of `stride` along all.
struct Stage {
  std::int64_t stride;
  unsigned axes;
};

constexpr unsigned most_strides = 31, weights_a_stride = 3;

inline std::vector<Stage> stages_of(unsigned strides) {
  std::vector<Stage> stages{{std::int64_t{1} << strides, 0}};
  for (unsigned s = strides; s-- > 0;)
    for (const unsigned axes : {1u, 2u, 4u, 3u, 5u, 6u, 7u}) stages.push_back({std::int64_t{1} << s, axes});
  return stages;
}

/// The place of a stage's weight.
inline std::size_t weight_of(const Stage& stage, unsigned strides) {
  const auto stride = static_cast<unsigned>(bit_length(static_cast<std::uint64_t>(stage.stride)));  // 1 for 1
  const auto num_axes = static_cast<std::size_t>(std::popcount(stage.axes));
  return num_axes == 0 ? 0 : (strides - stride) * weights_a_stride + num_axes - 1;
}

/// A value of a stage, and those that it is interpolated from: along each axis at -1, +1, -3 and +3 strides; -1 where
/// there is none.
struct Point {
  std::size_t value = 0;
  unsigned axes = 0;
  std::array<std::array<std::int64_t, 4>, 3> near{};
};

/// The coordinates of a stage in one box along an axis: first, first + step ... below the box's end; how many.
struct StageRow {
  std::int64_t first = 0, count = 0;
};
inline StageRow row_of(const Stage& stage, std::size_t axis, std::int64_t box, std::int64_t shape) {
  const std::int64_t step = stage.axes == 0 ? stage.stride : 2 * stage.stride;  // a power of two
  const std::int64_t wanted = (stage.axes >> axis & 1) != 0 ? stage.stride : 0;
  const std::int64_t first = (wanted - box * shape) & (step - 1);
  const int shift = bit_length(static_cast<std::uint64_t>(step)) - 1;
  return {first, first < shape ? ((shape - first - 1) >> shift) + 1 : 0};
}

/// The boxes at -2, -1, 1 and 2 along an axis; -1 where there is none.
using Beside = std::array<std::int32_t, 4>;
constexpr std::int64_t steps_beside[] = {-2, -1, 1, 2};

/// The boxes of a chunk, and how many values each of their cells has.
struct BoxGrid {
  Boxes boxes;
  BoxMap map;
  std::int64_t cells, components;
  std::vector<std::array<Beside, 3>> beside;          ///< of each box; empty if a box has fewer than 4 cells
  std::vector<std::vector<std::uint32_t>> of_stride;  ///< boxes that hold a multiple of 2^n along each axis
};

/// The boxes of `boxes` that hold a multiple of `stride` along each axis.
inline std::vector<std::uint32_t> boxes_of_stride(const Boxes& boxes, std::span<const std::uint32_t> among,
                                                  std::int64_t stride) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t box : among) {
    bool holds = true;
    for (std::size_t a = 0; a < 3; ++a)
      holds = holds && row_of({stride, 0}, a, std::int64_t{boxes.at[box][a]}, std::int64_t{boxes.shape[a]}).count > 0;
    if (holds) found.push_back(box);
  }
  return found;
}

template <class T>
BoxGrid box_grid(const Context<T>& context, std::size_t count) {
  const auto& shape = context.boxes.shape;
  const std::size_t cells = std::size_t{shape[0]} * shape[1] * shape[2], boxes = context.boxes.at.size();
  BoxGrid grid{context.boxes,
               BoxMap(context.boxes.at),
               static_cast<std::int64_t>(cells),
               static_cast<std::int64_t>(count / cells / boxes),
               {},
               {}};
  if (cells < 4 || boxes > std::size_t{std::numeric_limits<std::int32_t>::max()}) return grid;
  grid.beside.resize(boxes);
  for (std::size_t b = 0; b < boxes; ++b)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 4; ++d)
        grid.beside[b][a][d] = static_cast<std::int32_t>(grid.map.find(grid.boxes.at[b], a, steps_beside[d]));
  return grid;
}

inline void sort_by_stride(BoxGrid& grid, unsigned strides) {
  std::vector<std::uint32_t> all(grid.boxes.at.size());
  std::iota(all.begin(), all.end(), 0u);
  grid.of_stride.assign(1, std::move(all));
  for (unsigned n = 1; n <= strides; ++n)
    grid.of_stride.push_back(boxes_of_stride(grid.boxes, grid.of_stride.back(), std::int64_t{1} << n));
}

/// The boxes that can have points of a stage.
inline const std::vector<std::uint32_t>& boxes_of(const BoxGrid& grid, const Stage& stage) {
  return grid.of_stride[static_cast<std::size_t>(bit_length(static_cast<std::uint64_t>(stage.stride))) - 1];
}

/// The points of a stage in one box.
struct StageRows {
  std::array<StageRow, 3> row;
  std::size_t count() const { return static_cast<std::size_t>(row[0].count * row[1].count * row[2].count); }
};
inline StageRows rows_of(const BoxGrid& grid, const Stage& stage, std::size_t box) {
  StageRows rows;
  for (std::size_t a = 0; a < 3; ++a) {
    rows.row[a] = row_of(stage, a, std::int64_t{grid.boxes.at[box][a]}, std::int64_t{grid.boxes.shape[a]});
    if (rows.row[a].count == 0) break;
  }
  return rows;
}

/// Calls visit(cell of the box, its coordinates) for the points of a stage in one box, x fastest.
template <class Visit>
void visit_rows(const BoxGrid& grid, const Stage& stage, const StageRows& rows, Visit&& visit) {
  const std::int64_t step = stage.axes == 0 ? stage.stride : 2 * stage.stride;
  const auto& [x, y, z] = rows.row;
  const std::int64_t nx = grid.boxes.shape[0], ny = grid.boxes.shape[1];
  for (std::int64_t k = 0; k < z.count; ++k)
    for (std::int64_t j = 0; j < y.count; ++j)
      for (std::int64_t i = 0; i < x.count; ++i) {
        const std::array<std::int64_t, 3> l{x.first + i * step, y.first + j * step, z.first + k * step};
        visit((l[2] * ny + l[1]) * nx + l[0], l);
      }
}

/// Visits the points of the boxes of a stage.
class BoxWalk {
 public:
  BoxWalk(const BoxGrid& grid, const Stage& stage) : grid_(grid), stage_(stage) {
    point_.axes = stage.axes;
    std::int64_t stride_in = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t shape = grid.boxes.shape[a];
      if ((stage.axes >> a & 1) != 0)
        for (std::int64_t l = 0; l < shape; ++l) beside_cell_[a].push_back(neighbours_along(l, shape, stride_in));
      stride_in *= shape;
    }
  }

  template <class Visit>
  void operator()(std::size_t box, Visit&& visit) {
    const StageRows rows = rows_of(grid_, stage_, box);
    if (rows.count() == 0) return;
    box_ = static_cast<std::int64_t>(box);
    for (auto& row : beside_box_) row.fill(unknown);
    visit_rows(grid_, stage_, rows,
               [&](std::int64_t cell, const std::array<std::int64_t, 3>& l) { visit_cell(cell, l, visit); });
  }

 private:
  static constexpr std::int64_t unknown = -2, reach = 3;

  /// A cell at some distance along an axis: in the box that stands `boxes` further, `cells` behind the cell.
  struct Beside {
    std::int64_t boxes, cells;
  };
  using BesideCell = std::array<Beside, 4>;

  BesideCell neighbours_along(std::int64_t l, std::int64_t shape, std::int64_t stride_in) const {
    constexpr std::array<std::int64_t, 4> distance{-1, 1, -3, 3};
    BesideCell beside;
    for (std::size_t d = 0; d < 4; ++d) {
      const std::int64_t to = l + distance[d] * stage_.stride;
      const std::int64_t boxes = to >= 0 ? to / shape : -((shape - 1 - to) / shape);
      beside[d] = {boxes, (to - boxes * shape - l) * stride_in};
    }
    return beside;
  }

  template <class Visit>
  void visit_cell(std::int64_t cell, const std::array<std::int64_t, 3>& l, Visit& visit) {
    for (std::size_t a = 0; a < 3; ++a) {
      if ((stage_.axes >> a & 1) == 0) continue;
      const BesideCell& beside = beside_cell_[a][static_cast<std::size_t>(l[a])];
      for (std::size_t d = 0; d < 4; ++d) {
        const std::int64_t other = beside[d].boxes == 0 ? box_ : box_beside(a, beside[d].boxes);
        point_.near[a][d] = other < 0 ? -1 : (other * grid_.cells + cell + beside[d].cells) * grid_.components;
      }
    }
    point_.value = static_cast<std::size_t>((box_ * grid_.cells + cell) * grid_.components);
    for (std::int64_t j = 0; j < grid_.components; ++j) {
      visit(point_);
      if (j + 1 == grid_.components) break;
      ++point_.value;
      for (auto& axis : point_.near)
        for (std::int64_t& near : axis) near += near < 0 ? 0 : 1;
    }
  }

  std::int64_t box_beside(std::size_t axis, std::int64_t steps) {
    const auto box = static_cast<std::size_t>(box_);
    if (std::abs(steps) <= 2 && !grid_.beside.empty())
      return grid_.beside[box][axis][static_cast<std::size_t>(steps < 0 ? steps + 2 : steps + 1)];
    if (std::abs(steps) > reach) return grid_.map.find(grid_.boxes.at[box], axis, steps);
    std::int64_t& known = beside_box_[axis][static_cast<std::size_t>(steps + reach)];
    if (known == unknown) known = grid_.map.find(grid_.boxes.at[box], axis, steps);
    return known;
  }

  const BoxGrid& grid_;
  const Stage& stage_;
  std::array<std::vector<BesideCell>, 3> beside_cell_;
  std::int64_t box_ = 0;
  std::array<std::array<std::int64_t, 2 * reach + 1>, 3> beside_box_{};
  Point point_;
};

template <class Visit>
void visit_stage(const BoxGrid& grid, const Stage& stage, std::size_t every, Visit&& visit) {
  BoxWalk walk(grid, stage);
  for (const std::uint32_t box : boxes_of(grid, stage))
    if (box % every == 0) walk(box, visit);
}

inline std::size_t values_of_stage(const BoxGrid& grid, const Stage& stage) {
  std::size_t points = 0;
  for (const std::uint32_t box : boxes_of(grid, stage)) points += rows_of(grid, stage, box).count();
  return points * static_cast<std::size_t>(grid.components);
}

}  // namespace octavo::codec
