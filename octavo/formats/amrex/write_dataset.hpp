#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::amrex {

struct DatasetWriteOptions {
  WriteOptions files;
  std::int64_t max_box = 64;  ///< boxes are at most so long [cells], but at least one block of the tree
  int first = 0;              ///< tree level index that is level 0: Header::unfolded of cell trees
  bool keep_boxes =
      true;  ///< the boxes, ratios and index origin of the attributes (see below), where they fit the tree
  bool checkpoint = false;                           ///< write_checkpoint's form, not a plotfile
  std::string title = "Checkpoint file";             ///< of a checkpoint
  std::int64_t batch_cells = std::int64_t{1} << 22;  ///< cells of the boxes that are in memory at once
  int threads = 1;                                   ///< that read parts
  base::Ranks ranks{};                               ///< that share the batches
};

struct DatasetWriteReport {
  std::int64_t boxes = 0;
  bool kept_boxes = false;
};

/// Attributes by which the reader hands on how an output was laid out, so that a copy of a copy has the same boxes:
/// "amrex/kind" ("plotfile" or "checkpoint"), "amrex/ratio", "amrex/corner" (index of the domain's lower cell on level
/// 0), "amrex/boxes" (level, lower and upper corner of each box, level after level), "amrex/multifabs" (of a
/// checkpoint: the name of each field's).
void keep_layout(const mesh::Patches& patches, std::map<std::string, mesh::Attribute>& attributes);

/// Writes a step whose parts are octrees, of cells or blocks: each level's cells, refined ones too, as boxes. In memory
/// are the whole tree, the values of two parts a thread and of a batch of boxes, and the particles (on the first rank).
/// A part is read once for each batch that it has cells of. Neither boxes nor bytes depend on how the step is cut into
/// parts, on threads or on ranks. Collective.
///
/// Throws as write_plotfile does, and Error(corrupt) where the parts leave cells out.
DatasetWriteReport write_dataset(const mesh::Dataset& dataset, const std::filesystem::path& path,
                                 const DatasetWriteOptions& options = {});

}  // namespace octavo::formats::amrex
