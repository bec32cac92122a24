#include "octavo/analysis/camera.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "octavo/analysis/select.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

using mesh::Point3;

constexpr double far_away = 1e300;

/// The shadow of every cell of a level: how far it reaches from its middle, in pixels, and how the middle depends on
/// the cell's lower corner.
struct LevelShadow {
  double edge = 1;  ///< in cells of level 0
  std::array<Point3, 2> slope{};
  std::array<double, 2> offset{}, reach{};

  double middle(std::size_t i, const Point3& lo) const {
    return slope[i][0] * lo[0] + slope[i][1] * lo[1] + slope[i][2] * lo[2] + offset[i];
  }
};

LevelShadow shadow_of_level(const Rays& rays, int level) {
  const AnyView& view = rays.grid.view;
  LevelShadow shadow;
  shadow.edge = std::ldexp(1.0, -level);
  const std::array<const Point3*, 2> directions{&view.axes.right, &view.axes.up};
  for (std::size_t i = 0; i < 2; ++i) {
    const double pixel = (view.hi[i] - view.lo[i]) / static_cast<double>(view.pixels[i]);
    for (std::size_t a = 0; a < 3; ++a) {
      const double slope = (*directions[i])[a] * rays.grid.size[a] / pixel;
      shadow.slope[i][a] = slope;
      shadow.offset[i] += slope * (0.5 * shadow.edge - rays.grid.origin[a]);
      shadow.reach[i] += 0.5 * std::abs(slope) * shadow.edge;
    }
  }
  return shadow;
}

/// The pixels whose centre may lie within `reach` of `middle`.
RowRange centres_within(double middle, double reach, std::size_t pixels) {
  constexpr double margin = 0.01;  // far above rounding errors, but where a window is a billionth of the domain
  const auto most = static_cast<double>(pixels);
  const double first = std::clamp(std::ceil(middle - reach - 0.5 - margin), 0.0, most);
  const double last = std::clamp(std::floor(middle + reach - 0.5 + margin) + 1, first, most);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

/// A cell on its rays: the way to the side where a ray enters along each axis, and on to the other side.
struct RayCell {
  Point3 near{}, across{};
  Point3 lo{}, hi{};  ///< sides, in cells of level 0; used where rays run along sides
};

/// Cells of one level in one place of a periodic domain.
class CellCaster {
 public:
  CellCaster(const Rays& rays, const LevelShadow& shadow, const Point3& move,
             const std::optional<CentresWithin>& within)
      : rays_(rays), shadow_(shadow), move_(move), within_(within) {}

  Point3 corner(const mesh::Coordinate& at) const {
    return {at[0] * shadow_.edge + move_[0], at[1] * shadow_.edge + move_[1], at[2] * shadow_.edge + move_[2]};
  }
  /// Whether the clip and the region leave anything of the cell.
  bool shown(const mesh::Coordinate& at, const Point3& lo) const {
    if (rays_.whole) return true;
    const SlicePlane& grid = rays_.grid;
    for (std::size_t a = 0; a < 3; ++a)
      if (!(lo[a] < grid.clip_hi[a] && lo[a] + shadow_.edge > grid.clip_lo[a])) return false;
    return !within_ || (*within_)(at);
  }
  const LevelShadow& shadow() const { return shadow_; }
  /// The columns (0) or rows (1) that a cell may show in whose shadow has this middle.
  RowRange centres(std::size_t i, double middle) const {
    return centres_within(middle, shadow_.reach[i], rays_.grid.view.pixels[i]);
  }
  RayCell cell(const Point3& lo) const {
    RayCell cell;
    for (std::size_t a = 0; a < 3; ++a) {
      cell.lo[a] = std::max(lo[a], rays_.grid.clip_lo[a]);
      cell.hi[a] = std::min(lo[a] + shadow_.edge, rays_.grid.clip_hi[a]);
      const double way = rays_.per_cell[a];
      cell.near[a] = way == 0 ? -far_away : (way > 0 ? cell.lo[a] : cell.hi[a]) * way - rays_.origin[a];
      cell.across[a] = way == 0 ? 2 * far_away : (cell.hi[a] - cell.lo[a]) * std::abs(way);
    }
    return cell;
  }

 private:
  const Rays& rays_;
  const LevelShadow& shadow_;
  Point3 move_;
  const std::optional<CentresWithin>& within_;
};

/// Ways to the sides of a cell along the rays of one row: near[a] - column * step[a].
struct RayRow {
  Point3 near, across, step;
};

/// The columns in which rays meet one cell, row by row.
class ColumnsMet {
 public:
  ColumnsMet(const Rays& rays, const RayCell& cell) : rays_(rays) {
    for (std::size_t k = 0; k < 3; ++k) {
      below_[k] = bound_of(rays.below[k], cell);
      above_[k] = bound_of(rays.above[k], cell);
    }
    for (const RayBound& bound : rays.row_bounds) gaps_.push_back(gap_of(bound, cell));
  }
  RowRange in_row(double y) const {
    for (std::size_t k = 0; k < gaps_.size(); ++k)
      if (!(gaps_[k] - y * rays_.row_bounds[k].slope > 0)) return {0, 0};
    const auto& b = rays_.below;
    const auto& a = rays_.above;
    const double low =
        std::max(below_[0] - y * b[0].slope, std::max(below_[1] - y * b[1].slope, below_[2] - y * b[2].slope));
    const double high =
        std::min(above_[0] - y * a[0].slope, std::min(above_[1] - y * a[1].slope, above_[2] - y * a[2].slope));
    const auto pixels = static_cast<double>(rays_.grid.view.pixels[0]);
    if (!(low < high) || high < 0 || low >= pixels) return {0, 0};
    const std::size_t first = low < 0 ? 0 : static_cast<std::size_t>(static_cast<std::int32_t>(low)) + 1;
    return {first,
            high >= pixels ? rays_.grid.view.pixels[0] : static_cast<std::size_t>(static_cast<std::int32_t>(high)) + 1};
  }

 private:
  double gap_of(const RayBound& bound, const RayCell& cell) const {
    return cell.near[bound.leave] + cell.across[bound.leave] - cell.near[bound.enter] - rays_.least;
  }
  double bound_of(const RayBound& bound, const RayCell& cell) const {
    return gap_of(bound, cell) * bound.per_gap + bound.offset;
  }
  const Rays& rays_;
  Point3 below_{}, above_{};
  std::vector<double> gaps_;
};

/// A cell's value, of a mean times its weight; and the weight.
struct Paint {
  double value, weight;
};

template <Projection kind>
void draw_row(double* sum, double* weights, std::size_t sum_from, const RayRow& row, RowRange columns,
              const Paint& paint) {
  const double value = paint.value, weight = paint.weight;
  const double n0 = row.near[0], n1 = row.near[1], n2 = row.near[2];
  const double s0 = row.step[0], s1 = row.step[1], s2 = row.step[2];
  const double a0 = row.across[0], a1 = row.across[1], a2 = row.across[2];
  const auto from = static_cast<std::int32_t>(columns.first);
  const auto count = static_cast<std::int32_t>(columns.last - columns.first);
  sum += columns.first - sum_from;
  weights += kind == Projection::mean ? columns.first - sum_from : 0;
  for (std::int32_t x = 0; x < count; ++x) {
    if constexpr (kind == Projection::maximum) {
      if (!(value <= sum[x]) && !std::isnan(value)) sum[x] = value;
    } else if constexpr (kind == Projection::minimum) {
      if (!(value >= sum[x]) && !std::isnan(value)) sum[x] = value;
    } else {
      const double c = from + x, e0 = n0 - c * s0, e1 = n1 - c * s1, e2 = n2 - c * s2;
      const double l0 = e0 + a0, l1 = e1 + a1, l2 = e2 + a2;
      const double e01 = e0 < e1 ? e1 : e0, enter = e01 < e2 ? e2 : e01;
      const double l01 = l0 < l1 ? l0 : l1, leave = l01 < l2 ? l01 : l2;
      const double chord = leave - enter;
      sum[x] += value * chord + 0.0;  // a term is never -0.0: that means "no cell"
      if constexpr (kind == Projection::mean) weights[x] += weight * chord + 0.0;
    }
  }
}

template <Projection kind>
void draw_ray_cell(Tile& tile, const Rays& rays, const RayCell& cell, RowRange rows, const Paint& paint) {
  RayRow row{{}, cell.across, rays.step};
  const ColumnsMet columns(rays, cell);
  for (std::size_t y = rows.first; y < rows.last; ++y) {
    const auto at = static_cast<double>(y);
    RowRange met = columns.in_row(at);
    met = {std::max(met.first, tile.first[0]), std::min(met.last, tile.first[0] + tile.size[0])};
    for (std::size_t a = 0; a < 3; ++a) {
      row.near[a] = cell.near[a] - at * rays.rise[a];
      if (rays.per_cell[a] == 0 && met.first < met.last)
        met = columns_in(rays.grid, a, place_of_row(rays.grid, a, y), cell.lo[a], cell.hi[a], met);
    }
    if (met.first >= met.last) continue;
    const std::size_t start = (y - tile.first[1]) * tile.size[0];
    double* const weights = kind == Projection::mean ? tile.weight.data() + start : nullptr;
    draw_row<kind>(tile.sum.data() + start, weights, tile.first[0], row, met, paint);
  }
}

/// By how many domains' lengths the mesh is moved, along each axis: each place in which it may show.
std::vector<Point3> places_of_mesh(const Rays& rays) {
  if (rays.whole) return {{0, 0, 0}};
  const SlicePlane& grid = rays.grid;
  std::array<std::vector<int>, 3> along;
  for (std::size_t a = 0; a < 3; ++a)
    along[a] = moves_along(grid.clip_lo[a], grid.clip_hi[a], grid.cells[a], grid.periodic[a]);
  std::vector<Point3> moves;
  for (int k : along[2])
    for (int j : along[1])
      for (int i : along[0]) moves.push_back({i * grid.cells[0], j * grid.cells[1], k * grid.cells[2]});
  return moves;
}

std::optional<CentresWithin> centres_within_view(const Rays& rays, const mesh::Header& header, int level) {
  const std::optional<Within>& within = rays.grid.view.within;
  if (!within) return {};
  return CentresWithin(header, within->region, level);
}

Footprint footprint_of_batch(const CellCaster& caster, const Cells& cells) {
  std::array<double, 2> least{far_away, far_away}, most{-far_away, -far_away};
  for (const mesh::Coordinate& at : cells.positions) {
    const Point3 lo = caster.corner(at);
    if (!caster.shown(at, lo)) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const double middle = caster.shadow().middle(i, lo);
      least[i] = std::min(least[i], middle);
      most[i] = std::max(most[i], middle);
    }
  }
  Footprint pixels;
  if (least[0] > most[0]) return pixels;
  for (std::size_t i = 0; i < 2; ++i) {
    pixels.first[i] = caster.centres(i, least[i]).first;
    pixels.last[i] = caster.centres(i, most[i]).last;
  }
  return pixels.first[0] < pixels.last[0] && pixels.first[1] < pixels.last[1] ? pixels : Footprint{};
}

std::vector<double> values_of_batch(const mesh::Field& field, const Cells& cells) {
  std::vector<double> values;
  values.reserve(cells.values.size());
  mesh::visit_values(field, [&](auto all) {
    for (const std::size_t i : cells.values) values.push_back(static_cast<double>(all[i]));
  });
  return values;
}

template <Projection kind>
void draw_batch(Tile& tile, const Rays& rays, const CellCaster& caster, const Cells& cells, RowRange rows,
                const std::vector<double>& values, const std::vector<double>& weights) {
  for (std::size_t k = 0; k < cells.positions.size(); ++k) {
    const Point3 lo = caster.corner(cells.positions[k]);
    if (!caster.shown(cells.positions[k], lo)) continue;
    const RowRange y = caster.centres(1, caster.shadow().middle(1, lo));
    const RowRange drawn{std::max(y.first, rows.first), std::min(y.last, rows.last)};
    if (drawn.first >= drawn.last) continue;
    const double weight = weights.empty() ? 1.0 : weights[k];
    const double value = kind == Projection::mean ? values[k] * weight : values[k];
    draw_ray_cell<kind>(tile, rays, caster.cell(lo), drawn, {value, weight});
  }
}

/// Which pairs of axes bound the columns, and from which side.
void set_bounds(Rays& rays) {
  constexpr double no_bound = 1e12;  // columns away
  rays.below.fill({0, 0, 0, 0, -no_bound});
  rays.above.fill({0, 0, 0, 0, no_bound});
  std::size_t below = 0, above = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == j || rays.per_cell[i] == 0 || rays.per_cell[j] == 0) continue;
      // How much the gap closes from column to column, and from row to row.
      const double closing = rays.step[i] - rays.step[j], falling = rays.rise[i] - rays.rise[j];
      if (closing == 0)
        rays.row_bounds.push_back({i, j, 0, falling, 0});
      else
        (closing > 0 ? rays.above[above++] : rays.below[below++]) = {i, j, 1 / closing, falling / closing, 0};
    }
}

}  // namespace

Rays make_rays(const mesh::Header& header, const AnyView& view) {
  Rays rays;
  AnyView at_zero = view;
  at_zero.depth_lo = 0;
  rays.grid = make_slice(header, at_zero);
  rays.least = 64 * std::numeric_limits<double>::epsilon() * (std::abs(view.depth_lo) + std::abs(view.depth_hi));
  for (std::size_t a = 0; a < 3; ++a) {
    const double towards = view.axes.towards[a];
    if (towards == 0) continue;
    rays.per_cell[a] = rays.grid.size[a] / towards;
    rays.step[a] = rays.grid.step[a] * rays.per_cell[a];
    rays.rise[a] = rays.grid.rise[a] * rays.per_cell[a];
    rays.origin[a] = rays.grid.origin[a] * rays.per_cell[a] + 0.5 * (rays.step[a] + rays.rise[a]);
  }
  for (std::size_t a = 0; a < 3; ++a)
    rays.whole = rays.whole && rays.grid.clip_lo[a] == 0 && rays.grid.clip_hi[a] == rays.grid.cells[a];
  rays.whole = rays.whole && !view.within;
  set_bounds(rays);
  return rays;
}

Tile cast(const mesh::Part& part, const mesh::Header& header, const Rays& rays, Projection kind,
          const std::string& field, const std::string& weight, int max_level, RowRange rows) {
  const mesh::Field& values = cell_field(part, field);
  const mesh::Field* by = kind == Projection::mean && !weight.empty() ? &cell_field(part, weight) : nullptr;
  const auto moves = places_of_mesh(rays);
  Tile tile;
  for_each_selected(mesh::octree_of(part), header, {std::nullopt, max_level}, [&](const Cells& cells) {
    const LevelShadow shadow = shadow_of_level(rays, cells.level);
    const std::optional<CentresWithin> within = centres_within_view(rays, header, cells.level);
    std::vector<double> painted, weights;
    for (const Point3& move : moves) {
      const CellCaster caster(rays, shadow, move, within);
      const Footprint pixels = footprint_of_batch(caster, cells);
      const std::size_t first = std::max(pixels.first[1], rows.first), last = std::min(pixels.last[1], rows.last);
      if (pixels.first[0] >= pixels.last[0] || first >= last) continue;
      cover(kind, tile, {pixels.first[0], first}, {pixels.last[0], last});
      if (painted.empty()) painted = values_of_batch(values, cells);
      if (by && weights.empty()) weights = values_of_batch(*by, cells);
      switch (kind) {
        case Projection::integral:
          draw_batch<Projection::integral>(tile, rays, caster, cells, rows, painted, weights);
          break;
        case Projection::mean: draw_batch<Projection::mean>(tile, rays, caster, cells, rows, painted, weights); break;
        case Projection::maximum:
          draw_batch<Projection::maximum>(tile, rays, caster, cells, rows, painted, weights);
          break;
        case Projection::minimum:
          draw_batch<Projection::minimum>(tile, rays, caster, cells, rows, painted, weights);
          break;
      }
    }
  });
  return tile;
}

Footprint footprint_of_rays(const mesh::Part& part, const mesh::Header& header, const Rays& rays, int max_level) {
  Footprint whole;
  for_each_selected(mesh::octree_of(part), header, {std::nullopt, max_level}, [&](const Cells& cells) {
    const LevelShadow shadow = shadow_of_level(rays, cells.level);
    const std::optional<CentresWithin> within = centres_within_view(rays, header, cells.level);
    for (const Point3& move : places_of_mesh(rays)) {
      const CellCaster caster(rays, shadow, move, within);
      const Footprint pixels = footprint_of_batch(caster, cells);
      if (pixels.last[0] == 0) continue;
      const bool fresh = whole.last[0] == 0;
      for (std::size_t i = 0; i < 2; ++i) {
        whole.first[i] = fresh ? pixels.first[i] : std::min(whole.first[i], pixels.first[i]);
        whole.last[i] = std::max(whole.last[i], pixels.last[i]);
      }
    }
  });
  return whole;
}

}  // namespace octavo::analysis
