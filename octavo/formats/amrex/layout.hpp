#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Chooses the boxes of an octree that is written as an AMReX output.
namespace octavo::formats::amrex {

struct LayoutOptions {
  std::int64_t max_box = 64;         ///< length of the longest box [cells]
  std::int64_t blocking_factor = 0;  ///< boxes begin and end at multiples of this [cells]; 0: the largest of 8, 4, 2
  ///< and 1 that fits the cells and divides max_box
  int first = 0;           ///< tree level index of AMReX level 0: Header::unfolded of cell trees
  bool keep_boxes = true;  ///< take the boxes of the attributes (see below) if they fit the tree
};

/// The boxes of the output, and the tree level of each AMReX level. Decided from the tree alone.
struct BoxLayout {
  mesh::Patches patches;
  std::vector<int> index;            ///< tree level index of each level
  std::int64_t blocking_factor = 0;  ///< of new boxes
  bool kept = false;                 ///< the boxes are those of the attributes
};

/// Adds attributes that record how an output was laid out, so that a copy of a copy has the same boxes:
/// "patches/ratio", "patches/corner" (index of the domain's lower cell on level 0), "patches/boxes" (level, lower and
/// upper corner of each box, level after level).
void keep_layout(const mesh::Patches& patches, std::map<std::string, mesh::Attribute>& attributes);

/// The boxes of that list, for each of `levels` levels. Empty if there is none, or it makes no sense.
std::vector<std::vector<mesh::IndexBox>> listed_boxes(const mesh::Header& header, int dim, std::size_t levels);

/// Plans the boxes. Takes ratios and index origin from the attributes if they fit the tree; else each tree level from
/// `first` on is an AMReX level, and the domain begins at 0. New boxes are runs of cubes of `blocking_factor` cells.
/// The levels must consist of whole cubes; else Error(unsupported) counts the incomplete ones and lists the first.
/// Throws Error(usage) if max_box is no multiple of the blocking factor. `tree` is whole, every cell from `first` on
/// owned.
BoxLayout plan_layout(const mesh::Header& header, const mesh::Octree& tree, const LayoutOptions& options);

}  // namespace octavo::formats::amrex
