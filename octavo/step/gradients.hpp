#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/expression.hpp"

/// Fields that need what lies beside a cell: gradients, and the divergences and vorticities made of them.
namespace octavo::step {

/// The words of a formula that ask for gradients become sums of columns, one for each slope of a formula along an axis:
/// gradient_x(f), gradient_y(f), gradient_z(f); divergence(v) and vorticity_x(v) ... of a vector v, whose components
/// are v_x, v_y, v_z; and as a vector within norm(...), gradient(f) and vorticity(v). `known(name)` says whether a name
/// has values; `column(of, axis)` gives the name of a slope's column. Throws Error(usage) for a vector where a number
/// is due, an axis that the data lack, and what is not the name of a vector.
struct GradientWords {
  int dim = 3;
  std::function<bool(const std::string& name)> known;
  std::function<std::string(const mesh::Term& of, std::size_t axis)> column;
};
mesh::Term without_gradients(const mesh::Term& formula, const GradientWords& words);

/// A field with the slope of another along an axis.
struct Gradient {
  std::string of;
  std::size_t axis = 0;
  mesh::FieldInfo info;
};

/// Adds gradients to a data set that has the fields they are of. `step` gives the whole step with these fields; it is
/// asked once, when a part is read. mesh/tree/slopes.hpp has the definition; a refined cell has the mean of those below
/// it. On triangles: mesh/triangles/point_slopes.hpp.
///
/// Reading a part reads the parts beside it, for their leaves near the part. Leaves of parts that were read are kept
/// for those that are read next, up to 256 MiB or an eighth of the memory limit. Reading throws Error(unsupported) for
/// cells that are no boxes, and triangles with planes or values in cells.
mesh::Dataset with_gradients(mesh::Dataset dataset, std::function<mesh::Dataset()> step,
                             std::vector<Gradient> gradients);

}  // namespace octavo::step
