#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"

namespace octavo::telemac {

struct RefineOptions {
  int times = 1;                                      ///< each time four triangles for one
  std::optional<std::filesystem::path> boundary;      ///< .cli of the mesh
  std::optional<std::filesystem::path> boundary_out;  ///< where the refined one goes
  bool overwrite = false;
  base::Progress progress;  ///< in bytes written
};

struct RefineReport {
  std::int64_t elements = 0, points = 0, steps = 0, boundary_points = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> notes{};
};

/// Writes a 2-D SERAFIN file whose triangles are cut into four at the middles of their edges, with all its steps: new
/// points come behind the old ones and have the mean of their edge's ends, as places and as values; ranks on the
/// boundary are numbered anew, old and new in turn. A new boundary point has the means of its neighbours' values and
/// the codes and the colour of the one before it, or a wall's where either is a wall; colours that are only the lines'
/// numbers are numbered anew.
/// Throws Error(unsupported) for prisms, quadrangles, and a mesh that SERAFIN cannot hold.
RefineReport refine_triangles(const std::filesystem::path& mesh, const std::filesystem::path& out,
                              const RefineOptions& options);

}  // namespace octavo::telemac
