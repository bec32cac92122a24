#pragma once
#include <cstdint>
#include <vector>

#include "octavo/mesh/boxes.hpp"

namespace octavo::patches {

using mesh::Index3;
using mesh::IndexBox;

/// Boxes that hold all of `flagged` and do not overlap; at least the share `efficiency` (0 to 1] of each is flagged,
/// before those longer than `max_extent` are cut at multiples of it. The result depends on the set of cells alone, not
/// on their order.
///
/// Berger & Rigoutsos 1991 (IEEE Trans. Syst. Man Cybern. 21): a box that is too empty is cut at a hole of its
/// signatures (the numbers of flagged cells in each plane), else where their second difference changes sign most
/// strongly, else in the middle of its longest axis. Cells are given once each.
std::vector<IndexBox> cluster(std::vector<Index3> flagged, int dim, double efficiency, const Index3& max_extent);

/// A box cut into pieces that begin at multiples of `extent`, counted from index 0, and are no longer.
std::vector<IndexBox> chop(const IndexBox& box, const Index3& extent, int dim);

}  // namespace octavo::patches
