#pragma once
#include <filesystem>

#include "octavo/formats/row/series.hpp"

namespace octavo::formats::vtkhdf {

/// Writes all steps of a mesh of triangles or solids as one VTKHDF file, the mesh once. The points of a mesh of planes
/// stand at every step at the heights of the first variable. Memory: the mesh and one variable of one step. Throws
/// Error(unsupported) in builds without HDF5.
void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request);

}  // namespace octavo::formats::vtkhdf
