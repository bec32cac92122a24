#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "octavo/analysis/triangles.hpp"

/// Polylines through a mesh of triangles, seen from above.
namespace octavo::analysis {

using Polyline = std::vector<std::array<double, 2>>;

/// A place on a polyline where the function that is linear in triangles may bend: the line crosses an edge there, or
/// bends, begins or ends.
struct TransectRow {
  double distance = 0;  ///< along the polyline [code length]
  std::array<double, 2> at{};
  TrianglePlace place;  ///< of a crossing: the edge's two points, and once more the first with no share
  bool begins = false;  ///< the line enters the mesh here: between the row before and this one there is no triangle
  std::size_t leg = 0;  ///< the leg of the polyline, from 0, that leads to the row, or begins with it
};

/// Ascending by distance. Between two rows values are linear in the distance.
struct Transect {
  double length = 0;  ///< of the whole polyline [code length]
  std::vector<TransectRow> rows;
};

/// The rows of a polyline of two points or more. A leg along an edge has the edge's ends. Two triangles that share an
/// edge give the same bits for its crossing. Stretches shorter than 1e-12 of a leg are left out. Throws Error(usage)
/// for a polyline of fewer than two points, a leg without length, or coordinates that are not finite. Memory: the rows.
/// With `jumps` values are a function of their own in each triangle: each stretch has a row at both of its ends.
Transect transect_of(const mesh::Unstructured& mesh, const Polyline& line, bool jumps = false);

/// The value of an array of one plane at a place.
double linear_at(std::span<const double> values, const TrianglePlace& place);

/// A vertical cut: the planes' heights and values at the rows of a transect, [rows][planes].
struct Curtain {
  Transect transect;
  std::size_t planes = 0;
  std::vector<double> heights, values;
};
/// The value at the middle of each pixel of the frame's rows, whose axes are distance and height; NaN outside of the
/// mesh. The sum of the tile holds the values, as that of a maximum does.
Tile draw(const Curtain& curtain, const Frame& frame, RowRange rows);

}  // namespace octavo::analysis
