#pragma once
#include <array>
#include <vector>

#include "apps/patches/regrid.hpp"

namespace octavo::bubble {

using patches::Hierarchy;
using patches::Index3;
using patches::IndexBox;
using patches::Values;

/// Velocities normal to the faces of all boxes of this rank: of[level][slot][axis], without ghosts; a face has the
/// position of the cell above it. Boxes that share a face hold the same bits, and coarse faces under fine ones the
/// means of those.
/// Borders of the domain are walls: periodic axes are ignored.
struct Faces {
  std::vector<std::vector<std::array<Values, 3>>> of;
};

/// The faces of a box of cells across an axis.
IndexBox faces_of(IndexBox cells, std::size_t axis);

/// A value for each face of the hierarchy: f(level, axis, position).
Faces make_faces(const Hierarchy& mesh, const std::function<double(int, std::size_t, const Index3&)>& value);

/// Collective. The largest |divergence| of all cells that no finer one covers, times the width of a cell: 0 but for
/// rounding where what flows into each cell flows out again.
double largest_divergence(const Hierarchy& mesh, const patches::Plans& plans, const Faces& faces);

/// Collective. Faces for a hierarchy of other boxes: those of cells that were there stay as they are; others are made
/// of the coarser ones (limited slopes along coarse faces, then mesh::fill_inner_faces, which keeps the divergence of
/// each coarse cell inside of it), so that without divergence they stay so. Coarse faces take the means of finer
/// ones.
Faces regrid_faces(const Hierarchy& before, const Faces& faces, const Hierarchy& now);

/// Collective. Coarse faces take the means of the finer ones on them.
void restrict_faces(const Hierarchy& mesh, Faces& faces);

}  // namespace octavo::bubble
