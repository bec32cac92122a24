#pragma once
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Cells of more than three corners and values in cells (mesh/triangles/cells.hpp), for outputs that hold triangles
/// with values at points.
namespace octavo::step {

/// The step without fields that stand in cells; its notes name them. Any other step stays as it is. Throws
/// Error(unsupported) if `fields` names one of them.
mesh::Dataset without_cell_values(mesh::Dataset step, const std::optional<std::vector<std::string>>& fields);

/// The same for the variables of a series of steps like this, whose cells of more corners become triangles, with a
/// note.
void keep_triangles(const mesh::Header& header, std::vector<mesh::FieldInfo>& variables,
                    std::vector<std::string>& notes);

}  // namespace octavo::step
