#pragma once
#include <cstdint>
#include <span>

#include "octavo/mesh/solids.hpp"

/// The two ways to list the corners of a solid.
namespace octavo::mesh {

/// The corners of the same cell with its base turned the other way round: places among its corners. Done twice, it
/// changes nothing. MED lists corners so, and a cell of negative volume has a positive one then.
std::span<const std::uint8_t> turned_round(int corners);

/// Turns the cells of negative volume round. Returns how many.
std::int64_t turn_negative_cells(Solids& mesh);

}  // namespace octavo::mesh
