#pragma once
#include <cstdint>
#include <vector>

#include "octavo/mesh/curve.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

/// Who owns a cell: the domain whose stretch of the Hilbert curve holds the key of the cell's centre, or, of a
/// bisection, whose box holds the centre.
struct Owners {
  int dim = 3;
  int domains = 1;
  int bits = 0;                          ///< an axis, of the keys
  int coarse_bits = 0;                   ///< an axis, of the coarse cells
  std::vector<mesh::CurveKey> bounds;    ///< domain d has [bounds[d], bounds[d + 1]); empty for a bisection
  std::vector<double> box_min, box_max;  ///< bisection: domains x dim, domain fastest [code length]
  double coarse_cell = 1;                ///< edge of a coarse cell [code length]
  int count() const { return domains; }
  /// Domain from 0 that owns a cell of a level index; -1: of the coarse cells.
  int of(int level, const mesh::Coordinate& cell) const;
};

/// The octs of one domain's file in the order of its lists. An oct is named by its family; on level index 0 by its
/// coarse cell, x fastest.
struct Numbering {
  int domain = 0;
  std::vector<std::vector<mesh::Coordinate>> cells;  ///< per level index: positions of the tree's cells
  std::vector<std::vector<std::uint32_t>> octs;      ///< per level index: list after list
  std::vector<std::vector<std::uint32_t>> counts;    ///< per level index: octs a list
  std::vector<std::vector<std::int32_t>> index;      ///< per level index and family: ind_grid from 1, 0 where absent
  std::int32_t total = 0;                            ///< octs of the file
};

/// Position c (0 to 2^dim - 1, x fastest) of an oct as a cell of the tree.
std::size_t cell_of_oct(const mesh::Octree& tree, int level, std::uint32_t oct, unsigned c);
/// The oct and position of a tree cell: the inverse.
struct OctPosition {
  std::uint32_t oct = 0;
  unsigned c = 0;
};
OctPosition position_of_cell(const mesh::Octree& tree, int level, std::size_t cell);
/// Position of a level-0 oct among the coarse cells.
mesh::Coordinate coarse_position(const mesh::Octree& tree, std::uint32_t oct);

/// Throws Error(unsupported) where a cell belongs to no domain, or an oct to two.
Numbering number_octs(const mesh::Octree& tree, const Owners& owners, int domain);

}  // namespace octavo::formats::ramses
