#pragma once
#include <vector>

#include "octavo/analysis/line.hpp"

namespace octavo::analysis {

/// A stretch of a line, in shares of its length; empty where not entry < exit.
using Share = std::array<double, 2>;

/// The stretches of a line (whose `in_region` is not looked at) in a region, ascending and apart.
std::vector<Share> shares_in_region(const mesh::Header& header, const Line& line, const mesh::Region& region);

/// The stretch in a box of cells, all in cells of level 0. Sides are not rounded, and shares grow with them: cells
/// that lie side by side share no stretch and leave none.
Share share_in_box(const Line& line, const mesh::Point3& lo, const mesh::Point3& edges);

/// The range of the line along an axis, in cells of level 0.
std::array<double, 2> range_along(const Line& line, std::size_t axis);

/// All moves of the mesh by whole domains with which something between lo and hi along each axis can be on the line.
std::vector<mesh::Point3> moves_of_line(const Line& line, const mesh::Point3& lo, const mesh::Point3& hi);

}  // namespace octavo::analysis
