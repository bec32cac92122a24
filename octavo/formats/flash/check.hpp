#pragma once
#include <string>
#include <vector>

#include "octavo/formats/flash/tree_arrays.hpp"

namespace octavo::formats::flash {

/// A file's tree, checked.
struct CheckedTree {
  Frame frame;
  BlockTree tree;       ///< rows are those of the file
  TreeArrays arrays;    ///< in Morton order, ids counted so; gid, gsurr_blks, which child and node type repaired
  bool single = false;  ///< positions are stored as float
  std::vector<std::string> notes;  ///< what was repaired
};

/// Reads the tree and proves it: levels and bounding boxes make a 2:1 tree without gaps; "block size" and "coordinates"
/// agree with the boxes to 1/1000 of a block; "node type", "which child", "gid" and "gsurr_blks" are exactly those of
/// that tree (boundaries: any kind from -20 to -50). Error(corrupt) at the file and data set names the block and what
/// was expected and found.
///
/// Files in the manner of AMReX builds (gid all -1, no "which child", "bflags" and "gsurr_blks", node types 1 and 2,
/// blocks in any order) are repaired; so are ids that count in Morton order where the rows are not in it.
CheckedTree read_tree(const Source& source, const Attributes& attributes);

}  // namespace octavo::formats::flash
