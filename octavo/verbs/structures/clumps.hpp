#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/clumps.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"

namespace octavo::verbs {

struct ClumpsOptions {
  std::string field{};
  double above = 0;                      ///< cells with a larger value belong to clumps [unit of the field]
  std::optional<mesh::Region> region{};  ///< takes cells by their centre
  std::optional<int> max_level{};        ///< the code's own number
  std::string where{};                   ///< a condition on cells, a formula; empty: all
  step::Definitions definitions{};       ///< fields may also be formulas (step/fields.hpp)
  int threads = 0;                       ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

struct Clumps {
  std::vector<analysis::Clump> clumps;                  ///< the heaviest first
  std::vector<std::vector<std::uint32_t>> part_clumps;  ///< [part of the selection][its clumps]: places in `clumps`
  std::string field, unit;
  double above = 0;
  bool has_mass = false;
  std::string mass_unit;        ///< empty: not known
  std::string selection;        ///< region and level as text; empty: everything
  double time = 0;              ///< [code time]
  std::vector<int> parts;       ///< parts that were read, ascending; on rank 0
  std::int64_t bytes_read = 0;  ///< upper limit, of all ranks
};

/// The sets of selected leaves above a threshold that hang together by their sides, across levels, parts and periodic
/// sides. Reads each part once. Memory: a part for each thread and 130 bytes for each of its leaves; and of all parts,
/// on each rank, 200 bytes for each clump of a part and 80 for each leaf above the threshold at the part's border. The
/// same bits for any number of threads and ranks; every rank gets all. Collective. Throws Error(usage) for an unknown
/// field or a threshold that is no number; Error(unsupported) for triangles.
Clumps clumps(const step::SharedStep& step, const ClumpsOptions& options);

/// The step with one more field, "clump" (int64): of each leaf in clump i of those that the same options gave,
/// labels[i]; 0 of all other cells, refined ones too. `part_clumps` and `parts` are those of the result, `step` is open
/// on each rank that reads. A part is read twice for it: its own request, and what the clumps were found by. Throws
/// Error(usage) where the step has a field of this name, or another number of clumps in a part.
mesh::Dataset with_labels(const mesh::Dataset& step, const ClumpsOptions& options, const std::vector<int>& parts,
                          const std::vector<std::vector<std::uint32_t>>& part_clumps,
                          const std::vector<std::int64_t>& labels);

}  // namespace octavo::verbs
