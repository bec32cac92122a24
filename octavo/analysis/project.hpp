#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include "octavo/analysis/frame.hpp"
#include "octavo/analysis/tile.hpp"

namespace octavo::analysis {

/// The part's contribution to some rows (default: all). `weight`: name of the field to weigh a mean with, empty: by
/// volume. `max_level`: the code's own number, as in Selection. The part needs the fields only (see cell_field for
/// errors). A pixel has the same bits, whichever rows are drawn with its own.
Tile project(const mesh::Part& part, const mesh::Header& header, const Frame& frame, const std::string& field,
             const std::string& weight, int max_level, RowRange rows = {0, std::numeric_limits<std::size_t>::max()});

/// The pixels that the part's cells cover: columns and rows first <= p < last. Empty: first == last. Reads the mesh
/// only.
struct Footprint {
  std::array<std::size_t, 2> first{0, 0}, last{0, 0};
};
Footprint footprint(const mesh::Part& part, const mesh::Header& header, const Frame& frame, int max_level);

}  // namespace octavo::analysis
