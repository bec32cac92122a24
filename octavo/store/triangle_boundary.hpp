#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Conditions at the points of a mesh's boundary, stored beside the mesh (docs/format.md, "Triangles"): a species of
/// their own, which every part of the mesh's readers passes on as it is.
namespace octavo::store {

constexpr const char* boundary_species = "mesh boundary";

/// In the order of the boundary: along it, as a boundary file (.cli) has its lines.
struct BoundaryArrays {
  std::vector<std::int32_t> point;   ///< from 0, of the lowest plane
  std::vector<std::int32_t> codes;   ///< 4 a point: depth, u, v, tracer (LIHBOR, LIUBOR, LIVBOR, LITBOR)
  std::vector<double> values;        ///< 7 a point: HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR
  std::vector<std::int32_t> colour;  ///< the file's last number: a colour, or the rank again
  bool operator==(const BoundaryArrays&) const = default;
};

mesh::Particles boundary_of(const BoundaryArrays& boundary);
/// Reads a species that boundary_of() made. Throws Error(corrupt) for lists of other lengths or types, and for points
/// that are not in [0, points).
BoundaryArrays boundary_in(const mesh::Particles& species, std::int64_t points);

}  // namespace octavo::store
