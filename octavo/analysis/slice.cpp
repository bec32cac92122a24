#include "octavo/analysis/slice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "octavo/analysis/descend.hpp"
#include "octavo/analysis/select.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

using mesh::Point3;

/// Cells of one level, or blocks of them, beside the plane.
struct BesidePlane {
  double edge = 1;               ///< of a cell
  Point3 edges{};                ///< of the cell, or block
  double offset = 0, reach = 0;  ///< of the distance of the middle from that of the lower corner; half the extent
};

/// Whether cells can show. All lengths are in cells of level 0, distances are code lengths.
class NearPlane {
 public:
  NearPlane(const SlicePlane& plane, const Point3& move, const mesh::Octree& tree) : plane_(plane), move_(move) {
    for (std::size_t a = 0; a < 3; ++a) {
      slope_[a] = plane.view.axes.towards[a] * plane.size[a];
      depth_ += slope_[a] * plane.origin[a];
      margin_ += 1e-11 * std::abs(slope_[a]) * (std::abs(plane.clip_lo[a]) + std::abs(plane.clip_hi[a]) + 1);
    }
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      cells_.push_back(beside(std::ldexp(1.0, -level), {1, 1, 1}));
      blocks_.push_back(beside(std::ldexp(1.0, -level), tree.block));
    }
  }
  const BesidePlane& cells(int level) const { return cells_[static_cast<std::size_t>(level)]; }
  const BesidePlane& blocks(int level) const { return blocks_[static_cast<std::size_t>(level)]; }
  const Point3& move() const { return move_; }
  /// A cell or block by its lower corner in the moved mesh.
  bool operator()(const BesidePlane& kind, const Point3& lo) const {
    for (std::size_t a = 0; a < static_cast<std::size_t>(plane_.dim); ++a)
      if (lo[a] > plane_.clip_hi[a] || lo[a] + kind.edges[a] < plane_.clip_lo[a]) return false;
    if (plane_.dim < 3) return true;
    const double distance = slope_[0] * lo[0] + slope_[1] * lo[1] + slope_[2] * lo[2] + kind.offset;
    return std::abs(distance) <= kind.reach;
  }

 private:
  BesidePlane beside(double edge, const mesh::Index3& block) const {
    BesidePlane kind{edge, {}, -depth_, margin_};
    for (std::size_t a = 0; a < 3; ++a) {
      kind.edges[a] = edge * static_cast<double>(block[a]);
      kind.offset += 0.5 * slope_[a] * kind.edges[a];
      kind.reach += 0.5 * std::abs(slope_[a]) * kind.edges[a];
    }
    return kind;
  }
  const SlicePlane& plane_;
  Point3 move_, slope_{};
  double depth_ = 0, margin_ = 0;
  std::vector<BesidePlane> cells_, blocks_;
};

/// Where a cell is in the picture, in pixels: the middle, and how far it reaches to either side.
struct Shadow {
  std::array<double, 2> middle{}, reach{};
};
Shadow shadow_of(const SlicePlane& plane, const CutCell& cell) {
  Shadow shadow;
  for (std::size_t i = 0; i < 2; ++i) {
    const Point3& slope = plane.pixels_per_cell[i];
    shadow.middle[i] = slope[0] * cell.lo[0] + slope[1] * cell.lo[1] + slope[2] * cell.lo[2] +
                       0.5 * cell.edge * plane.sum_of_slopes[i] - plane.pixel_of_origin[i];
    shadow.reach[i] = 0.5 * cell.edge * plane.widest[i];
  }
  return shadow;
}

/// The pixels whose centre may lie in [middle - reach, middle + reach]: first <= p < last.
std::array<std::size_t, 2> pixels_of(double middle, double reach, std::size_t pixels) {
  constexpr double margin = 0.75;  // half a pixel, and rounding
  const auto most = static_cast<double>(pixels);
  const auto first = static_cast<std::size_t>(std::clamp(middle - reach - margin, 0.0, most));
  const auto last = static_cast<std::size_t>(std::clamp(middle + reach + margin + 1, 0.0, most));
  return {first, std::max(first, last)};
}

template <class Values>
void list_cut(PlaneCut& cut, const mesh::Octree& tree, const mesh::Header& header, const NearPlane& near, int max_level,
              Values values) {
  const auto n = tree.block;
  const auto corner = [&](double edge, const mesh::Coordinate& at, const mesh::Index3& cell) {
    Point3 lo{};
    for (std::size_t a = 0; a < 3; ++a)
      lo[a] = (static_cast<double>(at[a]) * static_cast<double>(n[a]) + static_cast<double>(cell[a])) * edge +
              near.move()[a];
    return lo;
  };
  const auto block_near = [&](int level, const mesh::Coordinate& at) {
    const BesidePlane& block = near.blocks(level);
    return near(block, corner(block.edge, at, {0, 0, 0}));
  };
  descend(tree, header, max_level, block_near, [&](int level, const mesh::Coordinate& at, std::size_t value) {
    const BesidePlane& beside = near.cells(level);
    for (std::int64_t z = 0; z < n[2]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[0]; ++x, ++value) {
          const Point3 lo = corner(beside.edge, at, {x, y, z});
          if (near(beside, lo)) cut.cells.push_back({lo, beside.edge, static_cast<double>(values[value])});
        }
  });
}

void find_footprint(PlaneCut& cut, const SlicePlane& plane) {
  for (const CutCell& cell : cut.cells) {
    const Shadow shadow = shadow_of(plane, cell);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto pixels = pixels_of(shadow.middle[i], shadow.reach[i], plane.view.pixels[i]);
      const bool fresh = cut.last[i] == 0;
      cut.first[i] = fresh ? pixels[0] : std::min(cut.first[i], pixels[0]);
      cut.last[i] = std::max(cut.last[i], pixels[1]);
    }
  }
}

// ------------------------------------------------------------------ drawing

/// The first column of [begin, end) for which `found` holds, which then holds to the end; a guess is near it.
template <class Found>
std::size_t first_column(double guess, std::size_t begin, std::size_t end, Found&& found) {
  auto at = static_cast<std::size_t>(
      std::clamp(guess, static_cast<double>(begin), static_cast<double>(end)));  // NaN cannot be: steps are not 0
  while (at > begin && found(at - 1)) --at;
  while (at < end && !found(at)) ++at;
  return at;
}

/// The sides of a cell that count: its own, the last cell's upper side and the clip's sides included.
std::array<double, 2> sides_of(const SlicePlane& plane, const CutCell& cell, std::size_t axis) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double lo = cell.lo[axis];
  double hi = lo + cell.edge;
  if (!plane.periodic[axis] && hi == plane.cells[axis]) hi = std::nextafter(hi, infinity);
  return {std::max(lo, plane.clip_lo[axis]), std::min(hi, std::nextafter(plane.clip_hi[axis], infinity))};
}

bool is_within(const SlicePlane& plane, std::size_t column, std::size_t row) {
  const AnyView& view = plane.view;
  const std::array<double, 2> at{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
  std::array<double, 2> place{};
  for (std::size_t i = 0; i < 2; ++i)
    place[i] = view.lo[i] + at[i] * (view.hi[i] - view.lo[i]) / static_cast<double>(view.pixels[i]);
  Point3 point{};
  for (std::size_t a = 0; a < static_cast<std::size_t>(plane.dim); ++a)
    point[a] = view.axes.right[a] * place[0] + view.axes.up[a] * place[1] + view.axes.towards[a] * view.depth_lo;
  return (*view.within)(point);
}

void draw_cell(Tile& tile, const SlicePlane& plane, const CutCell& cell, RowRange rows) {
  const Shadow shadow = shadow_of(plane, cell);
  const auto wide = pixels_of(shadow.middle[0], shadow.reach[0], plane.view.pixels[0]);
  const auto high = pixels_of(shadow.middle[1], shadow.reach[1], plane.view.pixels[1]);
  std::array<std::array<double, 2>, 3> sides{};
  const auto dim = static_cast<std::size_t>(plane.dim);
  for (std::size_t a = 0; a < dim; ++a) sides[a] = sides_of(plane, cell, a);
  for (std::size_t y = std::max(high[0], rows.first); y < std::min(high[1], rows.last); ++y) {
    RowRange columns{wide[0], wide[1]};
    for (std::size_t a = 0; a < dim && columns.first < columns.last; ++a) {
      columns = columns_in(plane, a, place_of_row(plane, a, y), sides[a][0], sides[a][1], columns);
    }
    double* const to = tile.sum.data() + (y - tile.first[1]) * tile.size[0];
    for (std::size_t x = columns.first; x < columns.last; ++x)
      if (!plane.view.within || is_within(plane, x, y)) to[x - tile.first[0]] = cell.value;
  }
}

}  // namespace

std::vector<int> moves_along(double lo, double hi, double cells, bool periodic) {
  if (!periodic) return {0};
  std::vector<int> moves;
  const auto last = static_cast<int>(std::floor(hi / cells));
  for (auto k = static_cast<int>(std::floor(lo / cells)); k <= last; ++k) moves.push_back(k);
  return moves;
}

double place_of_row(const SlicePlane& plane, std::size_t axis, std::size_t row) {
  const double place = plane.origin[axis] + (static_cast<double>(row) + 0.5) * plane.rise[axis];
  if (plane.step[axis] == 0) return on_side_if_near(place, plane.cells[axis]);
  return plane.rise[axis] == 0 ? 0.0 : place;
}

RowRange columns_in(const SlicePlane& plane, std::size_t axis, double row, double lo, double hi, RowRange columns) {
  const std::vector<double>& across = plane.across[axis];
  const double step = plane.step[axis];
  if (step == 0) return row >= lo && row < hi ? columns : RowRange{columns.first, columns.first};
  const double start = plane.rise[axis] == 0 ? plane.origin[axis] : row;
  // A guess rounded up is the first column behind the side; comparisons correct it.
  const double up = 0.5 - 1e-9, per_step = plane.columns_per_cell[axis];
  const double from_lo = (lo - start) * per_step + up, from_hi = (hi - start) * per_step + up;
  if (step > 0) {
    const std::size_t first =
        first_column(from_lo, columns.first, columns.last, [&](std::size_t p) { return row + across[p] >= lo; });
    return {first, first_column(from_hi, first, columns.last, [&](std::size_t p) { return row + across[p] >= hi; })};
  }
  const std::size_t first =
      first_column(from_hi, columns.first, columns.last, [&](std::size_t p) { return row + across[p] < hi; });
  return {first, first_column(from_lo, first, columns.last, [&](std::size_t p) { return row + across[p] < lo; })};
}

SlicePlane make_slice(const mesh::Header& header, const AnyView& view) {
  SlicePlane plane;
  plane.view = view;
  plane.dim = header.dim;
  plane.periodic = header.periodic;
  plane.size = mesh::cell_size(header, 0);
  const Orientation& axes = view.axes;
  std::array<double, 2> pixel{};
  for (std::size_t i = 0; i < 2; ++i) pixel[i] = (view.hi[i] - view.lo[i]) / static_cast<double>(view.pixels[i]);
  for (std::size_t a = 0; a < 3; ++a) {
    plane.cells[a] = static_cast<double>(header.roots[a] * header.block[a]);
    const double corner = axes.right[a] * view.lo[0] + axes.up[a] * view.lo[1] + axes.towards[a] * view.depth_lo;
    plane.origin[a] = (corner - header.lo[a]) / plane.size[a];
    plane.step[a] = axes.right[a] * pixel[0] / plane.size[a];
    plane.rise[a] = axes.up[a] * pixel[1] / plane.size[a];
    plane.columns_per_cell[a] = plane.step[a] == 0 ? 0 : 1 / plane.step[a];
    plane.clip_lo[a] = on_side_if_near((view.clip_lo[a] - header.lo[a]) / plane.size[a], plane.cells[a]);
    plane.clip_hi[a] = on_side_if_near((view.clip_hi[a] - header.lo[a]) / plane.size[a], plane.cells[a]);
    if (plane.step[a] == 0 && plane.rise[a] == 0) plane.origin[a] = on_side_if_near(plane.origin[a], plane.cells[a]);
    const bool own = plane.rise[a] == 0 && plane.step[a] != 0;  // columns alone decide
    for (std::size_t p = 0; p < view.pixels[0]; ++p) {
      const double across = (static_cast<double>(p) + 0.5) * plane.step[a];
      plane.across[a].push_back(own ? on_side_if_near(plane.origin[a] + across, plane.cells[a]) : across);
    }
  }
  const std::array<const Point3*, 2> directions{&axes.right, &axes.up};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t a = 0; a < static_cast<std::size_t>(plane.dim); ++a) {
      const double slope = (*directions[i])[a] * plane.size[a] / pixel[i];
      plane.pixels_per_cell[i][a] = slope;
      plane.pixel_of_origin[i] += slope * plane.origin[a];
      plane.sum_of_slopes[i] += slope;
      plane.widest[i] += std::abs(slope);
    }
  return plane;
}

PlaneCut cut_part(const mesh::Part& part, const mesh::Header& header, const SlicePlane& plane, const std::string& field,
                  int max_level) {
  const mesh::Field& values = cell_field(part, field);
  const mesh::Octree& tree = mesh::octree_of(part);
  std::array<std::vector<int>, 3> moves;
  for (std::size_t a = 0; a < 3; ++a)
    moves[a] = moves_along(plane.clip_lo[a], plane.clip_hi[a], plane.cells[a],
                           plane.periodic[a] && a < static_cast<std::size_t>(plane.dim));
  PlaneCut cut;
  for (int k : moves[2])
    for (int j : moves[1])
      for (int i : moves[0]) {
        const NearPlane near(plane, {i * plane.cells[0], j * plane.cells[1], k * plane.cells[2]}, tree);
        mesh::visit_values(values, [&](auto all) { list_cut(cut, tree, header, near, max_level, all); });
      }
  find_footprint(cut, plane);
  return cut;
}

Tile draw_cut(const SlicePlane& plane, const PlaneCut& cut, RowRange rows) {
  Tile tile;
  const std::size_t first = std::max(rows.first, cut.first[1]), last = std::min(rows.last, cut.last[1]);
  if (first >= last || cut.first[0] >= cut.last[0]) return tile;
  cover(Projection::maximum, tile, {cut.first[0], first}, {cut.last[0], last});
  for (const CutCell& cell : cut.cells) draw_cell(tile, plane, cell, {first, last});
  return tile;
}

}  // namespace octavo::analysis
