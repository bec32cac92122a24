#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

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
};

/// The frame of a region: of a box, the box, in which cells are clipped exactly in the image plane and along the line
/// of sight; of any other region, its mesh::bounds, to which the cells whose centre is inside are clipped; of
/// nothing, the domain. A region that passes a periodic side continues on the other; where it is wider than the domain
/// it shows the domain repeatedly. `pixels`: along the window's longer side; the other side gets the number that makes
/// pixels nearest to square, at least one. Throws Error(usage) for an axis not in 0-2 or a number of pixels not in 1 to
/// 65536.
Frame make_frame(const mesh::Header& header, int axis, Projection kind, const std::optional<mesh::Region>& region,
                 std::size_t pixels);

}  // namespace octavo::analysis
