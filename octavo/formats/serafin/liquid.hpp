#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/formats/serafin/boundary.hpp"

namespace octavo::formats::serafin {

/// The number of the liquid boundary that each boundary point is on, from 1; 0: a wall. Numbers are TELEMAC's: it takes
/// boundary lines in the order of their south-western points, and follows each from there along `next` (positions in
/// `boundary`). The number grows after each wall, and where codes change between two liquid points. `x`, `y`:
/// coordinates by position in `boundary`.
/// Throws Error(corrupt) for a liquid point between two walls, or a wall point between two liquid ones.
std::vector<std::int32_t> number_liquid(std::span<const BoundaryPoint> boundary, std::span<const std::int32_t> next,
                                        std::span<const double> x, std::span<const double> y);

}  // namespace octavo::formats::serafin
