#pragma once
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Fields that follow from the mesh of an octree: x, y, z (the centre of a cell), dx (its edge along x) and cell_volume
/// [code length, code length^dim], and level (the code's own number).
namespace octavo::mesh {

/// Adds those fields of `names` that follow from the mesh and that the data set lacks; they are computed when a part is
/// read. Returns the data set as it is if there are none, and for meshes of triangles.
Dataset with_geometry(Dataset dataset, const std::vector<std::string>& names);

}  // namespace octavo::mesh
