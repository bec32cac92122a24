#pragma once
#include <string>

#include "octavo/analysis/frame.hpp"
#include "octavo/analysis/tile.hpp"

namespace octavo::analysis {

/// The part's contribution. `weight`: name of the field to weigh a mean with, empty: by volume. `max_level`: the code's
/// own number, as in Selection. The part needs the fields only (see cell_field for errors).
Tile project(const mesh::Part& part, const mesh::Header& header, const Frame& frame, const std::string& field,
             const std::string& weight, int max_level);

}  // namespace octavo::analysis
