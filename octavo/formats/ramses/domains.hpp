#pragma once
#include <vector>

#include "octavo/formats/ramses/amr_header.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::formats::ramses {

/// The table of Hilbert keys as integers: domain d, from 0, has the keys [bound[d], bound[d + 1]).
std::vector<mesh::CurveKey> bound_keys(const AmrHeader& amr);
/// Bits of the keys per axis: nlevelmax + 1, plus the bits that number the coarse cells along x. 0 if the curve does
/// not cover the coarse cells, and keys say nothing. That is so if their number along x is not a power of two, or if
/// another axis has more.
int key_bits(const AmrHeader& amr, const mesh::Index3& roots);

/// The domains, from 0 and ascending, that can own a leaf cell touching the region. Hilbert ordering: those that the
/// key table gives; bisection: those whose boxes touch the region; any other ordering: all. `coarsest_leaf` is the
/// level index of the coarsest leaves. The centre of a cell decides its owner, so the region is widened to whole cells
/// of that level.
std::vector<int> domains_touching(const AmrHeader& amr, const mesh::Header& header, int coarsest_leaf,
                                  const mesh::Region& region);

}  // namespace octavo::formats::ramses
