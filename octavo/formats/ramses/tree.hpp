#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "octavo/formats/ramses/amr_header.hpp"
#include "octavo/mesh/octree.hpp"

namespace octavo::formats::ramses {

/// Stands for an oct of a file, or a cell of one, that the tree does not hold.
inline constexpr std::uint32_t no_family = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t no_cell = no_family;

/// One domain's pruned tree, and the place in it of each oct of the file.
struct DomainTree {
  mesh::Octree tree;  ///< level index 0 holds the cells of the octs of RAMSES level 1
  /// Per level index, for the octs of that level in file order (list after list, those of the walls left out): the
  /// family that its cells form on that level, or no_family. On level 0 a family is a real coarse cell, x fastest.
  std::vector<std::vector<std::uint32_t>> family_of_oct;
  /// Level 0 only: cell c of the oct in real coarse cell q is tree cell root_cell[q * 2^dim + c], or no_cell.
  std::vector<std::uint32_t> root_cell;
};

/// Reads the tree behind the header. `domain` counts from 0; only `levels` level indices are read (refined cells of the
/// deepest become leaves). Owned are the cells of the octs in the domain's own list: the leaf cells among them are the
/// domain's leaves, whatever their cpu_map says. Walls are left out.
///
/// Throws Error(corrupt), at the file and record, if an oct index is out of range or used twice, if a child is missing,
/// if an owned oct cannot be reached from the root, or if all levels are read and the file continues.
DomainTree read_tree(file::RecordReader& reader, const AmrHeader& header, int domain, int levels);

}  // namespace octavo::formats::ramses
