#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "octavo/analysis/frame.hpp"

namespace octavo::analysis {

/// Rows of an image: first <= row < last, from the lowest.
struct RowRange {
  std::size_t first = 0, last = 0;
};

/// A window of the image with the contributions of the cells of one part, row after row from the lowest. The sum holds
/// -0.0 (integral, mean) or NaN (maximum, minimum) where no cell was. Empty: size 0.
struct Tile {
  std::array<std::size_t, 2> first{0, 0}, size{0, 0};
  std::vector<double> sum;
  std::vector<double> weight;  ///< mean only
};

/// The sum of a pixel without a cell.
inline double blank_of(Projection kind) { return is_extreme(kind) ? std::numeric_limits<double>::quiet_NaN() : -0.0; }
inline bool is_blank(Projection kind, double sum) {
  return is_extreme(kind) ? std::isnan(sum) : sum == 0 && std::signbit(sum);
}

/// Makes the tile hold the pixels first <= p < last too.
void cover(Projection kind, Tile& tile, std::array<std::size_t, 2> first, std::array<std::size_t, 2> last);

/// The rows of an image that a rank finishes: blocks of `block` rows are dealt to the ranks in turn, so that parts that
/// lie side by side give work to all.
struct DealtRows {
  std::size_t rows = 0;  ///< of the whole image
  std::size_t block = 1;
  std::size_t rank = 0, ranks = 1;

  std::size_t owner(std::size_t row) const { return row / block % ranks; }
  std::size_t end_of_block(std::size_t row) const { return std::min(rows, (row / block + 1) * block); }
  /// Where a row of this rank is among the rows of this rank.
  std::size_t place(std::size_t row) const { return row / block / ranks * block + row % block; }
  std::size_t count() const {  ///< rows of this rank
    const std::size_t round = block * ranks, rest = rows % round;
    return rows / round * block + std::clamp(rest, rank * block, (rank + 1) * block) - rank * block;
  }
  /// The blocks of this rank within a range.
  template <class Visit>
  void for_each_block(RowRange within, Visit&& visit) const {
    for (std::size_t row = within.first, end = 0; row < within.last; row = end) {
      end = std::min(end_of_block(row), within.last);
      if (owner(row) == rank) visit(RowRange{row, end});
    }
  }
};

/// The rows of an image that one rank adds up.
struct ImageRows {
  DealtRows rows;
  std::size_t width = 0;       ///< pixels of a row
  std::vector<double> sum;     ///< [rows.count()][width]
  std::vector<double> weight;  ///< mean only
};
ImageRows blank_rows(const Frame& frame, const DealtRows& rows);

/// Pixels of a tile that lie in one block of rows: [rows][width] values from column `column` on. Weights: mean only.
struct Strip {
  RowRange rows;
  std::size_t column = 0, width = 0;
  std::span<const double> sum, weight;
};
Strip strip_of(const Tile& tile, RowRange rows);
/// Adds a part's contribution. Sums depend on the order of the parts: add them by ascending number.
void add(Projection kind, ImageRows& to, const Strip& strip);
/// Adds those rows of the tile that are the rank's.
void add(Projection kind, ImageRows& to, const Tile& tile);

/// The finished pixels, [rows.count()][width], lowest row first. NaN where no cell is.
std::vector<double> finish(Projection kind, ImageRows&& image);

}  // namespace octavo::analysis
