#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "octavo/formats/ramses/cells.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::ramses {

/// The unit, in code units, of RAMSES' variable of this name: "code_length/code_time" for velocity_x. Empty if it has
/// none or is not known.
std::string unit_of(std::string_view name);

/// The face that a value of this name belongs to: RAMSES' B_x_left (B_left_x in old versions) is on the cell's lower
/// x face, B_x_right on the upper.
mesh::Centring centring_of(std::string_view name);

/// Names for the variables of a file without descriptor: potential, force_x ... (grav); photon_flux_01,
/// photon_flux_01_x ... (rt); var1 ... (hydro).
std::vector<std::string> default_names(CellKind kind, int variables, int ndim);

}  // namespace octavo::formats::ramses
