#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/analysis/frame.hpp"

namespace octavo::analysis {

/// A window of the image with the contributions of the cells of one or more parts, row after row from the lowest. The
/// sum holds -0.0 (integral, mean) or NaN (maximum, minimum) where no cell was. Empty: size 0.
struct Tile {
  std::array<std::size_t, 2> first{0, 0}, size{0, 0};
  std::vector<double> sum;
  std::vector<double> weight;  ///< mean only
};

/// Makes the tile hold the pixels first <= p < last too.
void cover(Projection kind, Tile& tile, std::array<std::size_t, 2> first, std::array<std::size_t, 2> last);

/// Adds what another part contributed.
void add(const Frame& frame, Tile& to, Tile&& other);

/// The tile as bytes, to send it to another process of the same machine type, and back. Error(corrupt) where they are
/// not a tile.
std::string pack(const Tile& tile);
Tile unpack_tile(std::string_view bytes);

/// The finished image, pixels[1] rows of pixels[0] values, lowest row first. NaN where no cell is.
std::vector<double> finish(const Frame& frame, Tile&& tile);

}  // namespace octavo::analysis
