#pragma once
#include <string>
#include <vector>

#include "octavo/formats/flash/schema.hpp"
#include "octavo/formats/flash/tree_arrays.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::flash {

/// A field and the data set that its values are from.
struct Variable {
  mesh::FieldInfo info;
  std::string set;
  bool right = false;  ///< face variables: the high faces of the cells, not the low ones
};

/// The variables of a mesh file, those of "unknown names" first; then other data sets of reals on cells or faces and of
/// integers on cells. Throws Error(corrupt) for a variable without a data set or with one of another shape.
std::vector<Variable> find_variables(const Source& source, const Frame& frame, std::int64_t blocks,
                                     std::vector<std::string>& unknown_names);

/// The order in which a field's values lie in its data set.
file::hdf5::ItemType item_type(mesh::ScalarType type);

/// Values a block in the data set.
std::size_t values_a_block(const Variable& variable, const Frame& frame);

/// Values of blocks, read in runs of rows: block b of the field gets row rows[b].
mesh::Field read_variable(const Source& source, const Variable& variable, const Frame& frame,
                          const std::vector<std::int64_t>& rows);

}  // namespace octavo::formats::flash
