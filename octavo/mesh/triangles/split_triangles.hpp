#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo::mesh {

/// Every triangle cut into four at the middles of its edges.
struct SplitTriangles {
  /// Shape (4 * triangles, 3): triangle e becomes 4e to 4e + 3, at its three corners and in the middle, turning as it
  /// did.
  std::vector<std::int32_t> connectivity;
  /// The ends, lower number first, of the edge whose middle is point `points` + i; by lower end, then by the other.
  std::vector<std::array<std::int32_t, 2>> edges;
};

/// `connectivity`: shape (triangles, 3), points from 0. Throws Error(unsupported) where the points would pass 32 bits.
/// Memory at the worst: 64 bytes a triangle besides the result.
SplitTriangles split_triangles(std::span<const std::int32_t> connectivity, std::int32_t points);

}  // namespace octavo::mesh
