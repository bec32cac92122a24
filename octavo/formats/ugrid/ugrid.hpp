#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "octavo/formats/row/series.hpp"

/// UGRID files: meshes of triangles, quadrangles and cells of more corners in NetCDF, with values at points ("node")
/// and in cells ("face"), one value of each at a step; and meshes of solids ("volume"). The conventions:
/// https://ugrid-conventions.github.io.
namespace octavo::formats::ugrid {

/// A NetCDF file with a variable that describes a mesh. Reads headers.
bool recognise(const std::filesystem::path& path);
/// The step of that number from 0; without a number the last. One part: mesh::Solids if the file has a
/// mesh of volumes, else a mesh of one plane whose cells mesh/triangles/cells.hpp describes. Reads all coordinates and
/// cells, to tell box and counts. Notes name what is left out.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step);
FileSteps list_steps(const std::filesystem::path& path);

/// Names of variables of D-Flow FM, which writes UGRID, and what they mean.
std::span<const Word> common_names();

/// Writes all steps of a mesh of one plane, or of solids, as a classic NetCDF file: CDF-2, or CDF-5 where a variable
/// has 2^31 bytes or more. Memory: the mesh and one variable of one step.
void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request);

}  // namespace octavo::formats::ugrid
