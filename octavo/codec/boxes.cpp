#include "octavo/codec/boxes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "octavo/codec/frequent.hpp"
#include "octavo/codec/grids.hpp"

namespace octavo::codec {

namespace {

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

std::vector<Stage> stages_of(unsigned strides) {
  std::vector<Stage> stages{{std::int64_t{1} << strides, 0}};
  for (unsigned s = strides; s-- > 0;)
    for (const unsigned axes : {1u, 2u, 4u, 3u, 5u, 6u, 7u}) stages.push_back({std::int64_t{1} << s, axes});
  return stages;
}

/// The place of a stage's weight.
std::size_t weight_of(const Stage& stage, unsigned strides) {
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
StageRow row_of(const Stage& stage, std::size_t axis, std::int64_t box, std::int64_t shape) {
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
std::vector<std::uint32_t> boxes_of_stride(const Boxes& boxes, std::span<const std::uint32_t> among,
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

void sort_by_stride(BoxGrid& grid, unsigned strides) {
  std::vector<std::uint32_t> all(grid.boxes.at.size());
  std::iota(all.begin(), all.end(), 0u);
  grid.of_stride.assign(1, std::move(all));
  for (unsigned n = 1; n <= strides; ++n)
    grid.of_stride.push_back(boxes_of_stride(grid.boxes, grid.of_stride.back(), std::int64_t{1} << n));
}

/// The boxes that can have points of a stage.
const std::vector<std::uint32_t>& boxes_of(const BoxGrid& grid, const Stage& stage) {
  return grid.of_stride[static_cast<std::size_t>(bit_length(static_cast<std::uint64_t>(stage.stride))) - 1];
}

/// The points of a stage in one box.
struct StageRows {
  std::array<StageRow, 3> row;
  std::size_t count() const { return static_cast<std::size_t>(row[0].count * row[1].count * row[2].count); }
};
StageRows rows_of(const BoxGrid& grid, const Stage& stage, std::size_t box) {
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

std::size_t values_of_stage(const BoxGrid& grid, const Stage& stage) {
  std::size_t points = 0;
  for (const std::uint32_t box : boxes_of(grid, stage)) points += rows_of(grid, stage, box).count();
  return points * static_cast<std::size_t>(grid.components);
}

/// An interpolated value: `value` plus a weight times `curve`.
struct Interpolated {
  bool known = false;
  double value = 0, curve = 0;
};

/// Along one axis. `sides`: how many of the two next values are known.
Interpolated along_axis(const std::array<std::int64_t, 4>& near, const double* value, const std::uint8_t* known,
                        unsigned& sides) {
  std::array<bool, 4> there;
  std::array<double, 4> v;
  for (std::size_t d = 0; d < 4; ++d) {
    there[d] = near[d] >= 0 && known[near[d]] != 0;
    v[d] = there[d] ? value[near[d]] : 0.0;
  }
  sides = (there[0] ? 1u : 0u) + (there[1] ? 1u : 0u);
  if (sides == 0) return {};
  if (sides == 1) {
    const std::size_t n = there[0] ? 0 : 1;
    return {true, there[n + 2] ? v[n] + 0.5 * (v[n] - v[n + 2]) : v[n], 0.0};
  }
  double curve = 0;
  if (there[2]) curve = curve + ((2.0 * v[0] - v[1]) - v[2]);
  if (there[3]) curve = curve + ((2.0 * v[1] - v[0]) - v[3]);
  if (there[2] && there[3]) curve = 0.5 * curve;
  return {true, 0.5 * (v[0] + v[1]), curve};
}

/// The mean over the axes along which both sides are known; without such, over those with one.
Interpolated interpolate(const Point& point, const double* value, const std::uint8_t* known) {
  Interpolated sum;
  unsigned most = 0;
  double count = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if ((point.axes >> a & 1) == 0) continue;
    unsigned sides = 0;
    const Interpolated one = along_axis(point.near[a], value, known, sides);
    if (sides == 0 || sides < most) continue;
    if (sides > most) sum = {}, count = 0;
    most = sides;
    sum = {true, sum.value + one.value, sum.curve + one.curve};
    count += 1.0;
  }
  if (count > 1.0) sum.value = sum.value / count, sum.curve = sum.curve / count;
  return sum;
}

/// The numbers that a payload begins with.
struct BoxHead {
  Bound bound;
  Lattice lattice;  ///< its phases move the decoded values
  bool signs = false;
  unsigned strides = 0;
  std::vector<std::int8_t> weight;  ///< in 1/64, by stride and number of axes
};

constexpr unsigned has_signs = 4;

void put_box_head(Bytes& out, const BoxHead& head, Scalar scalar) {
  put_byte(out, static_cast<std::size_t>(head.bound.kind) | (head.signs ? has_signs : 0u));
  if (head.bound.kind != BoundKind::lossless) {
    put_bound(out, head.bound.value);
    put_lattice(out, head.lattice, scalar);
  }
  put_byte(out, head.strides);
  for (const std::int8_t weight : head.weight) put_byte(out, static_cast<std::uint8_t>(weight));
}

BoxHead get_box_head(Reader& in, Scalar scalar) {
  BoxHead head;
  const unsigned flags = in.byte();
  if ((flags & 3) > 2 || flags > 7 || (flags > 3 && flags != 6)) in.fail("unknown kind of boxes");
  head.bound.kind = static_cast<BoundKind>(flags & 3);
  head.signs = (flags & has_signs) != 0;
  if (head.bound.kind != BoundKind::lossless) {
    head.bound.value = get_bound(in);
    const bool pointwise = head.bound.kind == BoundKind::pointwise_relative;
    if (!(head.bound.value >= (pointwise ? 0x1p-39 : 0x1p-1000)) || !(head.bound.value <= 0x1p1000))
      in.fail("a bound out of range");
    head.lattice = get_lattice(in, scalar);
    if (head.lattice.common) in.fail("boxes have no common value");
  }
  head.strides = in.byte();
  if (head.strides > most_strides) in.fail("expected at most 31 strides, found " + std::to_string(head.strides));
  for (unsigned w = 0; w < head.strides * weights_a_stride; ++w)
    head.weight.push_back(static_cast<std::int8_t>(in.byte()));
  return head;
}

/// Residuals of one kind of bound: from a value and its prediction to a number, and back.
template <class T>
struct Residuals {
  BoundKind kind;
  double bound;
  double step = 1, inverse = 1;
  double half_width = 0;  ///< of a cell if nothing is to be moved
  double centre = 0;      ///< of a cell on the logarithmic scale, from its value
  std::array<double, 2> moved{},
      factor{1, 1};  ///< what all decoded values are moved by: by sign, absolute and relative

  Residuals(const Bound& given, const Lattice& lattice) : kind(given.kind), bound(given.value) {
    if (kind == BoundKind::absolute) {
      const LinearGrid grid = linear_grid(bound, {{}, lattice.narrow, {}});
      step = grid.step, inverse = grid.inverse, half_width = bound;
    } else if (kind == BoundKind::pointwise_relative) {
      const LogGrid grid = log_grid(bound, {{}, lattice.narrow, {}});
      const double e = std::min(bound, 0.5), above = log2_of(1.0 + e), below = log2_of(1.0 - e);
      step = grid.step, inverse = grid.inverse;
      centre = 0.5 * (above + below), half_width = 0.5 * (above - below);
    }
    for (std::size_t n = 0; n < 2; ++n) {
      const double phase = lattice.phase[n] < 0.5 ? lattice.phase[n] : lattice.phase[n] - 1.0;
      moved[n] = phase * step;
      if (kind == BoundKind::pointwise_relative) factor[n] = exp2_of(moved[n]);
    }
  }

  static bool has_logarithm(double x) { return PointwiseGrid<T>::has_place(std::abs(x)); }
  static double logarithm(double x) { return has_logarithm(x) ? log2_of(x) : 0.0; }
  static bool negative(double x) { return has_logarithm(x) && x < 0; }

  /// The number that stands for x where `expected` is predicted; nothing where there is none.
  std::optional<std::int64_t> number(double x, double expected) const {
    const double distance =
        kind == BoundKind::absolute ? (x - expected) * inverse : (log2_of(x) - logarithm(expected)) * inverse;
    if (!(std::abs(distance) < 0x1p49)) return {};
    return floor_of(distance + 0.5);
  }
  double value(std::int64_t number, double expected, bool is_negative) const {
    if (kind == BoundKind::absolute) return expected + double_of(number) * step;
    const double magnitude = exp2_of((logarithm(expected) + double_of(number) * step) + centre);
    return is_negative ? -magnitude : magnitude;
  }
  bool within(double x, double y) const {
    return kind == BoundKind::absolute ? AbsoluteGrid<T>::within(x, y, bound) : PointwiseGrid<T>::within(x, y, bound);
  }
  /// As it is decoded.
  T finish(double value) const {
    const std::size_t n = value < 0 ? 1 : 0;
    const double limit = static_cast<double>(std::numeric_limits<T>::max());
    const double y = kind == BoundKind::absolute ? value + moved[n] : value * factor[n];
    return static_cast<T>(std::min(std::max(y, -limit), limit));
  }
};

/// The values of a chunk while a walk visits them.
struct BoxState {
  std::vector<double> value;
  std::vector<std::uint8_t> known;   ///< 1 where others may be interpolated from the value
  std::vector<std::uint8_t> length;  ///< of a number, in finished groups
  double last = 0;                   ///< the value that was visited before
  explicit BoxState(std::size_t count) : value(count), known(count), length(count) {}
};

/// The index that stands for a prediction on the exact grid.
template <class T>
std::int64_t exact_index(double expected) {
  const bool has_place = std::abs(expected) <= static_cast<double>(std::numeric_limits<T>::max());
  return has_place ? ExactGrid<T>::index_of(static_cast<T>(expected)) : 0;
}

double expect(const BoxState& state, const Point& point, double weight) {
  const Interpolated found = interpolate(point, state.value.data(), state.known.data());
  return found.known ? found.value + weight * found.curve : state.last;
}

/// How large the number of a point may be, from the lengths of the numbers around it.
std::uint8_t activity_at(const BoxState& state, const Point& point, bool lossless) {
  unsigned sum = 0, count = 0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t d = 0; d < 2 && (point.axes >> a & 1) != 0; ++d)
      if (point.near[a][d] >= 0) {
        sum += state.length[static_cast<std::size_t>(point.near[a][d])];
        ++count;
      }
  if (count == 0) return 0;
  return static_cast<std::uint8_t>(1 + (lossless ? sum : 2 * sum) / count);
}

constexpr std::size_t least_group = 2048;

/// Calls f(stages) for each group of stages that share a coded block: as many as have 2048 values together.
template <class F>
void for_each_group(const BoxGrid& grid, unsigned strides, F&& f) {
  const std::vector<Stage> stages = stages_of(strides);
  std::size_t begin = 0, count = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    count += values_of_stage(grid, stages[s]);
    if (count < least_group && s + 1 < stages.size()) continue;
    if (count > 0) f(std::span(stages).subspan(begin, s + 1 - begin), count);
    begin = s + 1;
    count = 0;
  }
}

double weight_at(const BoxHead& head, const Stage& stage) {
  return stage.axes == 0 ? 0.0 : head.weight[weight_of(stage, head.strides)] * 0.015625;
}

void close_group(const BoxGrid& grid, std::span<const Stage> stages, const Symbols& symbols, BoxState& state) {
  const auto components = static_cast<std::size_t>(grid.components);
  std::size_t t = 0;
  for (const Stage& stage : stages)
    for (const std::uint32_t box : boxes_of(grid, stage))
      visit_rows(grid, stage, rows_of(grid, stage, box), [&](std::int64_t cell, const auto&) {
        std::size_t i =
            (std::size_t{box} * static_cast<std::size_t>(grid.cells) + static_cast<std::size_t>(cell)) * components;
        for (std::size_t j = 0; j < components; ++j, ++i, ++t) {
          const bool special = symbols.symbol[t] < num_specials;
          state.length[i] = static_cast<std::uint8_t>(special ? 0 : bit_length(symbols.number[t]));
        }
      });
}

Alphabet alphabet_of(const BoxHead& head) { return head.signs ? Alphabet::signed_numbers : Alphabet::numbers; }

// ------------------------------------------------------------------ encoder

/// The curve's weight that leaves the least at each stride, found on one box in four with the given values.
template <class T>
void fit_weights(const BoxGrid& grid, std::span<const T> values, BoxHead& head) {
  BoxState state(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    state.value[i] = static_cast<double>(values[i]);
    state.known[i] = std::isfinite(state.value[i]) ? 1 : 0;
  }
  constexpr std::array<std::int8_t, 4> tried{0, 4, 8, 10};
  const bool relative = head.bound.kind != BoundKind::absolute;
  std::vector<std::array<double, tried.size()>> error(head.weight.size());
  for (const Stage& stage : stages_of(head.strides)) {
    if (stage.axes == 0) continue;
    auto& sums = error[weight_of(stage, head.strides)];
    visit_stage(grid, stage, grid.boxes.at.size() >= 64 ? 4 : 1, [&](const Point& point) {
      const double x = state.value[point.value];
      const Interpolated found = interpolate(point, state.value.data(), state.known.data());
      if (!found.known || state.known[point.value] == 0 || (relative && x == 0)) return;
      for (std::size_t w = 0; w < tried.size(); ++w) {
        const double miss = std::abs(x - (found.value + tried[w] * 0.015625 * found.curve));
        sums[w] += relative ? miss / (miss + std::abs(x)) : miss;
      }
    });
  }
  for (std::size_t w = 0; w < head.weight.size(); ++w)
    head.weight[w] =
        tried[static_cast<std::size_t>(std::min_element(error[w].begin(), error[w].end()) - error[w].begin())];
}

/// One pass of the encoder over all values of a chunk with a bound.
template <class T>
class BoxEncoder {
 public:
  BoxEncoder(std::span<const T> values, const BoxGrid& grid, const BoxHead& head)
      : state(values.size()),
        kind(values.size()),
        values_(values),
        grid_(grid),
        head_(head),
        residuals_(head.bound, head.lattice) {
    const double room = head.lattice.narrow < 2 ? 0 : (head.lattice.narrow - 1) * 0x1p-16;
    slack_ = residuals_.half_width * room;
    ends_ = {slack_, -slack_};
    if (head.bound.kind == BoundKind::pointwise_relative) ends_ = {exp2_of(slack_), exp2_of(-slack_)};
  }

  /// Appends the coded blocks and exact values.
  void encode(Bytes& out) {
    std::vector<T> exact;
    std::vector<std::uint8_t> activity;
    for_each_group(grid_, head_.strides, [&](std::span<const Stage> stages, std::size_t count) {
      Symbols symbols(count);
      activity.assign(count, 0);
      std::size_t t = 0;
      for (const Stage& stage : stages) {
        const double weight = weight_at(head_, stage);
        visit_stage(grid_, stage, 1, [&](const Point& point) {
          activity[t] = activity_at(state, point, head_.bound.kind == BoundKind::lossless);
          settle(point.value, expect(state, point, weight), symbols, t);
          if (kind[point.value] == Kind::exact) exact.push_back(values_[point.value]);
          ++t;
        });
      }
      encode_symbols(symbols, alphabet_of(head_), {count, 1, 1}, activity, out);
      close_group(grid_, stages, symbols, state);
    });
    put_exact(std::span<const T>(exact), out);
  }

  double slack() const { return slack_; }

  BoxState state;
  std::vector<Kind> kind;

 private:
  void settle(std::size_t i, double expected, Symbols& symbols, std::size_t t) {
    if (head_.bound.kind == BoundKind::lossless) return settle_exactly(i, expected, symbols, t);
    const double x = static_cast<double>(values_[i]);
    kind[i] = kind_of(x);
    std::optional<std::int64_t> number;
    if (kind[i] == Kind::plain) number = residuals_.number(x, expected);
    const double y = number ? residuals_.value(*number, expected, x < 0) : 0.0;
    if (kind[i] == Kind::plain && (!number || !stays_within(x, y))) kind[i] = Kind::exact;
    if (kind[i] != Kind::plain) {
      symbols.symbol[t] = static_cast<std::uint8_t>(static_cast<int>(kind[i]) - 1);
      return;
    }
    const bool flip = head_.signs && Residuals<T>::negative(expected) != (x < 0);
    put(zigzag(*number), flip, symbols, t);
    know(i, y);
  }
  void settle_exactly(std::size_t i, double expected, Symbols& symbols, std::size_t t) {
    kind[i] = Kind::plain;
    put(zigzag(wrapping_difference(ExactGrid<T>::index_of(values_[i]), exact_index<T>(expected))), false, symbols, t);
    know(i, static_cast<double>(values_[i]));
  }
  void put(std::uint64_t u, bool flip, Symbols& symbols, std::size_t t) const {
    const unsigned c = class_of(u);
    symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + (head_.signs ? 2 * c + (flip ? 1u : 0u) : c));
    symbols.number[t] = u;
  }
  void know(std::size_t i, double y) {
    state.value[i] = y;
    state.known[i] = 1;
    state.last = y;
  }
  Kind kind_of(double x) const {
    if (x == 0) return std::signbit(x) ? Kind::minus_zero : Kind::zero;
    const bool plain = head_.bound.kind == BoundKind::absolute ? std::isfinite(x) : Residuals<T>::has_logarithm(x);
    return plain ? Kind::plain : Kind::exact;
  }
  /// Whether y, moved by as much as values may be, still stands for x.
  bool stays_within(double x, double y) const {
    const bool absolute = head_.bound.kind == BoundKind::absolute;
    return std::all_of(ends_.begin(), ends_.end(), [&](double end) {
      return residuals_.within(x, AbsoluteGrid<T>::finish(absolute ? y + end : y * end));
    });
  }

  std::span<const T> values_;
  const BoxGrid& grid_;
  const BoxHead& head_;
  Residuals<T> residuals_;
  double slack_ = 0;
  std::array<double, 2> ends_{};
};

/// Whether each value is counted for the sum of errors.
template <class T>
bool is_counted(const Context<T>& context, std::size_t i) {
  return context.counted.empty() || context.counted[i / context.width] != 0;
}

/// The same of all values, a byte each.
template <class T>
std::vector<std::uint8_t> counted_values(const Context<T>& context, std::size_t count) {
  std::vector<std::uint8_t> counted(count);
  for (std::size_t i = 0; i < count; ++i) counted[i] = is_counted(context, i) ? 1 : 0;
  return counted;
}

/// How far values must be moved, by sign, so that the errors of those that count cancel: absolute or in log2.
template <class T>
std::array<double, 2> needed_moves(std::span<const T> values, const Context<T>& context, const BoxEncoder<T>& encoder,
                                   BoundKind kind) {
  std::array<double, 2> given{}, found{}, count{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (encoder.kind[i] != Kind::plain || !is_counted(context, i)) continue;
    const double x = static_cast<double>(values[i]), y = encoder.state.value[i];
    const std::size_t n = kind == BoundKind::pointwise_relative && y < 0 ? 1 : 0;
    // The mean of x may be large beside the errors, and absolute errors are summed for themselves.
    given[n] += kind == BoundKind::absolute ? x - y : x;
    found[n] += y;
    count[n] += 1;
  }
  std::array<double, 2> moves{};
  for (std::size_t n = 0; n < 2; ++n)
    if (count[n] > 0) moves[n] = kind == BoundKind::absolute ? given[n] / count[n] : log2_of(given[n] / found[n]);
  if (kind == BoundKind::absolute) moves[1] = moves[0];
  return moves;
}

/// The multiple of 2^-32 steps that is next to the move, as a phase.
double phase_of(double move, double step) {
  const double parts = std::floor(std::abs(move) / step * 0x1p32 + 0.5) * 0x1p-32;
  return move < 0 && parts > 0 ? 1.0 - parts : parts;
}

/// The errors of values that count, of one sign, as they are decoded: positive if magnitudes (absolute bound: values)
/// grow.
struct ErrorSum {
  double sum = 0, squares = 0, count = 0;
  /// A quarter of a standard error, so that the sums of many chunks cannot add up to much.
  bool cancels() const { return std::abs(sum) <= 0.25 * std::sqrt(squares); }
};

/// Those of both signs if values are moved by the phases of the head's lattice. Rounding to float32 is in them.
template <class T>
std::array<ErrorSum, 2> error_sums(std::span<const T> values, const Context<T>& context, const BoxEncoder<T>& encoder,
                                   const BoxHead& head) {
  const Residuals<T> residuals(head.bound, head.lattice);
  std::array<ErrorSum, 2> sums{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (encoder.kind[i] != Kind::plain || !is_counted(context, i)) continue;
    const double y = encoder.state.value[i];
    const double error = static_cast<double>(residuals.finish(y)) - static_cast<double>(values[i]);
    ErrorSum& sum = sums[head.bound.kind == BoundKind::pointwise_relative && y < 0 ? 1 : 0];
    sum.sum += &sum == &sums[1] ? -error : error;
    sum.squares += error * error;
    sum.count += 1;
  }
  return sums;
}

void set_phases(BoxHead& head, const std::array<double, 2>& moves, double step) {
  for (std::size_t n = 0; n < 2; ++n) head.lattice.phase[n] = phase_of(moves[n], step);
}

/// Moves that make the errors of decoded values cancel, by bisection: decoded values grow with the move. Rounding to
/// float32 can take many values back to where they were. If no move in reach suffices, gives an estimate out of reach.
template <class T>
std::array<double, 2> refined_moves(std::span<const T> values, const Context<T>& context, const BoxEncoder<T>& encoder,
                                    BoxHead head, double step) {
  const double slack = encoder.slack();
  std::array<double, 2> lo{-slack, -slack}, hi{slack, slack}, moves{};
  std::array<ErrorSum, 2> sums{};
  for (int round = 0; round < 24; ++round) {
    for (std::size_t n = 0; n < 2; ++n) moves[n] = 0.5 * (lo[n] + hi[n]);
    if (head.bound.kind == BoundKind::absolute) moves[1] = moves[0];
    set_phases(head, moves, step);
    sums = error_sums(values, context, encoder, head);
    if (sums[0].cancels() && sums[1].cancels()) return moves;
    for (std::size_t n = 0; n < 2; ++n) {
      if (sums[n].sum >= 0 || sums[n].cancels()) hi[n] = moves[n];
      if (sums[n].sum <= 0 || sums[n].cancels()) lo[n] = moves[n];
    }
  }
  for (std::size_t n = 0; n < 2; ++n)
    if (!sums[n].cancels()) moves[n] = 2 * slack;
  return moves;
}

/// Encodes with a bound. Steps are narrower than the bound allows by as much as values must move for errors to cancel.
template <class T>
bool encode_bounded(std::span<const T> values, const Context<T>& context, const BoxGrid& grid, BoxHead& head,
                    std::span<T> decoded, Bytes& blocks) {
  constexpr unsigned usual = 1024, most = 49152;
  head.lattice.narrow = usual;
  for (int attempt = 0; attempt < 2; ++attempt) {
    blocks.clear();
    BoxEncoder<T> encoder(values, grid, head);
    encoder.encode(blocks);
    const double step = Residuals<T>(head.bound, head.lattice).step;
    auto moves = needed_moves(values, context, encoder, head.bound.kind);
    const auto largest_move = [&] { return std::max(std::abs(moves[0]), std::abs(moves[1])); };
    if (largest_move() < encoder.slack()) {
      set_phases(head, moves, step);
      const auto sums = error_sums(values, context, encoder, head);
      if (!sums[0].cancels() || !sums[1].cancels()) moves = refined_moves(values, context, encoder, head, step);
    }
    const double largest = largest_move();
    if (!(largest < encoder.slack())) {
      const double wanted = 1.5 * head.lattice.narrow * largest / encoder.slack() + usual;
      if (!std::isfinite(wanted)) return false;
      head.lattice.narrow = static_cast<unsigned>(std::min(wanted, double{most}));
      continue;
    }
    set_phases(head, moves, step);
    const Residuals<T> residuals(head.bound, head.lattice);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool plain = encoder.kind[i] == Kind::plain;
      decoded[i] = plain ? residuals.finish(encoder.state.value[i]) : values[i];
      if (plain && !residuals.within(static_cast<double>(values[i]), static_cast<double>(decoded[i]))) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

template <class T>
bool encode_boxes(std::span<const T> values, const Context<T>& context, const Bound& bound, std::span<T> decoded,
                  Bytes& payload) {
  const bool lossless = bound.kind == BoundKind::lossless;
  const bool pointwise = bound.kind == BoundKind::pointwise_relative;
  if (!lossless && (bound.value < (pointwise ? 0x1p-39 : 0x1p-1000) || bound.value > 0x1p1000)) return false;
  // A value that fills much of a chunk has to come back exactly: the grid has a cell for it.
  if (!lossless && !most_frequent(values, counted_values(context, values.size())).empty()) return false;
  BoxGrid grid = box_grid(context, values.size());
  const auto& shape = context.boxes.shape;
  const std::int64_t longest = grid.map.longest() * *std::max_element(shape.begin(), shape.end());
  BoxHead head;
  head.bound = bound;
  head.signs = pointwise && std::any_of(values.begin(), values.end(), [](T x) { return x < 0; });
  head.strides = static_cast<unsigned>(std::clamp(bit_length(static_cast<std::uint64_t>(longest - 1)), 1, 6));
  head.weight.resize(head.strides * weights_a_stride);
  sort_by_stride(grid, head.strides);
  fit_weights(grid, values, head);
  Bytes blocks;
  if (lossless) {
    BoxEncoder<T>(values, grid, head).encode(blocks);
    std::copy(values.begin(), values.end(), decoded.begin());
  } else if (!encode_bounded(values, context, grid, head, decoded, blocks)) {
    return false;
  }
  put_box_head(payload, head, scalar_of<T>);
  put_bytes(payload, blocks);
  return true;
}

// ------------------------------------------------------------------ decoder

namespace {

template <class T>
class BoxDecoder {
 public:
  BoxDecoder(const BoxGrid& grid, const BoxHead& head, std::span<T> out)
      : state_(out.size()), grid_(grid), head_(head), residuals_(head.bound, head.lattice), out_(out) {}

  void decode(Reader& in) {
    std::vector<std::uint8_t> activity;
    Symbols symbols;
    for_each_group(grid_, head_.strides, [&](std::span<const Stage> stages, std::size_t count) {
      activity.clear();
      for (const Stage& stage : stages)
        visit_stage(grid_, stage, 1, [&](const Point& point) {
          activity.push_back(activity_at(state_, point, head_.bound.kind == BoundKind::lossless));
        });
      decode_symbols(in, alphabet_of(head_), {count, 1, 1}, activity, symbols);
      place(stages, symbols);
      close_group(grid_, stages, symbols, state_);
    });
    if (!sound_) in.fail("a value is out of range");
    const std::vector<T> exact = get_exact<T>(in, exact_.size());
    for (std::size_t e = 0; e < exact.size(); ++e) out_[exact_[e]] = exact[e];
  }

 private:
  void place(std::span<const Stage> stages, const Symbols& symbols) {
    std::size_t t = 0;
    for (const Stage& stage : stages) {
      const double weight = weight_at(head_, stage);
      visit_stage(grid_, stage, 1, [&](const Point& point) {
        settle(point.value, expect(state_, point, weight), symbols.symbol[t], symbols.number[t]);
        ++t;
      });
    }
  }
  void settle(std::size_t i, double expected, unsigned symbol, std::uint64_t u) {
    const bool lossless = head_.bound.kind == BoundKind::lossless;
    if (symbol < num_specials) {
      sound_ = sound_ && !lossless;
      if (symbol == 2) exact_.push_back(i);
      out_[i] = symbol == 1 ? -T{0} : T{0};
      return;
    }
    const std::int64_t number = unzigzag(u);
    double y = 0;
    if (lossless) {
      const std::int64_t index = wrapping_sum(exact_index<T>(expected), number);
      sound_ = sound_ && ExactGrid<T>::in_range(index);
      out_[i] = ExactGrid<T>::value_of(index);
      y = static_cast<double>(out_[i]);
    } else {
      const bool good = std::abs(number) <= index_limit;
      sound_ = sound_ && good;
      const bool flip = head_.signs && ((symbol - static_cast<unsigned>(num_specials)) & 1) != 0;
      const bool negative = head_.signs && Residuals<T>::negative(expected) != flip;
      y = residuals_.value(good ? number : 0, expected, negative);
      out_[i] = residuals_.finish(y);
    }
    state_.value[i] = y;
    state_.known[i] = 1;
    state_.last = y;
  }

  BoxState state_;
  const BoxGrid& grid_;
  const BoxHead& head_;
  Residuals<T> residuals_;
  std::span<T> out_;
  std::vector<std::size_t> exact_;
  bool sound_ = true;
};

}  // namespace

template <class T>
void decode_boxes(Reader& in, const Context<T>& context, std::span<T> out) {
  const BoxHead head = get_box_head(in, scalar_of<T>);
  if (out.empty()) return;
  if (context.boxes.at.empty()) in.fail("values on boxes, whose places are not known");
  BoxGrid grid = box_grid(context, out.size());
  sort_by_stride(grid, head.strides);
  BoxDecoder<T>(grid, head, out).decode(in);
}

Bound bound_of_boxes(Reader& in) {
  const auto kind = static_cast<BoundKind>(in.byte() & 3);
  return {kind, kind == BoundKind::lossless ? 0.0 : get_bound(in)};
}

template bool encode_boxes(std::span<const double>, const Context<double>&, const Bound&, std::span<double>, Bytes&);
template bool encode_boxes(std::span<const float>, const Context<float>&, const Bound&, std::span<float>, Bytes&);
template void decode_boxes(Reader&, const Context<double>&, std::span<double>);
template void decode_boxes(Reader&, const Context<float>&, std::span<float>);

}  // namespace octavo::codec
