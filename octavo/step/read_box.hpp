#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches.hpp"

/// Reads a box of a step into the caller's arrays. Any process may read any box; nothing is collective.
namespace octavo::step {

/// Memory for a box of cells. Value (x, y, z, component), counted from the box's lower corner, is in elements at
/// values + x * stride[0] + y * stride[1] + z * stride[2] + component * stride_component.
struct BoxMemory {
  void* values = nullptr;
  mesh::ScalarType type = mesh::ScalarType::float64;
  mesh::Index3 stride{0, 0, 0};       ///< may be negative; 0: packed, it follows from the strides before it
  int components = 0;                 ///< components that the memory has room for; 0: as many as the field has
  std::int64_t stride_component = 0;  ///< 0: 1, so that components vary fastest
};

/// Whether memory of one type takes the values of a field of another: it is the same type, or one that holds each value
/// exactly. These are float64 for float32, float64 and float32 for floats of 16 bits, and uint8 for bool.
bool takes(mesh::ScalarType memory, mesh::ScalarType field) noexcept;

/// The number of cells of the whole domain along each axis on a level (the code's own number); 1 beyond dim. Throws
/// Error(usage) for a level above the roots or 30 levels below them.
mesh::Index3 cells_of_level(const mesh::Header& header, int level);

/// Reads the values of fields on the cells `box` of a level (the code's own number), counted from 0 at the domain's
/// lower corner, x fastest; arrays[i] takes those of fields[i]. A coarser leaf gives its value to all cells of the
/// level inside it. A refined cell gives the value that the step holds for it, as `--level` does everywhere: no finer
/// cells are read. Returns for each field the number of cells of the box for which the step has no value; their memory
/// stays as it is.
///
/// Reads the parts that touch the box one after another, each once, and of it only the fields' levels down to `level`.
/// Memory: the data read of one part, and 24 bytes for each row of its cells in the box.
///
/// Throws Error(usage) for a box that is empty or not within the domain, for an unknown field, and for memory that does
/// not take the field's type; Error(unsupported) for values at points and for a mesh that is no tree; and as
/// Dataset::read does.
/// @pre there are as many arrays as fields
std::vector<std::int64_t> read_box(const mesh::Dataset& dataset, std::span<const std::string> fields, int level,
                                   const mesh::IndexBox& box, std::span<const BoxMemory> arrays);
/// The same for one field.
std::int64_t read_box(const mesh::Dataset& dataset, const std::string& field, int level, const mesh::IndexBox& box,
                      const BoxMemory& array);

/// The points of a mesh of triangles inside a box, and the triangles whose three points are all inside.
struct PointsInBox {
  std::vector<std::int64_t> point;         ///< numbers in the whole mesh, as the file has them, ascending
  std::vector<double> x, y;                ///< of each point [code length]
  std::vector<std::int64_t> triangle;      ///< numbers in the whole mesh, ascending
  std::vector<std::int64_t> connectivity;  ///< [triangles][3] positions in `point`
  int planes = 1;
  std::vector<mesh::Field> fields;  ///< the fields asked for, in the header's order; values plane after plane
};

/// Reads the points with lo <= (x, y) < hi [code length]. Memory: the mesh and one field of all points. Throws
/// Error(usage) for an upper corner not above the lower one or an unknown field; Error(unsupported) for a mesh that is
/// not of triangles.
PointsInBox read_points(const mesh::Dataset& dataset, const std::array<double, 2>& lo, const std::array<double, 2>& hi,
                        const std::vector<std::string>& fields);

}  // namespace octavo::step
