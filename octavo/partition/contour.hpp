#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/partition/cut.hpp"

namespace octavo::partition {

/// The closed lines around a mesh: the next boundary point of each boundary point, with the domain on the left.
struct Outline {
  std::vector<std::int32_t> next, previous;  ///< positions in `boundary`, by position in `boundary`
  std::vector<std::int32_t> element;         ///< the element of the edge from this point to the next
};

/// An edge that belongs to one element only, in that element's direction: the domain is on the left.
struct BoundaryEdge {
  std::int32_t from = 0, to = 0;
  std::int32_t element = 0;
};

/// Joins edges to closed lines. `boundary`: their points, counted from 0, in any order. Throws Error(corrupt) that
/// names a point if no line or two lines pass through it, or if `boundary` lacks it.
Outline link_edges(std::span<const BoundaryEdge> edges, std::span<const std::int32_t> boundary);

/// Traces the lines of a mesh along the given boundary points. Elements must turn counter-clockwise. Throws
/// Error(corrupt) that names a point if the mesh's boundary (edges of one element) passes through other points than
/// those given, or twice through one.
Outline trace_contour(Connectivity connectivity, std::int32_t points, std::span<const std::int32_t> boundary);

/// How many elements turn clockwise and counter-clockwise, by the positions of their points. Elements without area
/// count as neither.
struct Turns {
  std::int64_t clockwise = 0, counter_clockwise = 0;  ///< how many elements
  std::int32_t first = -1;                            ///< the first clockwise element
};
/// `x` and `y` return the coordinates of a point.
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
/// The edges that belong to one element only. All elements must turn the same way.
std::vector<BoundaryEdge> find_boundary_edges(Connectivity connectivity, std::int32_t points);

/// The boundary points of a mesh, line after line. It serves meshes whose numbering of the boundary is lost (a merged
/// 3-D result has zeros). Each line begins at its south-western point, that with the lowest x + y; lines are sorted by
/// this sum.
std::vector<std::int32_t> find_boundary(Connectivity connectivity, std::span<const double> x,
                                        std::span<const double> y);

/// Sorts the points of known lines in the order of find_boundary(). `x`, `y`: by position in `points`.
std::vector<std::int32_t> order_boundary(std::span<const std::int32_t> points, const Outline& contour,
                                         std::span<const double> x, std::span<const double> y);

}  // namespace octavo::partition
