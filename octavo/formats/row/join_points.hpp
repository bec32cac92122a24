#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Meshes in several parts, as ranks write them: each part has its own points, and perhaps copies of others' cells.
namespace octavo::formats {

/// VTK's name and marks of places that another part has, or that are hidden (vtkDataSetAttributes.h).
inline constexpr const char* ghost_name = "vtkGhostType";
inline constexpr unsigned ghost_cells = 1U | 32U, ghost_points = 1U | 2U;

/// The points of several parts as those of one mesh.
struct JoinedPoints {
  std::vector<std::size_t> number_of;  ///< in the mesh, of each point of the parts
  std::vector<std::size_t> kept;       ///< the parts' point that each of the mesh's is
};

/// Points at one place, to the last bit, become one: the first that is no ghost. Points of one part stay apart, and
/// those at the same places in other parts: a crack. `places`: x, y, z of each point; `part_of` each one's part;
/// `ghosts`: 1 for copies of others' points, or empty. Throws Error(corrupt) for a place that is no number.
JoinedPoints join_points(std::span<const double> places, std::span<const std::size_t> part_of,
                         std::span<const char> ghosts);

}  // namespace octavo::formats
