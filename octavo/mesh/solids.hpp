#pragma once
#include <cstdint>
#include <vector>

namespace octavo::mesh {

/// Tetrahedra, pyramids, prisms and hexahedra in space. A value at points is linear in each tetrahedron that a cell is
/// cut into (solids/tetrahedra.hpp).
struct Solids {
  std::vector<double> x, y, z;        ///< point coordinates [code length], one entry a point
  std::vector<std::uint8_t> corners;  ///< of each cell: 4 tetrahedron, 5 pyramid, 6 prism, 8 hexahedron
  /// The cells' corners, one cell after another: point indices from 0. They stand as in VTK: the base turns
  /// counter-clockwise seen from the top, which follows (of a prism and a hexahedron in the same order).
  std::vector<std::int64_t> connectivity;
  std::vector<std::int64_t> global_point;  ///< local to global number from 0; empty: the identity
  bool operator==(const Solids&) const = default;
};

/// Throws Error(corrupt) unless: x, y and z have one length and are finite; corners are 4, 5, 6 or 8, and as many as
/// there are in connectivity; its indices are in range; global_point is empty or has one distinct number >= 0 a point.
/// A cell may name a point twice, as a hexahedron does that stands for a prism, and may have no volume or a negative
/// one: what walks through tetrahedra takes them.
void validate(const Solids& mesh);

}  // namespace octavo::mesh
