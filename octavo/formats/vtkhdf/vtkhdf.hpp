#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "octavo/formats/row/series.hpp"
#include "octavo/mesh/dataset.hpp"

/// VTKHDF files of triangles, of wedges between planes of them, or of solids ("UnstructuredGrid" in VTK's
/// specification, versions 1 and 2): one mesh, its steps in the same file. A group /Octavo beside VTK's has attributes
/// for data that VTK has no place for (planes, SERAFIN's header). Names and units are attributes of the data sets.
namespace octavo::formats::vtkhdf {

/// Whether the file is HDF5 and has VTK's group.
bool recognise(const std::filesystem::path& path);
/// Opens a step, numbered from 0; without a number the last. Reads one number per point and variable. Throws
/// Error(unsupported) for other kinds of data, cells of curved sides and polyhedra, planes in several parts, and meshes
/// that change from step to step. A file with solids is read without its cells of fewer dimensions, any without ghosts,
/// and notes count them. Parts become one; points of several parts at one place are one point.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step = {});
FileSteps list_steps(const std::filesystem::path& path);

}  // namespace octavo::formats::vtkhdf
