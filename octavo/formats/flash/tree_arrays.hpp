#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/formats/flash/block_tree.hpp"
#include "octavo/formats/flash/lists.hpp"
#include "octavo/formats/flash/schema.hpp"

namespace octavo::formats::flash {

/// The frame of a block tree: block shape and domain. Along axes beyond dim: one block of one cell in [0, 1).
struct TreeFrame {
  int dim = 3;
  mesh::Index3 block{1, 1, 1};
  mesh::Index3 roots{1, 1, 1};
  mesh::Point3 lo{0, 0, 0}, hi{1, 1, 1};  ///< [code length]
  std::array<bool, 3> periodic{};
};

/// FLASH's data sets that describe the tree, row after row as in a file (schema.hpp has the shapes). Sets that the file
/// lacks are empty.
struct TreeArrays {
  std::vector<std::int32_t> refine_level, node_type, which_child, processor, gid, gsurr_blks, bflags;
  std::vector<double> coordinates, block_size, bounding_box;
  bool operator==(const TreeArrays&) const = default;
};
inline std::size_t gid_width(int dim) { return static_cast<std::size_t>(2 * dim + 1 + (1 << dim)); }
inline std::size_t gsurr_width(int dim) { return dim == 1 ? 6 : dim == 2 ? 18 : 54; }

/// The kind of boundary at each face: -31 reflecting, -32 outflow ...
using Boundary = std::array<std::int32_t, 6>;

/// Returns the arrays of a tree in Morton order; ids count from 1 in the same order. As in Flash-X, the entry beyond an
/// edge or corner of the domain is the smallest of the faces' kinds. `single`: reals are rounded to float first.
TreeArrays derive(const BlockTree& tree, const TreeFrame& frame, const Boundary& boundary, bool single);

/// Returns the arrays of a file, in its order. Throws Error(corrupt) for a data set that is missing or has another
/// shape.
TreeArrays read_tree_arrays(const OpenedFlash& source, int dim);

/// Keeps, as attributes, the facts of a file's own tree that derive() does not give:
/// - "flash/boundary": kinds, 2 a dimension;
/// - "flash/processor number": runs of blocks in Morton order, value and length in turn;
/// - "flash/root order": the roots, x fastest, in the file's order, if it differs;
/// - "flash/gid", "flash/coordinates" ...: a whole array in Morton order, if its bits differ from the derived ones.
void keep_tree_arrays(const TreeArrays& arrays, const BlockTree& tree, const TreeFrame& frame, bool single,
                      Attributes& attributes);
/// The inverse: derived arrays, overwritten with the kept ones. Kept arrays that do not fit the tree are not used. A
/// tree without attributes has all its blocks on processor 0 and outflow or reflecting sides.
TreeArrays restore_tree_arrays(const BlockTree& tree, const TreeFrame& frame, bool single,
                               const Attributes& attributes);

/// A file's rows in Morton order, and ids with them.
TreeArrays reordered(const TreeArrays& arrays, const BlockTree& tree, bool ids_are_rows);

}  // namespace octavo::formats::flash
