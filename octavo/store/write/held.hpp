#pragma once
#include <span>
#include <vector>

#include "octavo/store/store.hpp"

/// Fields that have values in some tree cells only: Values::held.
namespace octavo::store {

/// The ranges of `held` that lie in cells [first, last), counted from `first`.
std::vector<codec::Range> part_of(const std::vector<codec::Range>& held, std::size_t first, std::size_t last);
std::size_t cells_of(const std::vector<codec::Range>& ranges);

/// Writes the values of all cells, `cell` bytes each, with zeros for cells that have no values.
void spread(const Values& values, std::size_t cell, std::span<std::byte> out);

/// Reduces the values, which are all in `data`, to the cells that the part owns or that are not zero; `pack` then gives
/// them. Leaves them alone if that would save little.
void leave_out_zeros(Values& values, const mesh::Octree& tree);

}  // namespace octavo::store
