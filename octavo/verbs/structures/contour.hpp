#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/contour.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"

namespace octavo::verbs {

struct ContourOptions {
  std::string field{};
  double at = 0;                         ///< value of the field on the surface [unit of the field]
  std::optional<mesh::Region> region{};  ///< takes cells by their centre
  std::optional<int> max_level{};        ///< the code's own number
  std::string where{};                   ///< a condition on cells, a formula; empty: all
  step::Definitions definitions{};       ///< fields may also be formulas (step/fields.hpp)
  int threads = 0;                       ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

struct Contour {
  analysis::Surface surface;
  std::string field, unit;
  double at = 0;
  std::string selection;        ///< region and level as text; empty: everything
  double time = 0;              ///< [code time]
  std::vector<int> parts;       ///< parts that were read, ascending; on rank 0
  std::int64_t bytes_read = 0;  ///< upper limit, of all ranks
};

/// The surface (of 2-D data, and of triangles: the lines; of solids: analysis::solid_surface) on which a field has a
/// value (analysis::Surface). It is closed but where it meets the outermost leaves' centres at the domain's sides, and
/// cells that the selection leaves out. Reads each part once. Memory: a part for each thread and 130 bytes for each of
/// its leaves; and of all parts, on each rank, the surface (about 90 bytes a point) and 80 bytes for each leaf at a
/// part's border. The same bits for any number of threads and ranks; every rank gets all. Collective. Throws
/// Error(usage) for an unknown field or a value that is no number; Error(unsupported) for 1-D data and prisms.
Contour contour(const step::SharedStep& step, const ContourOptions& options);

}  // namespace octavo::verbs
