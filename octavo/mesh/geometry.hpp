#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Fields that follow from the mesh of an octree: x, y, z (the centre of a cell), dx (its edge along x) and cell_volume
/// [code length, code length^dim; of rings code length^3], and level (the code's own number).
namespace octavo::mesh {

/// The volume between a cell's edges. Codes say their coordinates: FLASH's "geometry", AMReX's coordinate system.
enum class CellShape : std::uint8_t {
  box,   ///< Cartesian
  ring,  ///< 2-D, r and z: a cell is turned about the axis r = 0, its volume is 2 pi r dr dz
  other  ///< volumes are not known here
};
CellShape cell_shape(const Header& header);
/// A remark for the user where cells are no boxes; else empty.
std::string note_on_shape(const Header& header);

/// The unit of a field that follows from the mesh.
std::string geometry_unit(const Header& header, const std::string& name);

/// Adds those fields of `names` that follow from the mesh and that the data set lacks; they are computed when a part is
/// read. Returns the data set as it is if there are none, and for meshes of triangles. Throws Error(unsupported) for
/// the volume of cells of another shape.
Dataset with_geometry(Dataset dataset, const std::vector<std::string>& names);

}  // namespace octavo::mesh
