#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/formats/amrex/carried.hpp"
#include "octavo/formats/amrex/layout.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::amrex {

struct DatasetWriteOptions {
  WriteOptions files;
  LayoutOptions layout;
  bool checkpoint = false;                ///< not a plotfile
  std::string title = "Checkpoint file";  ///< of a checkpoint whose Header is made anew
  std::string multifab;                   ///< of a checkpoint: that of all fields of cells; empty: those that
                                          ///< the step came in, else "state"
  std::vector<double> level_dt;           ///< of a checkpoint; empty: the attribute "level_dt"
  std::int64_t batch_cells = std::int64_t{1} << 22;  ///< cells of the boxes that are in memory at once
  int threads = 1;                                   ///< that read parts
  base::Ranks ranks{};                               ///< that share the batches
};

struct DatasetWriteReport {
  std::int64_t boxes = 0;
  bool kept_boxes = false;
  std::int64_t blocking_factor = 0;  ///< of new boxes
};

/// Writes a step whose parts are octrees, of cells or blocks: each level's cells, refined ones too, as boxes. In memory
/// are the whole tree, the values of two parts a thread and of a batch of boxes, and the particles (on the first rank).
/// A part is read once for each batch that it has cells of. Neither boxes nor bytes depend on how the step is cut into
/// parts, on threads or on ranks. Collective.
///
/// A checkpoint of AMReX is written as it was, with its Header and side files, where that is possible (carried.hpp).
///
/// Throws Error(usage) where `path` exists, Error(unsupported) for fields that are not floating-point, and as
/// plan_layout and mesh::whole_tree do; for checkpoints as header_form and level_dt, too.
DatasetWriteReport write_dataset(const mesh::Dataset& dataset, const std::filesystem::path& path,
                                 const DatasetWriteOptions& options = {});

}  // namespace octavo::formats::amrex
