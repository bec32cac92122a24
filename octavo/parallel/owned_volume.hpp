#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/patches.hpp"

namespace octavo::parallel {

/// A volume as a sum of 2^(32 i) times digit i, in units of a tree cell of level index 32: exact for every mesh that
/// the store can hold, and sums of up to 2^31 ranks' volumes are sums of their digits.
using Volume = std::array<std::int64_t, 5>;

/// Of the leaves that the part owns.
Volume owned_volume(const mesh::Octree& tree);
/// Of the boxes of level 0, each tree cell of which holds `block` of their cells at level index `unfolded`: finer boxes
/// lie in coarser ones, so that they add nothing.
Volume owned_volume(const mesh::Patches& patches, int unfolded, const mesh::Index3& block);
Volume domain_volume(int dim, const mesh::Index3& roots);

/// Carries: digits below 2^32, so that equal volumes have equal digits.
Volume normalised(std::span<const std::int64_t> digits);
/// Of normalised ones.
bool is_larger(const Volume& volume, const Volume& than);
double to_double(const Volume& volume);

}  // namespace octavo::parallel
