#pragma once
#include <functional>
#include <optional>
#include <string>

#include "octavo/mesh/expression.hpp"
#include "octavo/mesh/units.hpp"

/// The unit of a formula's value, which follows from those of its columns.
namespace octavo::mesh {

/// The unit of a number, a column or a formula.
struct ValueUnit {
  std::optional<UnitWords> words{};  ///< nothing: not known
  bool plain = false;                ///< a number without a unit: it may stand for any
  bool written = false;              ///< a unit stands in the formula
};
inline ValueUnit plain_number() { return {UnitWords{}, true, false}; }

/// A vocabulary with the units of its columns and constants.
struct UnitVocabulary {
  const Vocabulary& names;
  std::function<ValueUnit(const std::string& name)> unit;  ///< of a column or a constant
  CodeUnits code;
  std::string path;  ///< of the data set, for messages
};

/// The unit of the formula's value; nothing: it is not known, or there is none, as for the sum of a length and a time.
/// Where a unit is written in a formula, both sides of a sum or comparison have to be of its kind: throws Error(usage)
/// if they are not, or if it is not known whether they are. The formula has been compiled.
std::optional<UnitWords> unit_of(const Term& formula, const UnitVocabulary& vocabulary);

}  // namespace octavo::mesh
