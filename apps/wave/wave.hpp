#pragma once
#include "apps/patches/regrid.hpp"

/// Radiation that streams along x through an empty periodic box: an energy density for each energy bin, a sine wave
/// that travels at the speed of light (1) and is the same again after a period (1); after half of one it is its own
/// mirror image. Little to compute and much to write.
namespace octavo::wave {

/// Bin e has weight 1 / (1 + e).
double energy_density(int bin, double x, double time);

/// Means over cells, exact.
void set_to(patches::Hierarchy& mesh, double time);

/// Collective. A step of `dt`: MUSCL-Hancock with monotonized central slopes, second order, stable for dt <= a cell's
/// width.
void advance(patches::Hierarchy& mesh, const patches::Plans& plans, double dt);

/// Collective. Mean over cells and bins of |value - exact mean| / weight of the bin.
double mean_error(const patches::Hierarchy& mesh, double time);

}  // namespace octavo::wave
