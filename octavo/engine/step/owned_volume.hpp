#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/patches.hpp"

namespace octavo::engine {

/// A volume, as the sum of 2^(32 i) times digit i. The unit is a tree cell of level index 32, so that the volume of
/// every mesh that a store can hold is exact. To add the volumes of up to 2^31 ranks, add their digits.
using Volume = std::array<std::int64_t, 5>;

/// The volume of the leaves that the part owns.
Volume owned_volume(const mesh::Octree& tree);
/// The volume of the boxes of level 0. A tree cell of level index `unfolded` holds `block` of their cells. Finer boxes
/// lie inside coarser ones, so they add nothing.
Volume owned_volume(const mesh::Patches& patches, int unfolded, const mesh::Index3& block);
Volume domain_volume(int dim, const mesh::Index3& roots);

/// Carries, so that each digit is below 2^32 and equal volumes have equal digits.
Volume normalised(std::span<const std::int64_t> digits);
/// Whether `volume` is larger than `than`. Both must be normalised.
bool is_larger(const Volume& volume, const Volume& than);
double to_double(const Volume& volume);

}  // namespace octavo::engine
