#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/statistics.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

struct StatsOptions {
  std::optional<std::vector<std::string>> fields{};  ///< may name fields of mesh/geometry.hpp too; nothing: all
  std::optional<mesh::Region> region{};              ///< cells whose centre, particles whose position is inside
  std::optional<int> max_level{};                    ///< the code's own number
  bool particles = true;
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

struct Stats {
  analysis::Statistics statistics;
  std::vector<int> parts;       ///< read, ascending
  std::int64_t bytes_read = 0;  ///< at most, of all ranks
  std::string selection;        ///< region and level as text; empty: everything
};

/// Statistics over the owned leaf cells (analysis::Selection), one part a thread at a time. The same bits for any
/// number of threads and ranks; every rank gets the result. Collective. Throws Error(usage) for an unknown field,
/// Error(unsupported) for a mesh that is not an octree or of triangles. On triangles "leaves" are points, volumes are
/// areas, and integrals are those of the function that is linear between the points.
Stats stats(const mesh::Dataset& dataset, const StatsOptions& options);

}  // namespace octavo::verbs
