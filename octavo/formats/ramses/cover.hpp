#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "octavo/formats/ramses/owners.hpp"

namespace octavo::formats::ramses {

/// A box in the finest units of a curve: 2^-(nlevelmax + 1) of a coarse cell, walls left out.
struct CurveBox {
  std::array<std::int64_t, 3> lo, hi;
};
inline constexpr CurveBox no_box{{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::max()},
                                 {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::min()}};
void enclose(CurveBox& box, const CurveBox& more);
/// The box of an oct of a level index.
CurveBox box_of(const Owners& owners, int level, const mesh::Coordinate& oct);

/// The place of one domain. Its file can be made without reading octs that are far away.
struct DomainCover {
  bool everywhere = true;  ///< the owners do not tell a place
  int dim = 3;
  std::array<std::int64_t, 3> period{0, 0, 0};  ///< 0: none
  CurveBox bounds = no_box;
  std::vector<CurveBox> boxes;
};
DomainCover cover_of(const Owners& owners, const mesh::Header& header, int domain);

/// Returns whether the domain's file can hold octs of a level index that lie in the box. It holds the octs whose father
/// is at most ghost_layers * dim + 1 cells of the father's size away from the domain.
bool may_hold(const DomainCover& cover, const Owners& owners, int level, const CurveBox& box);

}  // namespace octavo::formats::ramses
