#pragma once
#include <span>
#include <vector>

#include "octavo/store/store.hpp"

/// Fields that have values in some tree cells only: Values::held.
namespace octavo::store {

/// What `held` has of cells [first, last), counted from `first`.
std::vector<codec::Range> part_of(const std::vector<codec::Range>& held, std::size_t first, std::size_t last);
std::size_t cells_of(const std::vector<codec::Range>& ranges);

/// All cells, of `cell` bytes each, with zeros for those that have no values.
void spread(const Values& values, std::size_t cell, std::span<std::byte> out);

/// Makes the values, which are all in `data`, those of the cells that the part owns or that are not zeros: as `pack`
/// gives them from there. Where that would not save much they stay as they are.
void leave_out_zeros(Values& values, const mesh::Octree& tree);

}  // namespace octavo::store
