#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace octavo::formats::med {

/// MED's form of groups: entities with the same number.
struct Family {
  std::int32_t number = 0;  ///< above 0: of points; below: of elements and edges
  std::string name;
  std::vector<std::string> groups;  ///< that its entities are in
  bool operator==(const Family&) const = default;
};

/// The named groups of one mesh, and the edges that have boundary conditions.
struct Groups {
  std::vector<Family> families;     ///< all but family 0, which is in no group
  std::vector<std::int32_t> edges;  ///< shape (edges, 2), points from 0
  /// Family of each; empty: all 0. Of 3-D meshes "triangle" is a prism.
  std::vector<std::int32_t> of_edge, of_triangle, of_point;
  bool operator==(const Groups&) const = default;
};

/// Reads the groups of a mesh of FILE or FILE#MESH. Throws Error(corrupt) for edges of points that are not there.
Groups read_groups(const std::filesystem::path& path);

}  // namespace octavo::formats::med
