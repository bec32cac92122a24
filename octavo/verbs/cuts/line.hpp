#pragma once
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/line.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"

namespace octavo::verbs {

struct LineOptions {
  std::vector<std::string> fields{};     ///< may also name fields of mesh/geometry.hpp
  std::string from{}, to{};              ///< ends, in the words of find_place()
  std::optional<mesh::Region> region{};  ///< clips the line exactly
  std::optional<int> max_level{};        ///< the code's own number; finer cells are never read
  std::string where{};                   ///< a condition on cells, a formula; the others' values are NaN; empty: all
  step::Definitions definitions{};       ///< fields may also be names and formulas of step/fields.hpp
  int threads = 0;                       ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

/// The leaves on a line, in order.
struct LineTable {
  mesh::Point3 from{}, to{};  ///< [code length]
  double length = 0;          ///< of the whole line [code length]
  std::vector<std::string> fields, units;
  analysis::Chords chords;      ///< ascending by entry
  std::string selection;        ///< region and level as text; empty: everything
  double time = 0;              ///< [code time]
  std::vector<int> parts;       ///< parts that were read, ascending; on rank 0
  std::int64_t bytes_read = 0;  ///< upper limit, of all ranks
};

/// The exact chords of a line through the leaves, and their values (analysis::Chord). Reads only the parts near the
/// line, and of them the fields named. Memory: the table, and a part for each thread. The table has the same bits for
/// any number of threads and ranks; every rank gets it. Collective. Throws Error(usage) for an unknown field, a line
/// without length, or one that meets no cell of the selection; Error(unsupported) for triangles. In solids a chord's
/// value is the mean over it (analysis/solids/solid_line.hpp).
LineTable line(const step::SharedStep& step, const LineOptions& options);

}  // namespace octavo::verbs
