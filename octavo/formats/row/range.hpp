#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "octavo/mesh/dataset.hpp"

namespace octavo::formats {

/// Sets the domain's corners along an axis to the least and the largest coordinate of the points, of which there is
/// one. A flat mesh gets a length of 1.
inline void set_range(std::span<const double> values, std::size_t axis, mesh::Header& header) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  header.lo[axis] = *least;
  header.hi[axis] = *most > *least ? *most : *least + 1;
}

}  // namespace octavo::formats
