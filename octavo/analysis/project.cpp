#include "octavo/analysis/project.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <unordered_map>

#include "octavo/analysis/descend.hpp"
#include "octavo/analysis/select.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// ---------------------------------------------------------------------------------------------------- one axis

/// An axis of the frame: the window, into how many pixels it is cut (one along the line of sight), and which of them
/// are drawn.
struct AxisWindow {
  int axis = 0;
  double lo = 0, hi = 1;
  std::size_t pixels = 1;
  RowRange drawn{0, 1};
};

std::array<AxisWindow, 3> windows_of(const Frame& frame, RowRange rows) {
  const auto image = [&](std::size_t i, RowRange drawn) {
    return AxisWindow{frame.image_axis[i], frame.lo[i], frame.hi[i], frame.pixels[i], drawn};
  };
  return {image(0, {0, frame.pixels[0]}), image(1, rows),
          AxisWindow{frame.axis, frame.depth_lo, frame.depth_hi, 1, {0, 1}}};
}

/// Where the cells of one level lie in the window: cell i covers [edge(i), edge(i + 1)), in pixels, cut off at the
/// window's ends. The cells with anything in the pixels that are drawn are [begin, end).
struct Scale {
  double step = 1, origin = 0, tolerance = 0, pixels = 1;
  std::uint32_t begin = 0, end = 1;

  double unclipped(std::uint32_t i) const { return static_cast<double>(i) * step + origin; }
  // An edge that would be on a pixel's edge but for rounding is put there: else a maximum would see the next cell.
  // Cells on both sides of an edge, also of different levels, compute the same number, so nothing is lost or counted
  // twice.
  double edge(std::uint32_t i) const {
    const double e = std::min(std::max(unclipped(i), 0.0), pixels);
    const auto near = static_cast<double>(static_cast<std::int32_t>(e + 0.5));
    return std::abs(e - near) <= tolerance ? near : e;
  }
};

/// The number of cells of a level along an axis, capped to fit 32 bits.
std::uint32_t cells_along(const mesh::Header& header, int level, std::size_t axis) {
  const auto roots = static_cast<std::uint64_t>(header.roots[axis] * header.block[axis]);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(roots << level, 0xFFFFFFFEU));
}

Scale scale_of(const mesh::Header& header, int level, const AxisWindow& window, int shift) {
  const auto a = static_cast<std::size_t>(window.axis);
  if (window.axis >= header.dim) return {};  // the one cell there is, in one pixel
  const double extent = header.hi[a] - header.lo[a];
  const double per_length = static_cast<double>(window.pixels) / (window.hi - window.lo);
  const std::uint32_t cells = cells_along(header, level, a);
  Scale scale;
  scale.pixels = static_cast<double>(window.pixels);
  scale.step = mesh::cell_size(header, level)[a] * per_length;
  scale.origin = (header.lo[a] - window.lo + shift * extent) * per_length;
  scale.tolerance =
      2 * epsilon * per_length *
      (std::abs(header.lo[a]) + std::abs(window.lo) + std::abs(window.hi) + (1 + std::abs(shift)) * extent);
  // From below, and from above, the first cell that shows: found by division, then made exact.
  const auto near = [&](double pixel) {
    return static_cast<std::uint32_t>(std::clamp((pixel - scale.origin) / scale.step, 0.0, static_cast<double>(cells)));
  };
  const auto first = static_cast<double>(window.drawn.first), last = static_cast<double>(window.drawn.last);
  scale.begin = near(first) - std::min(near(first), std::uint32_t{2});
  scale.end = std::min(cells, near(last) + 3);
  while (scale.begin < scale.end && scale.edge(scale.begin + 1) <= first) ++scale.begin;
  while (scale.begin < scale.end && scale.edge(scale.end - 1) >= last) --scale.end;
  return scale;
}

/// By how many periods the domain can be moved to show in the window.
std::vector<int> shifts_of(const mesh::Header& header, const AxisWindow& window) {
  return periods_between(header, window.axis, window.lo, window.hi);
}

// -------------------------------------------------------------------------------------------------- one axis, smoothed

/// How much of a smoothed cell is in a pixel, along an axis of the image [pixels].
struct PixelShare {
  std::size_t pixel;
  double share;
};

/// The second integral of the Gaussian.
double second_integral(double x, double deviation) {
  const double t = x / deviation;
  return 0.5 * x * std::erfc(-t / std::numbers::sqrt2) +
         deviation * std::exp(-0.5 * t * t) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// The cells of one level along an axis of the image, each smoothed by a Gaussian in proportion to its edge.
class SmoothedAxis {
 public:
  SmoothedAxis(const Scale& scale, double blur, bool wraps)
      : scale_(scale),
        pixels_(static_cast<std::int64_t>(scale.pixels)),
        wraps_(wraps),
        // A wider one is as even, to the last bit, once the window's sides have mirrored it.
        deviation_(std::min(blur * scale.step, 4 * scale.pixels)) {}

  /// The pixels that cells [first, last] may be in.
  RowRange reach(std::uint32_t first, std::uint32_t last) const {
    const auto [begin, end] = unfolded(first, last);
    if (begin < 0 || end > pixels_) return {0, static_cast<std::size_t>(pixels_)};
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }

  /// The cell's share in each pixel, pixels ascending. They sum to the part of the cell that is inside the window.
  const std::vector<PixelShare>& shares(std::uint32_t cell) {
    const auto [found, fresh] = shares_.try_emplace(cell);
    if (fresh) found->second = shares_of(cell);
    return found->second;
  }

 private:
  static constexpr double deviations = 5;  // 6e-7 of the Gaussian lie beyond, and go to the last pixels

  std::array<std::int64_t, 2> unfolded(std::uint32_t first, std::uint32_t last) const {
    return {static_cast<std::int64_t>(std::floor(scale_.edge(first) - deviations * deviation_)),
            static_cast<std::int64_t>(std::ceil(scale_.edge(last + 1) + deviations * deviation_))};
  }

  std::size_t fold(std::int64_t pixel) const {
    const std::int64_t period = wraps_ ? pixels_ : 2 * pixels_;
    pixel = (pixel % period + period) % period;
    return static_cast<std::size_t>(pixel < pixels_ ? pixel : period - 1 - pixel);
  }

  std::vector<PixelShare> shares_of(std::uint32_t cell) const {
    const double a = scale_.edge(cell), b = scale_.edge(cell + 1);
    const auto [begin, end] = unfolded(cell, cell);
    const RowRange within = reach(cell, cell);
    std::vector<double> sums(within.last - within.first, 0.0);
    double before = 0;
    for (std::int64_t pixel = begin; pixel < end; ++pixel) {
      const double x = static_cast<double>(pixel + 1);
      // The last pixel gets the rest, so nothing of the cell is lost.
      const double up_to =
          pixel + 1 == end ? b - a : second_integral(x - a, deviation_) - second_integral(x - b, deviation_);
      sums[fold(pixel) - within.first] += std::max(0.0, up_to - before);
      before = std::max(before, up_to);
    }
    std::vector<PixelShare> shares;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (sums[i] > 0) shares.push_back({within.first + i, sums[i]});
    return shares;
  }

  Scale scale_;
  std::int64_t pixels_;
  bool wraps_;
  double deviation_;  ///< [pixels]
  std::unordered_map<std::uint32_t, std::vector<PixelShare>> shares_;
};

/// Both axes of the image for one level.
struct SmoothedPlane {
  SmoothedAxis u, v;
};

// ---------------------------------------------------------------------------------------------------- one batch

/// A cell to be drawn: position in the image plane, and its contribution to a pixel that it covers wholly.
struct Stroke {
  std::uint32_t u, v;
  double amount;  ///< value; then times path (integral), or times path and weight (mean)
  double weight;  ///< path; then times weight
};

/// The inputs of the strokes of a part.
struct StrokeInputs {
  const Frame& frame;
  const mesh::Header& header;
  const mesh::Field& field;
  const mesh::Field* weight;  ///< null: by volume
};

/// One level, seen with the domain moved by some periods.
struct View {
  Scale u, v, depth;
  std::array<std::size_t, 3> axes{};  ///< which entry of a position goes with each
  double path = 1;                    ///< of a cell that is wholly in the window [code length]
  bool whole = true;                  ///< all are
  double depth_length = 1;
  std::optional<CentresWithin> within;
  SmoothedPlane* smoothed = nullptr;  ///< null: cells are drawn as they are

  double path_of(std::uint32_t i) const { return whole ? path : (depth.edge(i + 1) - depth.edge(i)) * depth_length; }
};

View view_of(const Frame& frame, const mesh::Header& header, RowRange rows, int level,
             const std::array<int, 3>& shifts) {
  const std::array<AxisWindow, 3> windows = windows_of(frame, rows);
  View view;
  view.u = scale_of(header, level, windows[0], shifts[0]);
  view.v = scale_of(header, level, windows[1], shifts[1]);
  view.depth = scale_of(header, level, windows[2], shifts[2]);
  if (frame.within) view.within.emplace(header, frame.within->region, level);
  for (std::size_t i = 0; i < 3; ++i) view.axes[i] = static_cast<std::size_t>(windows[i].axis);
  if (frame.axis >= header.dim) return view;
  view.depth_length = frame.depth_hi - frame.depth_lo;
  const std::size_t a = view.axes[2];
  view.path = mesh::cell_size(header, level)[a];
  view.whole = view.depth.unclipped(0) >= 0 && view.depth.unclipped(cells_along(header, level, a)) <= 1;
  return view;
}

bool in(const Scale& scale, std::uint32_t i) { return i - scale.begin < scale.end - scale.begin; }

template <class Values>
void list_strokes(const View& view, const Cells& cells, Values values, std::vector<Stroke>& strokes) {
  strokes.resize(cells.positions.size());
  std::size_t count = 0;
  for (std::size_t k = 0; k < cells.positions.size(); ++k) {
    const mesh::Coordinate& at = cells.positions[k];
    const std::uint32_t u = at[view.axes[0]], v = at[view.axes[1]], depth = at[view.axes[2]];
    if (!in(view.u, u) || !in(view.v, v) || !in(view.depth, depth)) continue;
    if (view.within && !(*view.within)(at)) continue;
    strokes[count++] = {u, v, static_cast<double>(values[cells.values[k]]), view.path_of(depth)};
  }
  strokes.resize(count);
}

void list_strokes(const mesh::Field& field, const View& view, const Cells& cells, std::vector<Stroke>& strokes) {
  mesh::visit_values(field, [&](auto values) { list_strokes(view, cells, values, strokes); });
}

/// The strokes of one batch; `weights` is working space.
void make_strokes(const StrokeInputs& source, const View& view, const Cells& cells, std::vector<Stroke>& strokes,
                  std::vector<Stroke>& weights) {
  list_strokes(source.field, view, cells, strokes);
  if (source.weight == &source.field) {
    for (Stroke& stroke : strokes) stroke.weight *= stroke.amount;
  } else if (source.weight) {
    list_strokes(*source.weight, view, cells, weights);
    for (std::size_t k = 0; k < strokes.size(); ++k) strokes[k].weight *= weights[k].amount;
  }
  if (is_extreme(source.frame.kind)) return;
  for (Stroke& stroke : strokes) stroke.amount *= stroke.weight;
}

// ---------------------------------------------------------------------------------------------------- families

constexpr std::size_t family_room = 8;  // cells

/// The values of families, family_room to each.
void gather_families(const mesh::Field& field, std::span<const SiblingCells> families, std::vector<double>& to) {
  to.resize(families.size() * family_room);
  mesh::visit_values(field, [&](auto values) {
    double* out = to.data();
    for (const SiblingCells& family : families) {
      const auto count = static_cast<std::size_t>(std::bit_width(family.selected));
      for (std::size_t c = 0; c < count; ++c) out[c] = static_cast<double>(values[family.first_value + c]);
      out += family_room;
    }
  });
}

/// Adds up the cells of a family that stand behind one another along the line of sight.
template <Projection kind>
void join_cells(Stroke& behind, double amount, double weight) {
  if constexpr (kind == Projection::maximum) {
    if (!(amount <= behind.amount) && !std::isnan(amount)) behind.amount = amount;
  } else if constexpr (kind == Projection::minimum) {
    if (!(amount >= behind.amount) && !std::isnan(amount)) behind.amount = amount;
  } else {
    behind.amount += amount;
    behind.weight += weight;
  }
}

/// A family of eight cells that are all drawn.
template <Projection kind>
void list_whole_family(const View& view, const SiblingCells& family, const double* values, const double* weights,
                       std::vector<Stroke>& strokes) {
  const auto stroke_of = [&](unsigned c) {
    const double weight = weights ? view.path * weights[c] : view.path;
    return Stroke{0, 0, is_extreme(kind) ? values[c] : values[c] * weight, weight};
  };
  for (unsigned column = 0; column < 4; ++column) {
    const unsigned u = column & 1, v = column >> 1, c = u << view.axes[0] | v << view.axes[1];
    Stroke stroke = stroke_of(c);
    const Stroke other = stroke_of(c | 1U << view.axes[2]);
    join_cells<kind>(stroke, other.amount, other.weight);
    stroke.u = family.corner[view.axes[0]] + u;
    stroke.v = family.corner[view.axes[1]] + v;
    if (in(view.u, stroke.u) && in(view.v, stroke.v)) strokes.push_back(stroke);
  }
}

/// A stroke for each column of a family, whichever rows are drawn. `weights`: null: 1.
template <Projection kind>
void list_family(const View& view, const SiblingCells& family, const double* values, const double* weights,
                 std::vector<Stroke>& strokes) {
  const std::uint32_t nearest = family.corner[view.axes[2]];
  if (family.selected == 0xFF && view.whole && in(view.depth, nearest) && in(view.depth, nearest + 1))
    return list_whole_family<kind>(view, family, values, weights, strokes);
  std::array<Stroke, 4> columns;
  unsigned seen = 0;
  for (unsigned rest = family.selected; rest != 0; rest &= rest - 1) {
    const auto c = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t depth = family.corner[view.axes[2]] + (c >> view.axes[2] & 1);
    if (!in(view.depth, depth)) continue;
    const double weight = weights ? view.path_of(depth) * weights[c] : view.path_of(depth);
    const double amount = is_extreme(kind) ? values[c] : values[c] * weight;
    const unsigned u = c >> view.axes[0] & 1, v = c >> view.axes[1] & 1, column = u + 2 * v;
    if ((seen >> column & 1) != 0)
      join_cells<kind>(columns[column], amount, weight);
    else
      columns[column] = {family.corner[view.axes[0]] + u, family.corner[view.axes[1]] + v, amount, weight};
    seen |= 1U << column;
  }
  for (; seen != 0; seen &= seen - 1) {
    const Stroke& stroke = columns[static_cast<std::size_t>(std::countr_zero(seen))];
    if (in(view.u, stroke.u) && in(view.v, stroke.v)) strokes.push_back(stroke);
  }
}

// ---------------------------------------------------------------------------------------------------- drawing

/// The pixels that a cell covers along one axis: all of [first, last] but parts of the outer two.
struct Reach {
  std::size_t first, last;
  double head, tail;

  double share(std::size_t p) const { return p == first ? head : p == last ? tail : 1.0; }
};

Reach reach_of(const Scale& scale, std::uint32_t i) {
  const double a = scale.edge(i), b = scale.edge(i + 1);
  const auto first = static_cast<std::int32_t>(a);
  auto last = static_cast<std::int32_t>(b);
  last -= static_cast<double>(last) == b ? 1 : 0;
  const double head = last <= first ? b - a : first + 1 - a;
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(std::max(first, last)), head, b - last};
}

// How a pixel takes up a cell that covers `share` of it. A term of a sum is never -0.0: that means "no cell".
template <Projection kind>
void take(Tile& tile, std::size_t pixel, double share, const Stroke& stroke) {
  double& sum = tile.sum[pixel];
  if constexpr (kind == Projection::maximum) {
    if (!(stroke.amount <= sum) && !std::isnan(stroke.amount)) sum = stroke.amount;
  } else if constexpr (kind == Projection::minimum) {
    if (!(stroke.amount >= sum) && !std::isnan(stroke.amount)) sum = stroke.amount;
  } else {
    sum += stroke.amount * share + 0.0;
    if constexpr (kind == Projection::mean) tile.weight[pixel] += stroke.weight * share + 0.0;
  }
}

/// The range of cells along both axes of the image.
struct CellBox {
  std::uint32_t u0 = 0xFFFFFFFFU, u1 = 0, v0 = 0xFFFFFFFFU, v1 = 0;  ///< inclusive

  void take_in(std::uint32_t u, std::uint32_t v) {
    u0 = std::min(u0, u), u1 = std::max(u1, u);
    v0 = std::min(v0, v), v1 = std::max(v1, v);
  }
  bool empty() const { return u0 > u1; }
};

CellBox box_of(const View& view, const Cells& cells) {
  CellBox box;
  for (const mesh::Coordinate& at : cells.positions) box.take_in(at[view.axes[0]], at[view.axes[1]]);
  return box;
}

/// Takes the cells that show, and no others.
CellBox box_within(const View& view, const Cells& cells) {
  CellBox box;
  for (const mesh::Coordinate& at : cells.positions)
    if (in(view.u, at[view.axes[0]]) && in(view.v, at[view.axes[1]]) && in(view.depth, at[view.axes[2]]))
      box.take_in(at[view.axes[0]], at[view.axes[1]]);
  return box;
}

CellBox box_within(const View& view, std::span<const SiblingCells> families) {
  CellBox box;
  const auto both_in = [](const Scale& scale, std::uint32_t i) { return in(scale, i) && in(scale, i + 1); };
  for (const SiblingCells& family : families) {
    const std::uint32_t u = family.corner[view.axes[0]], v = family.corner[view.axes[1]];
    const std::uint32_t depth = family.corner[view.axes[2]];
    if (family.selected == 0xFF && both_in(view.u, u) && both_in(view.v, v) && both_in(view.depth, depth)) {
      box.take_in(u, v);
      box.take_in(u + 1, v + 1);
      continue;
    }
    for (unsigned rest = family.selected; rest != 0; rest &= rest - 1) {
      const auto c = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint32_t cu = u + (c >> view.axes[0] & 1), cv = v + (c >> view.axes[1] & 1);
      if (in(view.u, cu) && in(view.v, cv) && in(view.depth, depth + (c >> view.axes[2] & 1))) box.take_in(cu, cv);
    }
  }
  return box;
}

/// Whether cells of a batch stand behind one another: two of them on each place of the box, or more. It does not depend
/// on the rows that are drawn.
bool are_columns(const CellBox& box, std::size_t cells) {
  const double columns = (box.u1 - box.u0 + 1.0) * (box.v1 - box.v0 + 1.0);
  return 2 * columns <= static_cast<double>(cells);
}

/// Sums over columns of cells, as a tile of which a pixel is a place of the box.
template <Projection kind>
Tile blank_columns(const CellBox& box, Tile columns) {
  columns.size = {box.u1 - box.u0 + std::size_t{1}, box.v1 - box.v0 + std::size_t{1}};
  columns.sum.assign(columns.size[0] * columns.size[1], blank_of(kind));
  if constexpr (kind == Projection::mean) columns.weight.assign(columns.sum.size(), -0.0);
  return columns;
}

template <Projection kind>
void add_to_columns(const CellBox& box, const std::vector<Stroke>& strokes, Tile& columns) {
  for (const Stroke& stroke : strokes)
    take<kind>(columns, (stroke.v - box.v0) * columns.size[0] + (stroke.u - box.u0), 1.0, stroke);
}

/// One stroke for each column.
template <Projection kind>
void list_columns(const CellBox& box, const Tile& columns, std::vector<Stroke>& strokes) {
  strokes.clear();
  std::size_t at = 0;
  for (std::uint32_t v = box.v0; v <= box.v1; ++v)
    for (std::uint32_t u = box.u0; u <= box.u1; ++u, ++at)
      if (!is_blank(kind, columns.sum[at]))
        strokes.push_back({u, v, columns.sum[at], kind == Projection::mean ? columns.weight[at] : 0});
}

template <Projection kind>
void draw(Tile& tile, const View& view, RowRange rows, const std::vector<Stroke>& strokes) {
  for (const Stroke& stroke : strokes) {
    const Reach x = reach_of(view.u, stroke.u), y = reach_of(view.v, stroke.v);
    const std::size_t left = x.first - tile.first[0], right = x.last - tile.first[0];
    if (left == right && y.first == y.last) {
      take<kind>(tile, (y.first - tile.first[1]) * tile.size[0] + left, x.head * y.head, stroke);
      continue;
    }
    for (std::size_t row = std::max(y.first, rows.first); row <= std::min(y.last, rows.last - 1); ++row) {
      const double share = y.share(row);
      const std::size_t start = (row - tile.first[1]) * tile.size[0];
      take<kind>(tile, start + left, x.head * share, stroke);
      for (std::size_t column = left + 1; column < right; ++column) take<kind>(tile, start + column, share, stroke);
      if (left != right) take<kind>(tile, start + right, x.tail * share, stroke);
    }
  }
}

template <Projection kind>
void draw_smoothed(Tile& tile, SmoothedPlane& plane, RowRange rows, const std::vector<Stroke>& strokes) {
  for (const Stroke& stroke : strokes) {
    const std::vector<PixelShare>&columns = plane.u.shares(stroke.u), &all_rows = plane.v.shares(stroke.v);
    for (const PixelShare& row : all_rows) {
      if (row.pixel < rows.first || row.pixel >= rows.last) continue;
      const std::size_t start = (row.pixel - tile.first[1]) * tile.size[0];
      for (const PixelShare& column : columns)
        take<kind>(tile, start + column.pixel - tile.first[0], column.share * row.share, stroke);
    }
  }
}

Footprint footprint_of(const View& view, const CellBox& box, RowRange rows) {
  if (box.empty()) return {};
  if (view.smoothed) {
    const RowRange x = view.smoothed->u.reach(box.u0, box.u1), y = view.smoothed->v.reach(box.v0, box.v1);
    return {{x.first, std::max(y.first, rows.first)}, {x.last, std::min(y.last, rows.last)}};
  }
  return {{reach_of(view.u, box.u0).first, std::max(reach_of(view.v, box.v0).first, rows.first)},
          {reach_of(view.u, box.u1).last + 1, std::min(reach_of(view.v, box.v1).last + 1, rows.last)}};
}

/// Working space of a part's drawing.
struct DrawingSpace {
  std::vector<Stroke> strokes, weights;
  std::vector<double> family_values, family_weights;
  Tile columns;
};

/// How the cells of each level are smoothed, with the domain moved by some periods.
class Smoothing {
 public:
  Smoothing(const mesh::Header& header, const Frame& frame) : frame_(frame) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto a = static_cast<std::size_t>(frame.image_axis[i]);
      const double extent = header.hi[a] - header.lo[a], window = frame.hi[i] - frame.lo[i];
      wraps_[i] = header.periodic[a] && std::abs(window - extent) <= 1e-12 * extent;
    }
  }
  /// The whole image's, whatever rows are drawn: a cell may show beyond its own. Null: cells are not smoothed.
  SmoothedPlane* plane_of(int level, const std::array<int, 3>& shift, const View& view) {
    if (frame_.blur == 0) return nullptr;
    const auto [found, fresh] = planes_.try_emplace({level, shift[0], shift[1]});
    if (fresh)
      found->second.reset(new SmoothedPlane{{view.u, frame_.blur, wraps_[0]}, {view.v, frame_.blur, wraps_[1]}});
    return found->second.get();
  }

 private:
  const Frame& frame_;
  std::array<bool, 2> wraps_{};
  std::map<std::array<int, 3>, std::unique_ptr<SmoothedPlane>> planes_;
};

/// The rows whose cells are looked at to draw some rows.
RowRange rows_of_cells(const Frame& frame, RowRange rows) {
  return frame.blur == 0 ? rows : RowRange{0, frame.pixels[1]};
}

constexpr std::size_t cells_at_once = 2048;  // their strokes stay in the second-level cache

/// Cells that stand behind one another are added up first, so that each column is drawn once.
template <Projection kind>
void list_batch(const StrokeInputs& source, const View& view, const Cells& cells, DrawingSpace& work) {
  const CellBox box = box_of(view, cells);
  if (!are_columns(box, cells.positions.size())) return make_strokes(source, view, cells, work.strokes, work.weights);
  work.columns = blank_columns<kind>(box, std::move(work.columns));
  for (std::size_t first = 0; first < cells.positions.size(); first += cells_at_once) {
    const std::size_t count = std::min(cells_at_once, cells.positions.size() - first);
    const Cells some{cells.level, cells.positions.subspan(first, count), cells.values.subspan(first, count)};
    make_strokes(source, view, some, work.strokes, work.weights);
    add_to_columns<kind>(box, work.strokes, work.columns);
  }
  list_columns<kind>(box, work.columns, work.strokes);
}

template <Projection kind>
void make_family_strokes(const StrokeInputs& source, const View& view, std::span<const SiblingCells> families,
                         DrawingSpace& work) {
  work.strokes.clear();
  gather_families(source.field, families, work.family_values);
  const bool own = source.weight == &source.field;
  if (source.weight && !own) gather_families(*source.weight, families, work.family_weights);
  const double* values = work.family_values.data();
  const double* weights = own ? values : source.weight ? work.family_weights.data() : nullptr;
  for (const SiblingCells& family : families) {
    list_family<kind>(view, family, values, weights, work.strokes);
    values += family_room;
    if (weights) weights += family_room;
  }
}

template <Projection kind>
void list_batch(const StrokeInputs& source, const View& view, std::span<const SiblingCells> families,
                DrawingSpace& work) {
  CellBox box;
  std::size_t cells = 0;
  for (const SiblingCells& family : families) {
    const std::uint32_t u = family.corner[view.axes[0]], v = family.corner[view.axes[1]];
    const std::uint32_t more = family.selected > 1 ? 1 : 0;
    box.take_in(u, v);
    box.take_in(u + more, v + more);
    cells += static_cast<std::size_t>(std::popcount(family.selected));
  }
  if (!are_columns(box, cells)) return make_family_strokes<kind>(source, view, families, work);
  work.columns = blank_columns<kind>(box, std::move(work.columns));
  constexpr std::size_t at_once = cells_at_once / family_room;
  for (std::size_t first = 0; first < families.size(); first += at_once) {
    make_family_strokes<kind>(source, view, families.subspan(first, std::min(at_once, families.size() - first)), work);
    add_to_columns<kind>(box, work.strokes, work.columns);
  }
  list_columns<kind>(box, work.columns, work.strokes);
}

template <Projection kind, class Batch>
void draw_batch(const StrokeInputs& source, const View& view, RowRange rows, const Batch& batch, Tile& tile,
                DrawingSpace& work) {
  list_batch<kind>(source, view, batch, work);
  if (work.strokes.empty()) return;
  CellBox box;
  for (const Stroke& stroke : work.strokes) box.take_in(stroke.u, stroke.v);
  const Footprint pixels = footprint_of(view, box, rows);
  if (pixels.first[1] >= pixels.last[1]) return;
  cover(kind, tile, pixels.first, pixels.last);
  if (view.smoothed) return draw_smoothed<kind>(tile, *view.smoothed, rows, work.strokes);
  draw<kind>(tile, view, rows, work.strokes);
}

template <class Batch>
void draw_batch(const StrokeInputs& source, const View& view, RowRange rows, const Batch& cells, Tile& tile,
                DrawingSpace& work) {
  switch (source.frame.kind) {
    case Projection::integral: return draw_batch<Projection::integral>(source, view, rows, cells, tile, work);
    case Projection::mean: return draw_batch<Projection::mean>(source, view, rows, cells, tile, work);
    case Projection::maximum: return draw_batch<Projection::maximum>(source, view, rows, cells, tile, work);
    case Projection::minimum: return draw_batch<Projection::minimum>(source, view, rows, cells, tile, work);
  }
}

/// Every combination of periods by which the domain shows.
std::vector<std::array<int, 3>> all_shifts(const mesh::Header& header, const Frame& frame) {
  const std::array<AxisWindow, 3> windows = windows_of(frame, {0, frame.pixels[1]});
  std::vector<std::array<int, 3>> all;
  for (int d : shifts_of(header, windows[2]))
    for (int v : shifts_of(header, windows[1]))
      for (int u : shifts_of(header, windows[0])) all.push_back({u, v, d});
  return all;
}

/// Calls visit(level, batch) for all cells of the map: families, or Cells where blocks or a region do not let them be.
template <class Visit>
void for_each_drawn(const mesh::Part& part, const mesh::Header& header, const Frame& frame, int max_level,
                    Visit&& visit) {
  const mesh::Octree& tree = mesh::octree_of(part);
  if (mesh::block_size(tree) == 1 && !frame.within)
    for_each_family(tree, header, max_level, visit);
  else
    for_each_selected(tree, header, {std::nullopt, max_level}, [&](const Cells& cells) { visit(cells.level, cells); });
}

}  // namespace

Tile project(const mesh::Part& part, const mesh::Header& header, const Frame& frame, const std::string& field,
             const std::string& weight, int max_level, RowRange rows) {
  const bool weighted = frame.kind == Projection::mean && !weight.empty();
  rows.last = std::min(rows.last, frame.pixels[1]);
  const StrokeInputs source{frame, header, cell_field(part, field), weighted ? &cell_field(part, weight) : nullptr};
  const auto shifts = all_shifts(header, frame);
  Tile tile;
  if (rows.first >= rows.last) return tile;
  DrawingSpace work;
  Smoothing smoothing(header, frame);
  for_each_drawn(part, header, frame, max_level, [&](int level, const auto& batch) {
    for (const auto& shift : shifts) {
      View view = view_of(frame, header, rows_of_cells(frame, rows), level, shift);
      view.smoothed = smoothing.plane_of(level, shift, view);
      draw_batch(source, view, rows, batch, tile, work);
    }
  });
  return tile;
}

Footprint footprint(const mesh::Part& part, const mesh::Header& header, const Frame& frame, int max_level) {
  const RowRange all{0, frame.pixels[1]};
  Footprint whole;
  Smoothing smoothing(header, frame);
  for_each_drawn(part, header, frame, max_level, [&](int level, const auto& batch) {
    for (const auto& shift : all_shifts(header, frame)) {
      View view = view_of(frame, header, all, level, shift);
      view.smoothed = smoothing.plane_of(level, shift, view);
      const CellBox box = box_within(view, batch);
      if (box.empty()) continue;
      const Footprint more = footprint_of(view, box, all);
      for (std::size_t i = 0; i < 2; ++i) {
        whole.first[i] = whole.last[i] == 0 ? more.first[i] : std::min(whole.first[i], more.first[i]);
        whole.last[i] = std::max(whole.last[i], more.last[i]);
      }
    }
  });
  return whole;
}

}  // namespace octavo::analysis
