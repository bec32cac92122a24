#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "octavo/formats/row/series.hpp"

/// XDMF (.xdmf, .xmf): a text that describes a mesh and its values, which stand in an HDF5 file beside it. Solids, or
/// surfaces of triangles and polygons.
namespace octavo::formats::xdmf {

/// A text with the element Xdmf near its beginning.
bool recognise(const std::filesystem::path& path);
/// The step of that number from 0; without a number the last. One part: the first uniform grid or collection in space,
/// or the grids of the first collection in time, on one mesh; the grids of a collection in space are pieces of that; of
/// solids if it has one. Values are those of scalars, vectors and tensors at points and in cells; of a vector NAME_x,
/// NAME_y and NAME_z. Notes name what is left out. Throws Error(unsupported) for data in other folders and for other
/// kinds of grids, cells and items; Error(corrupt) with the byte of the text, or the data set.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step);
FileSteps list_steps(const std::filesystem::path& path);

/// Writes all steps as NAME.xdmf and, beside it, NAME.h5, which gets its name first. The data sets are /points, /cells
/// and /STEP/VARIABLE, both numbered from 0. Memory: the mesh and one variable of one step. Throws Error(usage) if
/// NAME.h5 exists and request.overwrite is not set, or the series is read from it, Error(unsupported) for planes, and
/// without HDF5. Returns the size of NAME.h5 [bytes].
std::int64_t write(const Series& series, const std::filesystem::path& path, const WriteRequest& request);

}  // namespace octavo::formats::xdmf
