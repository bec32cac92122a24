#pragma once
#include "octavo/formats/row/format.hpp"

namespace octavo::formats::amrex {

extern const Words words;
/// AMReX's row in the table of formats.
extern const Format row;

}  // namespace octavo::formats::amrex
