#pragma once
#include <array>
#include <cstddef>
#include <span>

namespace octavo::mesh {

/// Values normal to the faces of a cell's 2^dim children, one array an axis below `dim`: that of axis a has 3 planes
/// along a and two faces along each other axis, x fastest, z slowest. Arrays of unused axes are ignored.
using FaceArrays = std::array<std::span<double>, 3>;

/// How many values the array of an axis has.
constexpr std::size_t fine_face_count(int dim) { return std::size_t{3} << (dim - 1); }

/// Fills in the faces between the children of a cell of edges `size`, from those on the cell's sides, so that the
/// divergence of every child is that of the cell, to rounding: a magnetic field or velocity without divergence stays so
/// (Balsara 2001, J. Comput. Phys. 174; Toth & Roe 2002, J. Comput. Phys. 180).
///
/// An inner face takes the mean of the two opposite ones and the smallest correction (in the sum of squares over all)
/// that gives the divergence: the gradient of a potential on the children, whose Neumann problem a Walsh-Hadamard
/// transform solves exactly. Throws Error(usage) where an array has another size, dim is not 1-3, or an edge is not
/// above 0.
void fill_inner_faces(int dim, const std::array<double, 3>& size, const FaceArrays& fine);

}  // namespace octavo::mesh
