#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/frame.hpp"
#include "octavo/analysis/statistics.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"

namespace octavo::verbs {

struct StatsOptions {
  std::optional<std::vector<std::string>> fields{};  ///< also names and formulas of step/fields.hpp; nothing: all
  std::optional<mesh::Region> region{};              ///< takes cells by their centre, particles by their position
  analysis::RegionEdge edge = analysis::RegionEdge::usual;  ///< clip: of a box, cells by the share of their volume
  std::optional<int> max_level{};                           ///< the code's own number
  std::string where{};                                      ///< a condition on cells, a formula; empty: all
  step::Definitions definitions{};
  bool particles = true;  ///< a condition does not choose among them
  int threads = 0;        ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

struct Stats {
  analysis::Statistics statistics;
  std::vector<int> parts;       ///< parts that were read, ascending; on rank 0
  std::int64_t bytes_read = 0;  ///< upper limit, of all ranks
  std::string selection;        ///< region and level as text; empty: everything
};

/// Statistics over the owned leaf cells (analysis::Selection), one part per thread at a time. The result has the same
/// bits for any number of threads and ranks; every rank gets it. Collective. Throws Error(usage) for an unknown field,
/// Error(unsupported) for a mesh that is neither an octree nor of triangles or solids, and for clipping of these or at
/// other regions than a box. On triangles, "leaves" are points, volumes
/// are areas, and integrals are those of the function that is linear between the points. Ranks share the fields. On
/// solids they are volumes; a region takes cells by their centroid, and points count with what they have of these.
Stats stats(const step::SharedStep& step, const StatsOptions& options);

}  // namespace octavo::verbs
