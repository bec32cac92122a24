#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "octavo/analysis/tile.hpp"
#include "octavo/mesh/region.hpp"

/// A tetrahedron as a picture sees it: the length of the line of sight in it is a tent, which stands on its shadow.
namespace octavo::analysis {

/// A corner of a tetrahedron: column and row [pixels], depth [code length], and what is linear in it.
struct SeenCorner {
  mesh::Point3 at{};
  double value = 0, weight = 1;
};
using SeenTetrahedron = std::array<SeenCorner, 4>;

/// Adds tetrahedra to the pixels of a tile.
class TentDrawer {
 public:
  /// `tile` has its place and size; its values are made here.
  TentDrawer(Projection kind, Tile& tile);
  void draw(const SeenTetrahedron& tetrahedron);

  /// A place of the shadow: the length in the tetrahedron, and values and weights where the line of sight enters and
  /// leaves it. All are linear in each triangle around the tent's pole.
  struct Stop {
    std::array<double, 2> at{};  ///< [pixels from `origin_`]
    double length = 0;
    std::array<double, 2> value{}, weight{};
  };
  /// A function that is linear in the picture.
  struct Slope {
    double at_origin = 0, across = 0, up = 0;
    double operator()(double x, double y) const { return at_origin + across * x + up * y; }
  };
  /// An edge of a triangle's shadow, by columns.
  struct Edge {
    double x = 0, y = 0, rise = 0;
    double operator()(double at) const { return y + rise * (at - x); }
  };

 private:
  /// Quantities that are linear in a triangle: the length, the mean of entry and exit, and their difference.
  struct Side {
    Slope length, value, value_change, weight, weight_change;
    std::array<double, 2> range{};  ///< of values, for extremes
  };
  /// A piece of a triangle between two columns' places, in which no edge passes a side of a pixel.
  struct Piece {
    double from = 0, to = 0;
    Edge lower, upper;
  };

  void draw_within_pixel(const SeenTetrahedron& tetrahedron, std::size_t column, std::size_t row);
  void draw_triangle(const Stop& a, const Stop& b, const Stop& c);
  void draw_column(const Edge& lower, const Edge& upper, double from, double to, const Side& side);
  /// Whole rows of one column, for an integral or a mean; exact.
  void add_rows(double from, double to, double first, double last, const Side& side);
  void draw_between(const Edge& lower, const Edge& upper, double from, double to, const Side& side);
  void draw_piece(const Piece& piece, const Side& side);
  void add_pixel(const Piece& piece, double row, const Side& side, std::size_t pixel);
  void add_extremes(const Piece& piece, double row, const Side& side, std::size_t pixel);
  void take_extreme(double value, std::size_t pixel);

  Projection kind_;
  Tile& tile_;
  std::array<double, 2> origin_{};  ///< of the tetrahedron at work: a corner of a pixel, so that numbers are small
  std::vector<double> stops_;       ///< kept for its memory
};

}  // namespace octavo::analysis
