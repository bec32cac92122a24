#pragma once
#include <vector>

#include "octavo/formats/ramses/amr_header.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::formats::ramses {

/// The table of Hilbert keys as integers: domain d, from 0, has the keys [bound[d], bound[d + 1]).
std::vector<mesh::CurveKey> bound_keys(const AmrHeader& amr);
/// Bits an axis of the keys: nlevelmax + 1, and what the number of coarse cells along x adds. 0 where the curve does
/// not cover the coarse cells (their number along x is not a power of two, or another axis has more): then it tells
/// nothing.
int key_bits(const AmrHeader& amr, const mesh::Index3& roots);

/// The domains, from 0 and ascending, that can own a leaf cell touching the region. Hilbert ordering: those the key
/// table says; bisection: those whose boxes touch it; any other ordering: all. `coarsest_leaf` is the level index of
/// the coarsest leaves: as owners go by the centre of a cell, the region is widened to whole cells of that level.
std::vector<int> domains_touching(const AmrHeader& amr, const mesh::Header& header, int coarsest_leaf,
                                  const mesh::Region& region);

}  // namespace octavo::formats::ramses
