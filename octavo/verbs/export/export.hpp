#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"

namespace octavo::verbs {

struct ExportOptions {
  std::optional<std::vector<std::string>>
      fields{};                          ///< also names and formulas of step/fields.hpp; nothing: all stored
  std::optional<mesh::Region> region{};  ///< takes cells by their centre
  std::optional<int> max_level{};        ///< the code's own number
  std::string where{};                   ///< a condition on cells, a formula; empty: all
  step::Definitions definitions{};
  bool single_precision = false;  ///< reals of 4 bytes
  bool overwrite = false;
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts, of each of two passes
};

struct ExportReport {
  std::int64_t cells = 0;   ///< of the file, refined and hidden ones too
  std::int64_t leaves = 0;  ///< shown: the cells of the selection
  std::int64_t means = 0;   ///< refined cells whose value the step does not hold: the mean of those shown below
  std::vector<std::string> fields;
  std::int64_t bytes = 0;  ///< of the file
  std::vector<int> parts;  ///< parts that were read, ascending; on rank 0
  std::string selection;   ///< region, level and condition as text; empty: everything
  std::vector<std::string> notes;
};

/// Writes the selected cells of a step as one hyper tree grid (VTKHDF). Cells that are not selected are left out where
/// a whole subtree is, else hidden. A refined cell has the value that the step holds for it, else the mean of the shown
/// cells below it; a hidden cell is NaN, or 0 among integers. Blocks are unfolded.
///
/// Reads each part twice: its tree (and the condition's fields), then the fields. Memory: 6 bits for each cell of the
/// file and 16 bytes for each root and level, on every rank; for each thread a part with its fields, and one field of a
/// level of it. The file has the same bits for any number of threads and ranks. Collective.
///
/// Throws Error(usage) where no cell is selected, for an unknown field, or where `out` exists and overwrite is not set;
/// Error(unsupported) for triangles, for fields with other than one value a cell, and for blocks that are not of 2^k
/// cells along each axis.
ExportReport export_hyper_trees(const step::SharedStep& step, const std::filesystem::path& out,
                                const ExportOptions& options);

}  // namespace octavo::verbs
