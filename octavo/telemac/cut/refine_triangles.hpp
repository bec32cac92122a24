#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"

namespace octavo::telemac {

struct RefineOptions {
  int times = 1;                                      ///< each time, one triangle becomes four
  std::optional<std::filesystem::path> boundary;      ///< .cli of the mesh
  std::optional<std::filesystem::path> boundary_out;  ///< path of the refined .cli
  bool overwrite = false;
  base::Progress progress;  ///< in bytes written
};

struct RefineReport {
  std::int64_t elements = 0, points = 0, steps = 0, boundary_points = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> notes{};
};

/// Writes a 2-D SERAFIN file with all its steps, in which each triangle is cut into four at the middles of its edges.
/// New points come behind the old ones. Their places and values are the means of their edge's ends. Ranks on the
/// boundary (IPOBO) are numbered anew, old and new points in turn. A new boundary point gets the mean values of its
/// neighbours, and the codes and colour of the point before it, or a wall's if either neighbour is a wall. Colours that
/// are only line numbers are numbered anew.
/// Throws Error(unsupported) for prisms, quadrangles, and a mesh that SERAFIN cannot hold.
RefineReport refine_triangles(const std::filesystem::path& mesh, const std::filesystem::path& out,
                              const RefineOptions& options);

}  // namespace octavo::telemac
