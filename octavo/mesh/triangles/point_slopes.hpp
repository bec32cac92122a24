#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "octavo/mesh/unstructured.hpp"

namespace octavo::mesh {

/// The slope along x (axis 0) or y (1) at each point, of values at points that are linear in each triangle: the mean of
/// the slopes of the triangles around the point, by area. NaN for a point of none. @pre one plane
std::vector<double> point_slopes(const Unstructured& mesh, std::span<const double> values, std::size_t axis);

}  // namespace octavo::mesh
