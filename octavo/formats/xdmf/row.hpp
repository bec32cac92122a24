#pragma once
#include "octavo/formats/row/format.hpp"

namespace octavo::formats::xdmf {

/// XDMF's row in the table of formats.
extern const Format row;

}  // namespace octavo::formats::xdmf
