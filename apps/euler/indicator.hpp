#pragma once
#include <span>

#include "apps/euler/state.hpp"

namespace octavo::euler {

/// Where a mesh should be finer: the larger, of density and pressure and over the axes, of
/// |q+ - 2 q + q-| / (|q+ - q| + |q - q-| + 0.02 (|q+| + 2 |q| + |q-|)), which is between 0 (smooth) and 1 (Loehner
/// 1987, along the axes only). `out` is laid out as one variable: cells without ghosts and the first layer of ghosts
/// are filled in, the others are 0.
void indicator(const Gas& gas, const Shape& shape, std::span<const double> state, std::span<double> out);

/// FLASH's own thresholds: above the first a mesh is refined, below the second it may be coarsened.
constexpr double refine_above = 0.8, coarsen_below = 0.2;

}  // namespace octavo::euler
