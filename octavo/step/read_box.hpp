#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches.hpp"

/// A box of a step as arrays of the caller: any process reads any box, nothing is collective.
namespace octavo::step {

/// Memory for a box of cells. Value (x, y, z, component), counted from the box's lower corner, is in elements at
/// values + x * stride[0] + y * stride[1] + z * stride[2] + component * stride_component.
struct BoxArray {
  void* values = nullptr;
  mesh::ScalarType type = mesh::ScalarType::float64;
  mesh::Index3 stride{0, 0, 0};       ///< may be negative; 0: packed, behind the strides before it
  int components = 0;                 ///< that there is memory for; 0: as many as the field has
  std::int64_t stride_component = 0;  ///< 0: 1, components fastest of all
};

/// The cells of the whole domain on a level (the code's own number) along each axis; 1 beyond dim. Throws Error(usage)
/// for a level above the roots or 30 levels below them.
mesh::Index3 cells_of_level(const mesh::Header& header, int level);

/// Reads a field's values on the cells `box` of a level (the code's own number), counted from 0 at the domain's lower
/// corner, x fastest. A leaf that is coarser gives its value to all the cells of the level that lie in it. A cell that
/// is refined gives the value that the step has for it, as `--level` does everywhere: nothing finer is read. Returns
/// the number of cells of the box for which the step has no value; their memory is left as it is.
///
/// Reads the parts that touch the box one after another, of each the field down to the level. Memory: what is read of
/// a part, and 24 bytes for each row of its cells in the box.
///
/// Throws Error(usage) for a box that is empty or not within the domain, an unknown field, memory of another type than
/// the field's (float64 may take float32); Error(unsupported) for values at points, or a mesh that is no tree; and as
/// Dataset::read does.
std::int64_t read_box(const mesh::Dataset& dataset, const std::string& field, int level, const mesh::IndexBox& box,
                      const BoxArray& array);

/// The points of a mesh of triangles inside a box, and the triangles all of whose points are.
struct PointsInBox {
  std::vector<std::int64_t> point;         ///< numbers in the whole mesh, as the file has them, ascending
  std::vector<double> x, y;                ///< of each point [code length]
  std::vector<std::int64_t> triangle;      ///< numbers in the whole mesh, ascending
  std::vector<std::int64_t> connectivity;  ///< [triangles][3] positions in `point`
  int planes = 1;
  std::vector<mesh::Field> fields;  ///< those asked for, in the header's order; plane after plane
};

/// Reads the points with lo <= (x, y) < hi [code length]. Memory: the mesh and one field of all points. Throws
/// Error(usage) for an upper corner not above the lower one or an unknown field; Error(unsupported) for a mesh that is
/// not of triangles.
PointsInBox read_points(const mesh::Dataset& dataset, const std::array<double, 2>& lo, const std::array<double, 2>& hi,
                        const std::vector<std::string>& fields);

}  // namespace octavo::step
