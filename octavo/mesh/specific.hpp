#pragma once
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {

/// Names of the fields that are amounts per mass (specific quantities), and of the density and pressure that go with
/// them. All are cell fields with one component; a name is empty if the step has no such field.
struct Specific {
  std::string density;                ///< mass per volume; empty: nothing is weighted
  std::vector<std::string> velocity;  ///< the components
  std::string internal, total;        ///< energy per mass: total = internal + v^2 / 2 + terms that the code adds
  std::string pressure;               ///< set where `internal` is
  std::vector<std::string> others;    ///< other amounts per mass
  bool operator==(const Specific&) const = default;
};

/// The specific fields of a step, by the names that FLASH, AMReX's codes and Octavo have for them. Velocities are known
/// in any step. `energies`: fields of energies (ener, eint; entr, eion, eele, erad) are amounts per mass, as in FLASH;
/// other codes store energy per volume under the same names (formats::specific_of knows which do). `more`: fields that
/// the caller knows to be amounts per mass (mass fractions). Throws Error(usage) for a name that the step does not
/// have, or if the step has no density.
Specific specific_of(const Header& header, const std::vector<std::string>& more, bool energies);

/// The names of all amounts per mass: all but density and pressure.
std::vector<std::string> per_mass(const Specific& specific);

/// The same fields with their names changed by `rename`.
template <class Rename>
Specific renamed(Specific specific, Rename&& rename) {
  for (auto* name : {&specific.density, &specific.internal, &specific.total, &specific.pressure})
    if (!name->empty()) *name = rename(*name);
  for (auto* names : {&specific.velocity, &specific.others})
    for (std::string& name : *names) name = rename(name);
  return specific;
}

/// Positions of the specific fields among `fields`. A field is missing here if `fields` lacks it or if its type is not
/// a floating-point one; all are missing if the density is.
struct SpecificAt {
  std::optional<std::size_t> density, internal, total, pressure;
  std::vector<std::size_t> velocity, others;
};
SpecificAt find_specific(const std::vector<FieldInfo>& fields, const Specific& specific);

/// Adds to `asked` (positions, ascending) all fields that are needed to make values of these. So the values of a field
/// do not depend on which others are asked for.
std::vector<std::size_t> with_specific(const std::vector<FieldInfo>& fields, const Specific& specific,
                                       const std::vector<std::size_t>& asked);

}  // namespace octavo::mesh
