#pragma once
#include <string>
#include <vector>

#include "octavo/formats/flash/tree_arrays.hpp"

namespace octavo::formats::flash {

/// The tree of a file, after all checks.
struct CheckedTree {
  TreeFrame frame;
  BlockTree tree;       ///< rows are those of the file
  TreeArrays arrays;    ///< in Morton order, as are its ids; gid, gsurr_blks, which child and node type are repaired
  bool single = false;  ///< positions are stored as float
  std::vector<std::string> notes;  ///< what was repaired
};

/// Reads the tree and checks it. Levels and bounding boxes must make a 2:1 tree without gaps; "block size" and
/// "coordinates" must agree with the boxes to 1/1000 of a block; "node type", "which child", "gid" and "gsurr_blks"
/// must be exactly those of that tree (a boundary may have any kind from -20 to -50). Otherwise throws Error(corrupt),
/// which names file, data set, block, and the expected and the found value.
///
/// Repairs files as AMReX builds of FLASH write them: gid is -1 everywhere, "which child", "bflags" and "gsurr_blks"
/// are missing, node types are 1 and 2, and blocks come in any order. Also repairs ids that count in Morton order while
/// the rows are in another order.
CheckedTree read_tree(const OpenedFlash& source, const Attributes& attributes);

}  // namespace octavo::formats::flash
