#pragma once
#include <array>
#include <vector>

#include "octavo/mesh/unstructured.hpp"

/// Polygons over a mesh of triangles, seen from above.
namespace octavo::mesh {

/// The corners of a closed line, either way around; the last is joined to the first.
using Ring = std::vector<std::array<double, 2>>;
/// The places from which a way out crosses the rings an odd number of times: a ring in a ring is a hole.
using Polygon = std::vector<Ring>;

/// Throws Error(usage) unless each ring has three corners or more, all are finite, and no two edges of the rings cross.
void validate(const Polygon& polygon);

/// A place on a side is inside or outside as rounding has it.
bool contains(const Polygon& polygon, const std::array<double, 2>& place);

/// The weight of each point of a plane: the integral over the polygon of the function that is 1 there, 0 at the other
/// points, and linear in the triangles. The sum of value times weight is the integral over the polygon, exact but for
/// rounding. [code length^2]
std::vector<double> point_weights(const Unstructured& mesh, const Polygon& polygon);

}  // namespace octavo::mesh
