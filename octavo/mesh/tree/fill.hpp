#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "octavo/base/bit_array.hpp"
#include "octavo/mesh/field.hpp"
#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/specific.hpp"

namespace octavo::mesh {

/// How the children of a cell get a value if their own is not known: from the cell.
enum class FillBy : std::uint8_t {
  linear,   ///< the cell's value and limited slopes (minmod over the neighbours of its level); integers: the value
  constant  ///< the cell's value
};

struct FillOptions {
  FillBy by = FillBy::linear;
  std::array<bool, 3> periodic{};
  std::array<double, 3> edge{1, 1, 1};  ///< of a cell, times any factor: for fields of faces
  Specific specific{};                  ///< fields that are weighted by the density; all it names must be given
};

/// A vector on faces: for each axis below dim, the fields of each cell's low and high face. They are found by centring
/// and name: "b_left" and "b_right" (anywhere in the name); the n-th pair of each axis belongs to the n-th vector.
struct FaceVector {
  std::array<std::size_t, 3> left{}, right{};
};
/// Throws Error(unsupported) naming the field, where a half or an axis is missing, the two halves differ in type, or
/// the type is no floating-point one.
std::vector<FaceVector> face_vectors(const std::vector<FieldInfo>& fields, int dim);

/// Gives values to the cells of the levels below `first` that are not `known` (a bit a value), level after level.
/// @pre where a value is not known, those of all children of the cell above it are not.
///
/// Cells, linear: the value above, plus or minus a quarter of the slope along each axis. The mean of the children is
/// the value above to rounding, and no child is outside of the values of that cell and its face neighbours. Where a
/// neighbour is missing on the level, the slope along that axis is 0.
///
/// Cells, linear, fields of `options.specific`: density times the value, summed over the children, is that of the cell,
/// to rounding, so momentum and energy are kept. If the density of the cell or of a child is not above 0, these fields
/// are made like all others.
/// - Velocities and `others`: the value plus slopes, minus the density-weighted mean of the slopes' changes. Children
///   stay within the values of the cell and its face neighbours.
/// - Internal energy: has slopes of density times the value, so that a constant pressure stays constant. The children's
///   velocities differ, so they have more kinetic energy than the cell. All children pay for it in proportion to their
///   internal energy. If that took more than half of it, the slopes of the velocities are made smaller.
/// - Total energy: changes by the changes of internal and kinetic energy; whatever else is in it stays as it is.
/// - Pressure: has slopes like other fields, then falls by the same factor as the internal energy.
///
/// Faces: those on a face of the cell above take that of a known cell beside them, else the value above with limited
/// slopes along the face (0 for constant); those inside keep the divergence (fill_inner_faces): each child has that of
/// the cell above. Cells on two sides of a face have the same bits there.
void fill_down(const Octree& tree, int first, const FillOptions& options, std::vector<Field>& fields,
               const base::BitArray& known);

/// Gives refined cells of levels above `end` that are not `known` the mean of their children, from the finest level up.
/// Means of fields of `specific` are weighted by the density, as in FLASH. A face gets the mean of the 2^(dim-1) finer
/// faces on it, which keeps the flux. A node gets the value of the finer node there.
void form_means(const Octree& tree, int end, std::vector<Field>& fields, const base::BitArray& known,
                const Specific& specific = {});

}  // namespace octavo::mesh
