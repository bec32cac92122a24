#pragma once
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

/// A variable of a file, and the field it is written from.
struct WrittenVariable {
  std::string name;
  std::string field;  ///< empty: zeros
  bool operator==(const WrittenVariable&) const = default;
};

/// What goes to which file, in the order of its records.
struct WrittenVariables {
  std::vector<WrittenVariable> hydro, grav, rt;
  bool magnetic = false;           ///< of the mhd solver
  std::vector<std::string> notes;  ///< what was appended, left out or made
};

/// RAMSES knows a variable by its place alone (init_hydro of hydro and of mhd, init_poisson): density; velocities, one
/// an axis, three with a magnetic field; the field on the lower, then on the upper faces; non-thermal pressures;
/// pressure; passive scalars, metallicity first. In grav files: potential, forces.
///
/// A step that came from RAMSES says its order (attributes hydro_variables, grav_variables, rt_variables), and keeps
/// it. Of any other step the names say it; variables that RAMSES does not know become passive scalars, and a note
/// names them.
///
/// Throws Error(unsupported) naming the variable that is missing from a file of which others are there.
WrittenVariables arrange_variables(const mesh::Header& header);

}  // namespace octavo::formats::ramses
