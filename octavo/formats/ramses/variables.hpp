#pragma once
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

/// A variable of a file and the field that gives its values.
struct WrittenVariable {
  std::string name;
  std::string field;  ///< empty: zeros
  bool operator==(const WrittenVariable&) const = default;
};

/// The variables of each kind of file, in the order of the file's records.
struct WrittenVariables {
  std::vector<WrittenVariable> hydro, grav, rt;
  bool magnetic = false;           ///< of the mhd solver
  std::vector<std::string> notes;  ///< variables that were appended, left out or made
};

/// RAMSES knows a variable by its place alone (init_hydro of hydro and of mhd, init_poisson). The order is: density;
/// velocities, one for each axis, three with a magnetic field; the field on the lower, then on the upper faces;
/// non-thermal pressures; pressure; passive scalars, metallicity first. In grav files: potential, forces.
///
/// A step that came from RAMSES has its order in attributes (hydro_variables, grav_variables, rt_variables) and keeps
/// it. In other steps the names decide; variables that RAMSES does not know become passive scalars, and a note names
/// them.
///
/// Throws Error(unsupported) that names the variable if a file would have some of its variables but lacks this one.
WrittenVariables arrange_variables(const mesh::Header& header);

}  // namespace octavo::formats::ramses
