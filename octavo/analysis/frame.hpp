#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::analysis {

/// How a pixel combines the cells behind it. `dl` is the path length through a cell, `a` the share of the pixel that
/// the cell covers.
enum class Projection : std::uint8_t {
  integral,  ///< sum of value a dl
  mean,      ///< sum of weight value a dl / sum of weight a dl
  maximum,   ///< of the cells that cover any of the pixel; NaN values are passed over
  minimum,
};

inline bool is_extreme(Projection kind) { return kind == Projection::maximum || kind == Projection::minimum; }

/// Which cells a region takes, where a verb is asked to say.
enum class RegionEdge : std::uint8_t {
  usual,   ///< of maps of a single box clip, of all else centre
  centre,  ///< a cell whose centre is inside, whole
  clip,    ///< of a single box: the share of each cell that is inside
};

/// Throws Error(unsupported) for a region that does not clip cells exactly: any but a single box.
void require_edge(const std::optional<mesh::Region>& region, RegionEdge edge);

/// A region that takes cells by their centre, or points.
struct Within {
  mesh::Region region;
  mesh::Domain domain;
  mesh::Point3 corner{};  ///< the domain's lower [code length]
  double unit = 1;        ///< its extent along x [code length]

  bool operator()(mesh::Point3 point) const {
    for (std::size_t axis = 0; axis < 3; ++axis) point[axis] = (point[axis] - corner[axis]) / unit;
    return mesh::contains(region, domain, point);
  }
};

/// The picture to be taken, as a pure function decides it before anything is read. Index 0 of `image_axis` is
/// horizontal. An axis that the data lack (y and z in 1-D, z in 2-D) has one pixel, of length 1, or as line of sight a
/// path of 1: so along z a map of 2-D data shows the values themselves.
struct Frame {
  int axis = 2;                         ///< line of sight
  std::array<int, 2> image_axis{0, 1};  ///< the other two, ascending
  std::array<std::size_t, 2> pixels{0, 0};
  std::array<double, 2> lo{}, hi{};   ///< window [code length]
  double depth_lo = 0, depth_hi = 1;  ///< along the line of sight [code length]
  std::optional<Within> within;       ///< only cells with their centre inside
  Projection kind = Projection::integral;
  /// Each cell is smoothed in the image plane by a Gaussian of this standard deviation [edges of the cell]; 0: none.
  /// The window's sides mirror it, but where the window is the whole of a periodic axis, along which it goes round. So
  /// all of the cell stays in the image. Not of extremes.
  double blur = 0;
};

/// The frame of a region: of a box, the box, in which cells are clipped exactly in the image plane and along the line
/// of sight; of any other region, its mesh::bounds, to which the cells whose centre is inside are clipped; of
/// nothing, the domain. A region that passes a periodic side continues on the other; where it is wider than the domain
/// it shows the domain repeatedly. With RegionEdge::centre a box, too, shows the cells whose centre is inside, clipped
/// to it. `pixels`: along the window's longer side; the other side gets the number that makes pixels nearest to square,
/// at least one. Throws Error(usage) for an axis not in 0-2 or a number of pixels not in 1 to 65536, and as
/// require_edge.
Frame make_frame(const mesh::Header& header, int axis, Projection kind, const std::optional<mesh::Region>& region,
                 std::size_t pixels, RegionEdge edge = RegionEdge::usual);

/// By how many periods the domain can be moved along an axis to show between two places of it [code length], ascending;
/// 0 alone along an axis that is not periodic.
std::vector<int> periods_between(const mesh::Header& header, int axis, double lo, double hi);

}  // namespace octavo::analysis
