#pragma once
#include <optional>

#include "octavo/formats/row/format.hpp"

namespace octavo::formats::flash {

extern const Words words;
/// FLASH's row in the table of formats.
extern const Format row;

/// Returns the blocks of the FLASH file from which another code's checkpoint was made. Returns nothing if there is no
/// such file, or if the run has continued since.
std::optional<mesh::Index3> blocks_before(const mesh::Header& header);

}  // namespace octavo::formats::flash
