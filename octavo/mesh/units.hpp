#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "octavo/mesh/dataset.hpp"

/// Units: words with powers, such as "code_mass/code_length**3" or "H/cc", and one table of their sizes in cgs.
/// docs/units.md has the rules.
namespace octavo::mesh {

/// Powers of length, mass, time and temperature. A root of a formula may make halves.
using Powers = std::array<double, 4>;

struct KnownUnit {
  std::string_view name;
  double size;  ///< in cgs; of a code unit 0: the step says it
  Powers powers;
};
/// All words that a unit may have.
std::span<const KnownUnit> unit_table();
/// The table's row of that name; nullptr if there is none.
const KnownUnit* unit_named(std::string_view name);
/// The length that a file names, "m", "km" or "metres", in cm. 1, which says nothing (Header::unit_length), for any
/// other word.
double length_in_cm(std::string_view word);
/// The word of a length: "m" of 100. Empty for 1, and where there is none.
std::string word_of_length(double cm);
/// Says which words there are.
std::string hint_of_units();

/// The words of a unit and their powers, none of them 0. Empty: without dimension.
using UnitWords = std::map<std::string, double>;

/// A word at the beginning of a text, with its power: "cm3", "s^-1", "code_length**2".
struct ScannedUnit {
  std::string_view name;
  double power = 1;
  std::size_t length = 0;  ///< bytes of the text
};
/// Nothing if the text does not begin with a letter or "_". The word may be in no table.
std::optional<ScannedUnit> scan_unit(std::string_view text);

/// Reads "g/cm**3", "H/cc", "Msun kpc^-2". Throws Error(usage) for another word, and for a text that is no unit.
UnitWords parse_unit(std::string_view text);
/// The unit as parse_unit() reads it; empty if it has no dimension, or a power that is not whole.
std::string to_string(const UnitWords& unit);
/// first * second^power
UnitWords product(UnitWords first, const UnitWords& second, double power = 1);

/// One code unit in cgs; NaN where the step does not say it (formats::code_units).
struct CodeUnits {
  double length, mass, time;
};

Powers powers_of(const UnitWords& unit);
/// The unit's size in cgs; NaN where it is not known.
double size_in_cgs(const UnitWords& unit, const CodeUnits& code);
/// Its size in the code's own unit of the same dimension; NaN where it is not known. It is 1 for
/// "code_length", in any step.
double size_in_code_units(const UnitWords& unit, const CodeUnits& code);

/// "a length^-3 mass", for messages.
std::string kind_of_unit(const Powers& powers);
/// A unit with these powers, in cgs: "g/cm**3".
std::string example_of_unit(const Powers& powers);

/// By what a number in the unit `have` is multiplied to be one in the unit `want`. `what`: the quantity's name,
/// `path`: the step's. Throws Error(usage) where the unit is not known, or is of another kind.
double unit_factor(const std::string& have, const std::string& want, const CodeUnits& code, const std::string& path,
                   const std::string& what);

}  // namespace octavo::mesh
