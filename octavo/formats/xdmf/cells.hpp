#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/formats/row/series.hpp"

/// Cells as XDMF lists them. For formats/xdmf alone.
namespace octavo::formats::xdmf {

/// XDMF's number and name of a kind of cells.
struct XdmfShape {
  std::int64_t number;
  std::size_t corners;
  const char* name;
};
inline constexpr std::array<XdmfShape, 2> flat_shapes{{{4, 3, "Triangle"}, {5, 4, "Quadrilateral"}}};
/// In the order of mesh::solids_attribute. Corners stand as in VTK.
inline constexpr std::array<XdmfShape, 4> solid_shapes{
    {{6, 4, "Tetrahedron"}, {7, 5, "Pyramid"}, {8, 6, "Wedge"}, {9, 8, "Hexahedron"}}};
/// A polygon's number of corners follows.
inline constexpr std::int64_t polygon_number = 3;
/// The number of points follows these two as well: a set of points, and a line through points.
inline constexpr std::int64_t points_number = 1, line_number = 2;

struct XdmfCells {
  std::string type;  ///< of a Topology: "Tetrahedron", or "Mixed"
  std::vector<std::int64_t>
      numbers;  ///< points of the cells; of "Mixed", each cell's begin with the number of its type
  std::uint64_t cells = 0;
  std::uint64_t corners = 0;  ///< of each cell; 0: "Mixed"
};

/// The cells of solids, or of triangles and polygons.
XdmfCells cells_of(const Series& series);

}  // namespace octavo::formats::xdmf
