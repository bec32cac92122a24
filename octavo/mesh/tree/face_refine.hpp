#pragma once
#include <array>
#include <span>

#include "octavo/mesh/octree.hpp"

namespace octavo::mesh {

/// Values normal to the faces of a block of cells, one array an axis below `dim`: that of axis a has cells[a] + 1
/// planes along a and the block's cells along the others, x fastest, z slowest. Arrays of unused axes are ignored.
template <class T>
using FaceArrays = std::array<std::span<T>, 3>;

/// How many values the array of an axis has.
std::size_t face_count(int dim, const Index3& cells, std::size_t axis);

/// Refines a face field twice along each axis so that the divergence of every fine cell is that of the coarse cell it
/// lies in, to rounding: a magnetic field or velocity without divergence stays so (Balsara 2001, J. Comput. Phys. 174;
/// Toth & Roe 2002, J. Comput. Phys. 180).
///
/// Fine faces on coarse ones take the coarse value plus limited (minmod) slopes along the face, whose mean is the
/// coarse value; they depend on the faces of that plane alone, so blocks that share a plane agree on it bit for bit.
/// Slopes are 0 where a face has no neighbour in the block. Fine faces inside a coarse cell take the mean of the two
/// opposite ones and the smallest correction (in the sum of squares over them) that gives the divergence: the gradient
/// of a potential on the 2^dim fine cells, whose Neumann problem a Walsh-Hadamard transform solves exactly.
///
/// `cells` and `size` (edge lengths) are of the coarse block; `fine` is sized for 2 * cells. Throws Error(usage) where
/// an array has another size, dim is not 1-3, or an edge is not above 0.
void prolong_faces(int dim, const Index3& cells, const std::array<double, 3>& size,
                   const FaceArrays<const double>& coarse, const FaceArrays<double>& fine);

/// The part of prolong_faces that is inside of one coarse cell, of edges `size`: `fine` is of its 2 cells an axis; the
/// faces on its sides are given, those between its children are set so that each child has the cell's divergence.
void fill_inner_faces(int dim, const std::array<double, 3>& size, const FaceArrays<double>& fine);

/// The inverse on coarse faces: each takes the mean of the 2^(dim-1) fine faces on it, which are of one area: the flux
/// is kept, and the divergence of a coarse cell is the mean of its fine cells'. `cells` is of the coarse block. Throws
/// as prolong_faces does.
void restrict_faces(int dim, const Index3& cells, const FaceArrays<const double>& fine,
                    const FaceArrays<double>& coarse);

}  // namespace octavo::mesh
