#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/mesh/field.hpp"

/// Conditions at the points of a mesh's boundary, stored with the mesh (docs/format.md, "Triangles").
namespace octavo::store {

/// The arrays follow the boundary, in the order of the lines of a boundary file (.cli).
struct BoundaryArrays {
  std::vector<std::int32_t> point;   ///< from 0, of the lowest plane
  std::vector<std::int32_t> codes;   ///< 4 a point: depth, u, v, tracer (LIHBOR, LIUBOR, LIVBOR, LITBOR)
  std::vector<double> values;        ///< 7 a point: HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR
  std::vector<std::int32_t> colour;  ///< the file's last number: a colour, or the point's number along the boundary
  bool operator==(const BoundaryArrays&) const = default;
};

/// Takes the arrays from a store: "point", "codes", "values", "colour". Throws Error(corrupt) if one is missing or has
/// another length or type, and for points that are not in [0, points).
BoundaryArrays boundary_of(std::span<const mesh::Field> arrays, std::int64_t points);

}  // namespace octavo::store
