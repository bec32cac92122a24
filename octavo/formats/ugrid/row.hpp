#pragma once
#include "octavo/formats/row/format.hpp"

namespace octavo::formats::ugrid {

/// UGRID's row in the table of formats.
extern const Format row;

}  // namespace octavo::formats::ugrid
