#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "octavo/mesh/solids.hpp"

/// The sides of solids, and the tetrahedra that they are cut into.
///
/// A cell is cut from its corner of the lowest global number: each side that this corner is not on is the base of one
/// tetrahedron, or of two if it has four corners. Such a side is cut from its own corner of the lowest global number,
/// so the cells on both of its sides, in whichever parts, cut it alike. This makes 1 tetrahedron of a tetrahedron, 2 of
/// a pyramid, 3 of a prism and 6 of a hexahedron. No cell needs a point in its middle.
namespace octavo::mesh {

/// A side of a cell: places among the cell's corners. They turn counter-clockwise seen from outside.
struct SolidSide {
  std::uint8_t count = 3;  ///< 3 or 4
  std::array<std::uint8_t, 4> corners{};
};
/// The sides of a cell with so many corners.
std::span<const SolidSide> sides_of(int corners);

/// The place in `connectivity` of each cell's first corner, and its length as a last entry.
std::vector<std::int64_t> first_corners(const Solids& mesh);

/// Six times the signed volume of a tetrahedron: positive if b, c, d turn counter-clockwise seen from outside.
double six_volumes(const Solids& mesh, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d);
/// The volume of each cell [code length^3]; negative if its corners stand the other way round.
std::vector<double> volumes_of(const Solids& mesh);

namespace detail {

/// The place among `which` of the corner whose point has the lowest global number.
template <class Places>
std::size_t lowest_of(const Solids& mesh, std::span<const std::int64_t> points, const Places& which,
                      std::size_t count) {
  const auto number = [&](std::size_t k) {
    const auto point = points[which[k]];
    return mesh.global_point.empty() ? point : mesh.global_point[static_cast<std::size_t>(point)];
  };
  std::size_t lowest = 0;
  for (std::size_t k = 1; k < count; ++k)
    if (number(k) < number(lowest)) lowest = k;
  return lowest;
}

}  // namespace detail

/// Calls f(a, b, c, d), points of the mesh, for each tetrahedron of the cell with the corners `points`. Their volumes
/// have the sign of the cell's. Tetrahedra with a point twice are left out.
template <class F>
void for_each_tetrahedron(const Solids& mesh, std::span<const std::int64_t> points, F&& f) {
  constexpr std::array<std::uint8_t, 8> all{0, 1, 2, 3, 4, 5, 6, 7};
  const std::size_t from = detail::lowest_of(mesh, points, all, points.size());
  const std::int64_t a = points[from];
  const auto give = [&](std::int64_t b, std::int64_t c, std::int64_t d) {
    if (a != b && a != c && a != d && b != c && c != d && b != d) f(a, b, c, d);
  };
  for (const SolidSide& side : sides_of(static_cast<int>(points.size()))) {
    const auto at = [&](std::size_t k) { return points[side.corners[k % side.count]]; };
    bool holds = false;
    for (std::size_t k = 0; k < side.count; ++k) holds = holds || side.corners[k] == from;
    if (holds) continue;
    const std::size_t k = side.count == 3 ? 0 : detail::lowest_of(mesh, points, side.corners, 4);
    give(at(k), at(k + 1), at(k + 2));
    if (side.count == 4) give(at(k), at(k + 2), at(k + 3));
  }
}

/// The same for all cells, in their order: f(cell, a, b, c, d).
template <class F>
void for_each_tetrahedron(const Solids& mesh, F&& f) {
  std::size_t first = 0;
  for (std::size_t cell = 0; cell < mesh.corners.size(); first += mesh.corners[cell], ++cell)
    for_each_tetrahedron(mesh, std::span(mesh.connectivity).subspan(first, mesh.corners[cell]),
                         [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) { f(cell, a, b, c, d); });
}

}  // namespace octavo::mesh
