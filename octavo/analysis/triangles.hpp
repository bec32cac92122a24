#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "octavo/analysis/tile.hpp"
#include "octavo/mesh/unstructured.hpp"

/// Values at points of triangles, linear in between. Planes of a 3-D mesh are arrays of their own here.
namespace octavo::analysis {

/// A third of the area of the triangles around each point of one plane [code length^2]: the sum of value times this is
/// the integral of the function that is linear in the triangles.
std::vector<double> point_areas(const mesh::Unstructured& mesh);

/// The share of a column's height that each point carries: half the distance to the planes above and below. `elevation`
/// and the result: plane after plane, from the bottom. [code length]
std::vector<double> point_heights(const mesh::Unstructured& mesh, std::span<const double> elevation);

/// One value a point of a plane, from all planes: integral over the height, mean over it, largest or smallest.
/// `elevation` is looked at for the first two. Columns of no height have the mean of their planes.
std::vector<double> flatten(const mesh::Unstructured& mesh, std::span<const double> values,
                            std::span<const double> elevation, Projection kind);

/// Where a place is: points of the triangle it lies in, and their shares.
struct TrianglePlace {
  std::array<std::int64_t, 3> points{};
  std::array<double, 3> shares{};
};
/// The triangle around each place, edges included; nothing outside of the mesh. One pass over the triangles.
std::vector<std::optional<TrianglePlace>> locate(const mesh::Unstructured& mesh,
                                                 std::span<const std::array<double, 2>> places);

/// The value at the middle of each pixel of the frame's rows; NaN where no triangle is, and where `mask` (as many
/// values, or none) is not above `above`. The sum of the tile holds the values, as that of a maximum does.
Tile draw(const mesh::Unstructured& mesh, std::span<const double> values, std::span<const double> mask, double above,
          const Frame& frame, RowRange rows);

}  // namespace octavo::analysis
