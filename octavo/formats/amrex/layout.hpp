#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Which boxes an octree becomes when it is written as an AMReX output.
namespace octavo::formats::amrex {

struct LayoutOptions {
  std::int64_t max_box = 64;         ///< boxes are at most so long [cells]
  std::int64_t blocking_factor = 0;  ///< they begin and end at multiples of so many cells; 0: the largest of 8, 4, 2
                                     ///< and 1 that fits the cells and divides max_box
  int first = 0;           ///< tree level index that is level 0: Header::unfolded of cell trees
  bool keep_boxes = true;  ///< those of the attributes (see below), where they fit the tree
};

/// The boxes of the output, and the tree level of each AMReX level. Decided from the tree alone.
struct Layout {
  mesh::Patches patches;
  std::vector<int> index;            ///< tree level index of each level
  std::int64_t blocking_factor = 0;  ///< of new boxes
  bool kept = false;                 ///< the boxes are those of the attributes
};

/// Adds attributes that record how an output was laid out, so that a copy of a copy has the same boxes: "amrex/ratio",
/// "amrex/corner" (index of the domain's lower cell on level 0), "amrex/boxes" (level, lower and upper corner of each
/// box, level after level).
void keep_layout(const mesh::Patches& patches, std::map<std::string, mesh::Attribute>& attributes);

/// Ratios and the index origin are those of the attributes, where they fit the tree; else each level of the tree from
/// `first` on is one, and the domain begins at 0. New boxes are runs of cubes of `blocking_factor` cells, which the
/// levels must be made of: Error(unsupported) says how many are there in part only, and lists the first.
/// Error(usage) where max_box is no multiple of the blocking factor. `tree` is whole, every cell from `first` on owned.
Layout plan_layout(const mesh::Header& header, const mesh::Octree& tree, const LayoutOptions& options);

}  // namespace octavo::formats::amrex
