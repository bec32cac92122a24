#pragma once
#include <cstddef>
#include <cstdint>
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

/// The centroid of each cell; of one without volume the mean of its corners. [code length]
std::vector<mesh::Point3> centroids_of(const mesh::Solids& mesh);

/// Which cells have their centroid in a region: 1 or 0 a cell.
std::vector<char> cells_within(const mesh::Solids& mesh, const Within& within);

/// A quarter of the volume of the tetrahedra around each point [code length^3]: the sum of value times this is the
/// integral of the function that is linear in the tetrahedra. `chosen`: 1 for each cell that counts; empty: all do.
std::vector<double> point_volumes(const mesh::Solids& mesh, std::span<const char> chosen);

}  // namespace octavo::analysis
