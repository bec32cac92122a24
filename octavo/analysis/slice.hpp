#pragma once
#include <memory>
#include <string>
#include <vector>

#include "octavo/analysis/orientation.hpp"
#include "octavo/analysis/tile.hpp"

namespace octavo::analysis {

/// A plane, ready to be drawn: the place of each pixel's centre. A pixel takes the value of the leaf in which its
/// centre lies. A cell has its lower sides, not its upper ones: a centre on a side between two cells shows the one with
/// the larger coordinate. The domain's upper side belongs to the last cells, or where the axis is periodic to the
/// first. Each centre is computed once, in units in which all sides of cells are exact numbers, and compared with them:
/// it is in one leaf, whatever the parts and levels.
struct SlicePlane {
  AnyView view;
  int dim = 3;
  mesh::Point3 size{};   ///< of a cell of level 0 [code length]
  mesh::Point3 cells{};  ///< of level 0, of the domain
  std::array<bool, 3> periodic{};
  mesh::Point3 origin{}, step{}, rise{};  ///< place of the window's corner; from column to column; from row to row
  mesh::Point3 clip_lo{}, clip_hi{};      ///< all in cells of level 0 from the domain's lower corner
  mesh::Point3 columns_per_cell{};        ///< 1 / step; 0 where the step is 0
  /// Where a place is in the picture, in pixels: the sum over the axes of slope * place, less the origin's. And the
  /// sums of the slopes, and of their sizes: of a cell of level 0.
  std::array<mesh::Point3, 2> pixels_per_cell{};
  std::array<double, 2> pixel_of_origin{}, sum_of_slopes{}, widest{};
  std::array<std::vector<double>, 3> across;  ///< share of a column in its place
};

/// @pre the header is of 3-D data, or of 2-D data and the view is along z.
SlicePlane make_slice(const mesh::Header& header, const AnyView& view);

/// The share of a row in the places of its pixels' centres: the place of pixel p is this plus across[axis][p]. Where
/// columns or rows alone decide, a place that is a side but for rounding is that side.
double place_of_row(const SlicePlane& plane, std::size_t axis, std::size_t row);

/// The columns of a row whose centre lies in [lo, hi) along an axis; `row` is its place_of_row.
RowRange columns_in(const SlicePlane& plane, std::size_t axis, double row, double lo, double hi, RowRange columns);

/// By how many domains' lengths the mesh can be moved along an axis to show between two places, in cells of level 0.
std::vector<int> moves_along(double lo, double hi, double cells, bool periodic);

/// A leaf that the plane may cut: its sides, in cells of level 0.
struct CutCell {
  mesh::Point3 lo;
  double edge;
  double value;
};

/// The leaves of a part near the plane, and the pixels first <= p < last that they may show in.
struct PlaneCut {
  std::vector<CutCell> cells;
  std::array<std::size_t, 2> first{0, 0}, last{0, 0};
};

/// Looks at the cells near the plane, and above them in the tree, only. `max_level`: the code's own number, as in
/// Selection. See cell_field for errors.
PlaneCut cut_part(const mesh::Part& part, const mesh::Header& header, const SlicePlane& plane, const std::string& field,
                  int max_level);

/// Some rows of the cut, for an image of kind Projection::maximum: no pixel is drawn twice.
Tile draw_cut(const SlicePlane& plane, const PlaneCut& cut, RowRange rows);

}  // namespace octavo::analysis
