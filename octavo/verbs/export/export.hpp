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
  std::optional<std::vector<std::string>> species{};  ///< of particles; nothing: all
  bool single_precision = false;                      ///< reals of 4 bytes
  bool overwrite = false;
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts, of each of two passes
};

struct ExportReport {
  std::int64_t cells = 0;   ///< of the file, refined and hidden ones too; of particles, their number
  std::int64_t leaves = 0;  ///< shown: the cells of the selection
  std::int64_t means = 0;   ///< refined cells whose value the step does not hold: the mean of those shown below
  std::vector<std::string> species;  ///< of particles, by the numbers of field "species"
  std::vector<std::string> fields;
  std::int64_t bytes = 0;  ///< of the file; on rank 0
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

/// Writes the selected cells as an unstructured grid (VTKHDF) of voxels, of pixels or of lines, which share no points.
/// Parts one after another; in a part coarse levels come first. Memory: for each thread a part with its fields, and
/// some megabytes. The rest is as in export_hyper_trees, but blocks may be of any size.
ExportReport export_cells(const step::SharedStep& step, const std::filesystem::path& out, const ExportOptions& options);

/// Writes the selected cells as boxes on levels (VTKHDF OverlappingAMR), of 3-D data. The first level is the coarsest
/// one with a selected leaf; each level has its leaves, and its refined cells with the values that the step holds for
/// them. Boxes take whole families of cells; those that are not selected are NaN (0 among integers). Reads the tree of
/// each part twice, then its fields. Memory: for each thread a part with its fields, and all boxes, 56 bytes each. The
/// rest is as in export_hyper_trees, but blocks may be of any size. Error(unsupported) for 1-D and 2-D data, whose
/// boxes VTK does not hide under finer ones.
ExportReport export_boxes(const step::SharedStep& step, const std::filesystem::path& out, const ExportOptions& options);

/// Writes particles as points (VTKHDF PolyData): those whose position is in the region. Fields are the attributes of
/// all species, NaN (0 among integers) where a species lacks one, and "family", the number of the species in the
/// report. `options.fields` are attributes; levels and conditions do not choose particles. Reads the particles of each
/// part twice. Memory: for each thread a part's particles. Collective; the file has the same bits for any number of
/// threads and ranks. Throws Error(usage) for unknown species or attributes, where no particle is selected, or where
/// `out` exists and overwrite is not set.
ExportReport export_particles(const step::SharedStep& step, const std::filesystem::path& out,
                              const ExportOptions& options);

}  // namespace octavo::verbs
