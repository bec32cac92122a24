#pragma once
#include "octavo/formats/ramses/output.hpp"

namespace octavo::formats::ramses {

/// Reads the octs in walls from a domain's file, for mesh::Dataset::read_walls, as particles of mesh::wall_species.
/// Attributes: position_x ... is the oct's centre [code length], outside of the domain; level is RAMSES' own number;
/// each variable has its name and 2^dim values for each oct, x fastest. We keep the octs because RAMSES extrapolates
/// the potential there in time: only with its old values a run continues in the same way. (It makes the gas in walls
/// anew.)
mesh::Particles read_walls(const Output& output, int domain);

}  // namespace octavo::formats::ramses
