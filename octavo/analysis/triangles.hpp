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
  std::int64_t triangle = -1;  ///< its number, if locate() found it
};
/// The shares of a triangle's points at a place, wherever it lies; they sum to 1. @pre the triangle has an area.
std::array<double, 3> shares_in(const mesh::Unstructured& mesh, const std::int64_t* points,
                                const std::array<double, 2>& place);
/// The triangle around each place, edges included; nothing outside of the mesh. One pass over the triangles.
std::vector<std::optional<TrianglePlace>> locate(const mesh::Unstructured& mesh,
                                                 std::span<const std::array<double, 2>> places);

/// The value at the middle of each pixel of the frame's rows; NaN where no triangle is, and where `mask` (as many
/// values, or none) is not above `above`. The sum of the tile holds the values, as that of a maximum does.
Tile draw(const mesh::Unstructured& mesh, std::span<const double> values, std::span<const double> mask, double above,
          const Frame& frame, RowRange rows);

/// The value at a height in a column of planes, linear between two of them; NaN above the highest and below the lowest.
/// A column without height has the value of its lowest plane.
double value_at_height(std::span<const double> heights, std::span<const double> values, double at);

/// A surface through prisms, seen from above.
struct Level {
  enum class Kind : std::uint8_t { height, depth, plane };
  Kind kind = Kind::plane;
  double at = 0;  ///< height above zero or depth below the uppermost plane [code length], or the plane's number from 0
};

/// The value of a field of all planes on the surface at the middle of each pixel: planes and values are linear in the
/// triangle, and values along the vertical between two planes. NaN above and below the mesh, and outside of it.
Tile draw(const mesh::Unstructured& mesh, std::span<const double> values, std::span<const double> elevation,
          const Level& level, const Frame& frame, RowRange rows);

}  // namespace octavo::analysis
