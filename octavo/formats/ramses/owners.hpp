#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::formats::ramses {

/// The ways to share out the domain among RAMSES' processes that Octavo can write. It cannot write "angular".
enum class Ordering : std::uint8_t { hilbert, planar, bisection };
/// The name of an ordering in RAMSES' namelist.
std::string name_of(Ordering ordering);

/// Tells which domain owns a cell: the one whose stretch of the Hilbert curve holds the key of the cell's centre, whose
/// stretch along x holds the centre (planar), or whose box holds it (bisection). Cells are counted without walls.
struct Owners {
  Ordering ordering = Ordering::hilbert;
  int dim = 3;
  int domains = 1;
  int ghost_layers = 1;                  ///< around a domain (RAMSES' nexpand_bound: 2 of the mhd solver)
  int bits = 0;                          ///< an axis, of the keys
  int coarse_bits = 0;                   ///< an axis, of the coarse cells
  std::vector<mesh::CurveKey> bounds;    ///< Hilbert: domain d has [bounds[d], bounds[d + 1])
  std::vector<double> planes;            ///< planar: domain d has [planes[d], planes[d + 1]) [code length]
  std::vector<double> box_min, box_max;  ///< bisection: (box_min, box_max], domains x dim, domain fastest [code length]
  double coarse_cell = 1;                ///< edge of a coarse cell [code length]
  int count() const { return domains; }
  /// Returns the domain, from 0, that owns a cell of a level index. Level index -1 means the coarse cells.
  int of(int level, const mesh::Coordinate& cell) const;
  /// Returns whether any part of the cell lies in the domain. RAMSES keeps such cells of coarser levels.
  bool reaches(int level, const mesh::Coordinate& cell, int domain) const;
};

/// The curve of a step's coarse cells, without bounds, for keys that tell cells of `nlevelmax` levels apart as RAMSES
/// does. Throws Error(unsupported) for keys of more than 32 bits an axis.
Owners curve_of(const mesh::Header& header, int nlevelmax, int domains);
/// Whether no two places of the step have the same key: the number of coarse cells along x is a power of two, and no
/// other axis has more. Otherwise RAMSES' keys fold.
bool is_one_to_one(const Owners& owners, const mesh::Header& header);

/// Sets the bounds (or planes) so that the domains have equal numbers of leaves along the curve (or x), to 1 in a
/// million of all. Rounds the bounds to doubles unless `quad`. Reads all trees once, one at a time; keeps 32 MiB. Calls
/// `advance` after each part.
/// @pre the ordering is no bisection
void balance(const mesh::Dataset& dataset, Owners& owners, bool quad, const std::function<void()>& advance);

}  // namespace octavo::formats::ramses
