#pragma once
#include "octavo/formats/row/format.hpp"

namespace octavo::formats::ramses {

/// Accepts Octavo's own words, too.
extern const Words words;
/// RAMSES' row in the table of formats.
extern const Format row;

}  // namespace octavo::formats::ramses
