#pragma once
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Fields that follow from the mesh of an octree: x, y, z (the centre of a cell), dx (its edge along x) and cell_volume
/// [code length, code length^dim], and level (the code's own number).
namespace octavo::mesh {

/// The data set with those fields of `names` that follow from the mesh and that it does not have itself; unchanged
/// where there are none, and for meshes of triangles. They are computed when a part is read.
Dataset with_geometry(Dataset dataset, const std::vector<std::string>& names);

}  // namespace octavo::mesh
