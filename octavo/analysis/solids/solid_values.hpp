#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "octavo/analysis/frame.hpp"
#include "octavo/mesh/solids.hpp"

/// Values of solids. Those at points are linear in the tetrahedra of mesh/solids/tetrahedra.hpp; those in cells are
/// constant there.
namespace octavo::analysis {

/// A field of solids: a value at each point, or one in each cell.
struct SolidValues {
  std::span<const double> values{};
  bool in_cells = false;

  double operator()(std::size_t cell, std::int64_t point) const {
    return values[in_cells ? cell : static_cast<std::size_t>(point)];
  }
};

/// The shares of a tetrahedron's points at a place, wherever it lies; they sum to 1. Nothing: it has no volume.
std::optional<std::array<double, 4>> shares_in(const mesh::Solids& mesh, const std::array<std::int64_t, 4>& points,
                                               const mesh::Point3& place);

/// Where a place is: points of the tetrahedron it lies in, their shares, and the cell.
struct SolidPlace {
  std::array<std::int64_t, 4> points{};
  std::array<double, 4> shares{};
  std::int64_t cell = -1;
};
/// The tetrahedron around each place, sides included; nothing outside of the mesh. One pass over the cells.
std::vector<std::optional<SolidPlace>> locate(const mesh::Solids& mesh, std::span<const mesh::Point3> places);

/// Which cells have their centroid in a region: 1 or 0 a cell.
std::vector<char> cells_within(const mesh::Solids& mesh, const Within& within);

/// A quarter of the volume of the tetrahedra around each point [code length^3]: the sum of value times this is the
/// integral of the function that is linear in the tetrahedra. `chosen`: 1 for each cell that counts; empty: all do.
std::vector<double> point_volumes(const mesh::Solids& mesh, std::span<const char> chosen);

/// The volumes of solids within a box; its corners are in code length.
struct SolidsInBox {
  std::vector<double> cells;   ///< the volume of the tetrahedra of each cell [code length^3]
  std::vector<double> points;  ///< as point_volumes(), of the box alone: exact for the function that is linear
};
SolidsInBox clip_to_box(const mesh::Solids& mesh, const mesh::Point3& lo, const mesh::Point3& hi);

}  // namespace octavo::analysis
