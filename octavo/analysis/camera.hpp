#pragma once
#include <array>
#include <string>
#include <vector>

#include "octavo/analysis/project.hpp"
#include "octavo/analysis/slice.hpp"

namespace octavo::analysis {

/// A bound on the columns of a row in which rays meet a cell: they leave it along one axis behind the place where they
/// enter it along another. If a cell has the ways `near` to its sides and `across` it, the bound in row y is
/// (near[leave] + across[leave] - near[enter]) * per_gap + offset - y * slope.
struct RayBound {
  std::size_t leave = 0, enter = 0;
  double per_gap = 0, slope = 0, offset = 0;
};

/// Rays through the centres of an image's pixels, along `towards`. A ray's chord through a cell is exact, but for
/// rounding: the stretch between the sides at which it enters and leaves. A ray that runs in a side between two cells
/// is in the one with the larger coordinate. So the chords of a ray sum to its length in the domain.
struct Rays {
  SlicePlane grid;              ///< the places of the pixels' centres, at depth 0
  mesh::Point3 per_cell{};      ///< way along a ray from side to side of a cell of level 0 [code length]; 0: in no side
  mesh::Point3 step{}, rise{};  ///< way to a side, less from column to column, and from row to row
  mesh::Point3 origin{};        ///< of column 0 and row 0, to the domain's lower sides
  double least = 0;             ///< a shorter chord is a rounding error [code length]
  std::array<RayBound, 3> below{}, above{};  ///< columns are greater than the first, smaller than the second
  std::vector<RayBound> row_bounds;          ///< of these pairs columns do not matter: the gap must be positive
  bool whole = true;                         ///< all of the domain shows, once
};

/// @pre the header is of 3-D data.
Rays make_rays(const mesh::Header& header, const AnyView& view);

/// The part's contribution to some rows of the image: what project() gives for a map along an axis, with the chord of
/// the pixel's ray for the cell's share of the pixel. Maxima and minima are of the cells that the ray passes through. A
/// pixel has the same bits, whichever rows are drawn with its own.
Tile cast(const mesh::Part& part, const mesh::Header& header, const Rays& rays, Projection kind,
          const std::string& field, const std::string& weight, int max_level, RowRange rows);

/// The pixels that the part's cells may cover. Reads the mesh only.
Footprint footprint_of_rays(const mesh::Part& part, const mesh::Header& header, const Rays& rays, int max_level);

}  // namespace octavo::analysis
