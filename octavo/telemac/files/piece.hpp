#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/formats/serafin/boundary.hpp"

namespace octavo::telemac {

namespace serafin = formats::serafin;  // in all of this room

/// Lists by part.
struct ItemLists {
  std::vector<std::int64_t> first;  ///< one more than parts
  std::vector<std::int32_t> items;
  std::span<const std::int32_t> of(std::int32_t part) const {
    const auto begin = static_cast<std::size_t>(first[static_cast<std::size_t>(part)]);
    return std::span(items).subspan(begin, static_cast<std::size_t>(first[static_cast<std::size_t>(part) + 1]) - begin);
  }
};

/// A line of a piece's boundary: the condition at one of its points, and the next point if the boundary leaves the
/// piece there.
struct PieceBoundaryPoint {
  formats::serafin::BoundaryPoint condition;  ///< with the local point number, and the line's own colour
  std::int32_t liquid = 0;                    ///< number of the liquid boundary, 0: a wall
  std::int32_t segment =
      0;               ///< 0: both segments are inside; + or - the global point over there, from 1; -9999: neither is
  float x = 0, y = 0;  ///< place of that point
};

/// An element that borders on another part, and its neighbours behind the edges 1-2, 2-3, 3-1.
struct PieceHalo {
  std::int32_t element = 0;                ///< local, from 1
  std::array<std::int32_t, 3> parts{};     ///< -1: a wall; 0 with element 0: a liquid boundary
  std::array<std::int32_t, 3> elements{};  ///< local numbers in those parts, from 1; -1: a wall; 0: a liquid boundary
};

/// One part's share of a mesh of triangles, in partel's numbering: elements keep their order, points are numbered by
/// first appearance in it.
struct Piece {
  std::int32_t part = 0;
  std::vector<std::int32_t> points;        ///< global numbers from 0, by local number
  std::vector<double> x, y;                ///< by local number
  std::vector<std::int32_t> connectivity;  ///< shape (elements, 3), local numbers from 1
  std::int32_t boundary_points = 0;
  std::vector<std::int32_t> shared;          ///< points of other parts too, local from 1, by ascending global number
  std::vector<std::int64_t> shared_first;    ///< into `sharers`, one more than `shared`
  std::vector<std::int32_t> sharers;         ///< the other parts, ascending
  std::vector<PieceHalo> halo;               ///< by element
  std::vector<PieceBoundaryPoint> boundary;  ///< in the boundary file's order; empty without one
};

}  // namespace octavo::telemac
