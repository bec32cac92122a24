#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/file/fortran_record.hpp"

namespace octavo::formats::ramses {

/// RAMSES writes one record for each cell position. This turns 2^dim records (one variable, one list) into runs of
/// 2^dim values for each oct. It works in pieces, because records can be long and a piece of each fits into the cache.
template <class T>
class CellTile {
 public:
  static constexpr std::size_t octs = 4096;

  /// Calls put(i, values) for octs i in [0, count): `values` are the oct's 2^dim values, in native byte order.
  template <class Put>
  void for_each_oct(file::RecordReader& reader, std::span<const file::Record> cells, std::size_t count, Put&& put) {
    tile_.resize(cells.size() * stride);
    for (std::size_t first = 0; first < count; first += octs) {
      const std::size_t now = std::min(octs, count - first);
      for (std::size_t c = 0; c < cells.size(); ++c)
        reader.read(cells[c], first, std::span(tile_).subspan(c * stride, now));
      switch (cells.size()) {
        case 2: spread<2>(first, now, put); break;
        case 4: spread<4>(first, now, put); break;
        default: spread<8>(first, now, put); break;
      }
    }
  }

 private:
  // A little more than the octs of a piece, so that the cell positions do not all fall on the same cache sets.
  static constexpr std::size_t stride = octs + 64 / sizeof(T);

  template <std::size_t cells, class Put>
  void spread(std::size_t first, std::size_t count, Put&& put) const {
    for (std::size_t i = 0; i < count; ++i) {
      std::array<T, cells> values;
      for (std::size_t c = 0; c < cells; ++c) values[c] = tile_[c * stride + i];
      put(first + i, std::span<const T, cells>(values));
    }
  }

  std::vector<T> tile_;
};

}  // namespace octavo::formats::ramses
