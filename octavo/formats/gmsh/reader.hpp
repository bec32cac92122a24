#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// The contents of a Gmsh file, as they stand there. For formats/gmsh alone.
namespace octavo::formats::gmsh {

struct GmshElements {
  std::vector<std::int64_t> tags;             ///< of the points, in the file's order
  std::vector<std::array<double, 3>> places;  ///< of the points
  /// Tags of the corners of solids, each solid once; the corners that one lacks are -1.
  std::vector<std::array<std::int64_t, 8>> solids;
  /// The same of triangles and quadrangles: all, or those that are in groups if there are solids.
  std::vector<std::array<std::int64_t, 4>> cells;
  std::int64_t left_out = 0;                        ///< the others
  std::vector<std::array<std::int64_t, 2>> lines;   ///< tags of the ends of lines that are in groups, each line once
  std::vector<std::array<std::int64_t, 1>> points;  ///< tags of the points that are in groups, each once
  /// The physical groups that an element is in, by their numbers, ascending. The first set is empty.
  std::vector<std::vector<std::int64_t>> sets;
  std::vector<std::int32_t> set_of_solid, set_of_cell, set_of_line, set_of_point;  ///< index into `sets`
  std::map<std::pair<int, std::int64_t>, std::string> names;  ///< of groups, by dimension and number
  std::vector<std::string> notes;
};

/// Throws Error with file and byte.
GmshElements read_elements(const std::filesystem::path& path);

}  // namespace octavo::formats::gmsh
