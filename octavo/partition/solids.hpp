#pragma once
#include <cstdint>

#include "octavo/mesh/solids.hpp"
#include "octavo/partition/cell_graph.hpp"

/// Cuts solids into parts by cells, in one process.
namespace octavo::partition {

/// Cells that share a side of three or four points. Memory: 20 bytes a side meanwhile.
CellGraph side_graph(const mesh::Solids& mesh);

/// A cut of solids.
struct SolidCut {
  PartVector part_of;
  std::int64_t filled = 0;  ///< parts that the method left without a cell, and that got half of a larger one's
};

/// Cuts by the method; no part stays empty. `metis` and `scotch` cut few sides of side_graph(mesh), which the others do
/// not need. `hilbert` cuts a curve through the cells' centres into equal stretches; `inertial` halves the cells across
/// their longest extent again and again. The sizes of their parts differ by one at most. Throws Error(usage) unless
/// there are 1 to as many parts as cells, Error(unsupported) for a method that the build does not have and for 2^31
/// cells or points.
SolidCut cut_solids(const mesh::Solids& mesh, CutMethod method, std::int32_t parts);

/// Measures a cut. `cut_edges` counts sides between parts.
Quality quality_of(const mesh::Solids& mesh, const PartVector& part_of, std::int32_t parts);

}  // namespace octavo::partition
