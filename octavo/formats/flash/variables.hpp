#pragma once
#include <string>
#include <vector>

#include "octavo/formats/flash/schema.hpp"
#include "octavo/formats/flash/tree_arrays.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::flash {

/// A field, and the data set that holds its values.
struct FlashVariable {
  mesh::FieldInfo info;
  std::string set;
  bool right = false;  ///< face variables: the high faces of the cells instead of the low ones
};

/// Returns the variables of a mesh file: first those of "unknown names", then other data sets of reals on cells or
/// faces, and of integers on cells. Throws Error(corrupt) for a variable without a data set or with one of another
/// shape.
std::vector<FlashVariable> find_variables(const OpenedFlash& source, const TreeFrame& frame, std::int64_t blocks,
                                          std::vector<std::string>& unknown_names);

/// The order in which a field's values lie in its data set.
file::hdf5::ItemType item_type(mesh::ScalarType type);

/// The number of values of a block in the data set.
std::size_t values_a_block(const FlashVariable& variable, const TreeFrame& frame);

/// Reads values of blocks, in runs of rows. Block b of the field gets row rows[b].
mesh::Field read_variable(const OpenedFlash& source, const FlashVariable& variable, const TreeFrame& frame,
                          const std::vector<std::int64_t>& rows);

}  // namespace octavo::formats::flash
