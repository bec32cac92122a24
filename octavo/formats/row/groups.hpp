#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace octavo::formats {

/// Entities of a mesh that are in the same groups. They have a number in common, as MED has it.
struct GroupFamily {
  std::int32_t number = 0;  ///< above 0: of points; below: of elements and edges
  std::string name;
  std::vector<std::string> groups;  ///< that its entities are in
  bool operator==(const GroupFamily&) const = default;
};

/// The named groups of one mesh of triangles or solids, and the edges and sides that have boundary conditions.
struct MeshGroups {
  std::vector<GroupFamily> families;  ///< all but family 0, which is in no group
  std::vector<std::int32_t> edges;    ///< shape (edges, 2), points from 0
  /// Family of each; empty: all 0. In 3-D meshes a "triangle" is a prism or a solid. A quadrangle's triangles have the
  /// same.
  std::vector<std::int32_t> of_edge, of_triangle, of_point;
  /// Sides of solids that are in groups: shape (sides, 4), points from 0; the last of a triangle is -1.
  std::vector<std::int32_t> sides{};
  std::vector<std::int32_t> of_side{};  ///< family of each
  bool operator==(const MeshGroups&) const = default;
};

}  // namespace octavo::formats
