#pragma once
#include "octavo/formats/ramses/output.hpp"

namespace octavo::formats::ramses {

/// The octs in walls that a domain's file holds, for mesh::Dataset::read_walls: as particles of mesh::wall_species.
/// Attributes: position_x ... the oct's centre [code length], outside of the domain; level, as RAMSES counts; and each
/// variable by its name, 2^dim values an oct, x fastest. RAMSES makes the gas in walls anew before it uses it; it
/// extrapolates the potential there in time, so that a run goes on alike only with what it had.
mesh::Particles read_walls(const Output& output, int domain);

}  // namespace octavo::formats::ramses
