#pragma once
#include <array>
#include <cstddef>
#include <functional>

#include "octavo/analysis/project.hpp"
#include "octavo/analysis/tile.hpp"
#include "octavo/verbs/workers.hpp"

namespace octavo::verbs {

/// A part that has been read, ready to be drawn on an image.
struct Drawing {
  analysis::RowRange rows;  ///< it covers no pixel outside of them
  std::size_t bytes = 0;    ///< of a tile of all its rows, at most
  /// Draws some of the rows. May be called several times, on any thread.
  std::function<analysis::Tile(analysis::RowRange rows)> draw;
};

/// A drawing of a part on an image of `pixels` pixels. `footprint` gives the pixels that the part covers; it is asked
/// for only if a tile of the whole image is large.
Drawing drawing_within(const std::array<std::size_t, 2>& pixels, analysis::Projection kind,
                       const std::function<analysis::Footprint()>& footprint,
                       std::function<analysis::Tile(analysis::RowRange rows)> draw);

/// The same of a part that may cover all of them.
Drawing drawing_of_all(const std::array<std::size_t, 2>& pixels, analysis::Projection kind,
                       std::function<analysis::Tile(analysis::RowRange rows)> draw);

/// Adds up an image of `parts` parts in order of their numbers. Part p is read by rank p % ranks: read(i) gives this
/// rank's i-th part, on any thread. Each rank adds up and gets its own rows, and never holds more of the image than
/// those and some tiles: a part whose tile would be large is drawn again for each band of rows. The pixels have the
/// same bits for any number of threads and ranks; every rank gets the same error. Collective.
analysis::ImageRows sum_image(std::size_t parts, const Workers& workers, const analysis::Frame& frame,
                              const std::function<Drawing(std::size_t i)>& read);

/// A tile of at most small_tile bytes is never drawn in bands, so that code for smaller images needs no footprints. A
/// tile of more than large_tile bytes is always drawn in bands.
constexpr std::size_t small_tile = std::size_t{8} << 20, large_tile = std::size_t{24} << 20;

}  // namespace octavo::verbs
