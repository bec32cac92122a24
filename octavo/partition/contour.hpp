#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/partition/cut.hpp"

namespace octavo::partition {

/// The closed lines around a mesh: where each boundary point leads to, the domain on the left hand.
struct Contour {
  std::vector<std::int32_t> next, previous;  ///< by position in `boundary`: positions in it
  std::vector<std::int32_t> element;         ///< behind the edge from this point to the next one
};

/// An edge of one element, as that has it: the domain on the left hand.
struct BoundaryEdge {
  std::int32_t from = 0, to = 0;
  std::int32_t element = 0;
};

/// The lines that edges make. `boundary`: their points, from 0, in any order. Throws Error(corrupt) that names a point
/// which no line passes through, or two do, or which is not in `boundary`.
Contour link_edges(std::span<const BoundaryEdge> edges, std::span<const std::int32_t> boundary);

/// The same from a mesh, whose edges between those points it looks at. Throws Error(corrupt) that names a point where
/// the mesh's boundary (edges of one element) passes through other points than those, or twice through one; elements
/// must turn counter-clockwise.
Contour trace_contour(Connectivity connectivity, std::int32_t points, std::span<const std::int32_t> boundary);

/// How many elements turn which way, by the positions of their points. Elements without an area turn neither way.
struct Turns {
  std::int64_t clockwise = 0, counter_clockwise = 0;  ///< numbers of elements
  std::int32_t first = -1;                            ///< the first clockwise element
};
/// `x` and `y` give a point's coordinates.
template <class X, class Y>
Turns find_turns(Connectivity connectivity, X&& x, Y&& y) {
  Turns turns;
  for (std::size_t e = 0; 3 * e < connectivity.size(); ++e) {
    const std::int32_t a = connectivity[3 * e], b = connectivity[3 * e + 1], c = connectivity[3 * e + 2];
    const double area = (x(b) - x(a)) * (y(c) - y(a)) - (x(c) - x(a)) * (y(b) - y(a));
    if (area < 0 && turns.clockwise == 0) turns.first = static_cast<std::int32_t>(e);
    turns.clockwise += area < 0;
    turns.counter_clockwise += area > 0;
  }
  return turns;
}
/// The edges of one element, by their points. Elements must turn one way.
std::vector<BoundaryEdge> find_boundary_edges(Connectivity connectivity, std::int32_t points);

/// The points on edges of one element, as their lines run: for a mesh whose numbering of the boundary is lost (a merged
/// 3-D result has zeros). Lines begin at their south-western point, that of the lowest x + y first.
std::vector<std::int32_t> find_boundary(Connectivity connectivity, std::span<const double> x,
                                        std::span<const double> y);

/// Points in that order, from lines. `x`, `y`: by position in `points`.
std::vector<std::int32_t> order_boundary(std::span<const std::int32_t> points, const Contour& contour,
                                         std::span<const double> x, std::span<const double> y);

}  // namespace octavo::partition
