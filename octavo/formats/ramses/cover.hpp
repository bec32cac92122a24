#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "octavo/formats/ramses/owners.hpp"

namespace octavo::formats::ramses {

/// A box in the finest units of a curve: 2^-(nlevelmax + 1) of a coarse cell, walls left out.
struct Box {
  std::array<std::int64_t, 3> lo, hi;
};
inline constexpr Box no_box{{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::int64_t>::max()},
                            {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min(),
                             std::numeric_limits<std::int64_t>::min()}};
void enclose(Box& box, const Box& more);
/// The box of an oct of a level index.
Box box_of(const Owners& owners, int level, const mesh::Coordinate& oct);

/// The place of one domain. Its file can be made without reading octs that are far away.
struct Cover {
  bool everywhere = true;  ///< the owners do not tell a place
  int dim = 3;
  std::array<std::int64_t, 3> period{0, 0, 0};  ///< 0: none
  Box bounds = no_box;
  std::vector<Box> boxes;
};
Cover cover_of(const Owners& owners, const mesh::Header& header, int domain);

/// Returns whether the domain's file can hold octs of a level index that lie in the box. It holds the octs whose father
/// is at most ghost_layers * dim + 1 cells of the father's size away from the domain.
bool may_hold(const Cover& cover, const Owners& owners, int level, const Box& box);

}  // namespace octavo::formats::ramses
