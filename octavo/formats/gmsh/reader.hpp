#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// The contents of a Gmsh file, as they stand there. For formats/gmsh alone.
namespace octavo::formats::gmsh {

struct Surface {
  std::vector<std::int64_t> tags;                  ///< of the points, in the file's order
  std::vector<std::array<double, 3>> places;       ///< of the points
  std::vector<std::array<std::int64_t, 4>> cells;  ///< tags of the corners; a triangle's last is -1
  std::vector<std::string> notes;
};

/// Throws Error with file and byte.
Surface read_surface(const std::filesystem::path& path);

}  // namespace octavo::formats::gmsh
