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
  const auto most = static_cast<double>(pixels);
  const double first = std::clamp(std::ceil(middle - reach - 0.5 - 1e-6), 0.0, most);
  const double last = std::clamp(std::floor(middle + reach - 0.5 + 1e-6) + 1, first, most);
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
  CellCaster(const Rays& rays, const LevelShadow& shadow, const Point3& move)
      : rays_(rays), shadow_(shadow), move_(move) {}

  Point3 corner(const mesh::Coordinate& at) const {
    return {at[0] * shadow_.edge + move_[0], at[1] * shadow_.edge + move_[1], at[2] * shadow_.edge + move_[2]};
  }
  /// Whether the clip and the sphere leave anything of the cell.
  bool shown(const Point3& lo) const {
    const SlicePlane& grid = rays_.grid;
    for (std::size_t a = 0; a < 3; ++a)
      if (!(lo[a] < grid.clip_hi[a] && lo[a] + shadow_.edge > grid.clip_lo[a])) return false;
    if (!grid.view.sphere) return true;
    double square = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = corner_[a] + (lo[a] + 0.5 * shadow_.edge) * grid.size[a] - grid.view.sphere->centre[a];
      square += d * d;
    }
    return square < grid.view.sphere->radius * grid.view.sphere->radius;
  }
  RowRange columns(const Point3& lo) const { return along(0, lo); }
  RowRange rows(const Point3& lo) const { return along(1, lo); }
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
  void set_domain_corner(const Point3& corner) { corner_ = corner; }

 private:
  RowRange along(std::size_t i, const Point3& lo) const {
    return centres_within(shadow_.middle(i, lo), shadow_.reach[i], rays_.grid.view.pixels[i]);
  }
  const Rays& rays_;
  const LevelShadow& shadow_;
  Point3 move_, corner_{};
};

/// Ways to the sides of a cell along the rays of one row: near[a] - column * step[a].
struct RayRow {
  Point3 near, across, step;

  double chord(double column) const {
    double enter = -far_away, leave = far_away;
    for (std::size_t a = 0; a < 3; ++a) {
      const double near_side = near[a] - column * step[a];
      enter = std::max(enter, near_side);
      leave = std::min(leave, near_side + across[a]);
    }
    return leave - enter;
  }
};

/// Cuts the columns off that do not meet the cell.
RowRange columns_met(const Rays& rays, const RayRow& row, RowRange columns) {
  double first = static_cast<double>(columns.first), last = static_cast<double>(columns.last);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == j || rays.per_cell[i] == 0 || rays.per_cell[j] == 0) continue;
      // The ray leaves along axis i behind the place where it enters along axis j.
      const double gap = row.near[i] + row.across[i] - row.near[j], closing = row.step[i] - row.step[j];
      if (closing > 0)
        last = std::min(last, std::floor(gap / closing) + 1);
      else if (closing < 0)
        first = std::max(first, std::ceil(gap / closing));
      else if (!(gap > 0))
        return {columns.first, columns.first};
    }
  if (!(first < last)) return {columns.first, columns.first};
  RowRange met{static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
  while (met.first < met.last && !(row.chord(static_cast<double>(met.first)) > rays.least)) ++met.first;
  while (met.first < met.last && !(row.chord(static_cast<double>(met.last - 1)) > rays.least)) --met.last;
  return met;
}

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
void draw_ray_cell(Tile& tile, const Rays& rays, const RayCell& cell, RowRange columns, RowRange rows,
                   const Paint& paint) {
  RayRow row{{}, cell.across, rays.step};
  for (std::size_t y = rows.first; y < rows.last; ++y) {
    const auto at = static_cast<double>(y);
    RowRange wide = columns;
    for (std::size_t a = 0; a < 3; ++a) {
      row.near[a] = cell.near[a] - at * rays.rise[a];
      if (rays.per_cell[a] != 0) continue;
      row.near[a] = -far_away;
      wide = columns_in(rays.grid, a, place_of_row(rays.grid, a, y), cell.lo[a], cell.hi[a], wide);
    }
    if (wide.first >= wide.last) continue;
    const RowRange met = columns_met(rays, row, wide);
    const std::size_t start = (y - tile.first[1]) * tile.size[0];
    if (met.first >= met.last) continue;
    double* const weights = kind == Projection::mean ? tile.weight.data() + start : nullptr;
    draw_row<kind>(tile.sum.data() + start, weights, tile.first[0], row, met, paint);
  }
}

/// By how many domains' lengths the mesh is moved, along each axis: each place in which it may show.
std::vector<Point3> places_of_mesh(const Rays& rays) {
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

Footprint footprint_of_batch(const CellCaster& caster, const Cells& cells) {
  Footprint pixels{{std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max()}, {0, 0}};
  for (const mesh::Coordinate& at : cells.positions) {
    const Point3 lo = caster.corner(at);
    if (!caster.shown(lo)) continue;
    const RowRange x = caster.columns(lo), y = caster.rows(lo);
    if (x.first >= x.last || y.first >= y.last) continue;
    pixels.first = {std::min(pixels.first[0], x.first), std::min(pixels.first[1], y.first)};
    pixels.last = {std::max(pixels.last[0], x.last), std::max(pixels.last[1], y.last)};
  }
  return pixels.last[0] == 0 ? Footprint{} : pixels;
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
    if (!caster.shown(lo)) continue;
    const RowRange x = caster.columns(lo), y = caster.rows(lo);
    const RowRange drawn{std::max(y.first, rows.first), std::min(y.last, rows.last)};
    if (x.first >= x.last || drawn.first >= drawn.last) continue;
    const double weight = weights.empty() ? 1.0 : weights[k];
    const double value = kind == Projection::mean ? values[k] * weight : values[k];
    draw_ray_cell<kind>(tile, rays, caster.cell(lo), x, drawn, {value, weight});
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
    std::vector<double> painted, weights;
    for (const Point3& move : moves) {
      CellCaster caster(rays, shadow, move);
      caster.set_domain_corner(header.lo);
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
    for (const Point3& move : places_of_mesh(rays)) {
      CellCaster caster(rays, shadow, move);
      caster.set_domain_corner(header.lo);
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
