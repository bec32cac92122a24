#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// MED (Salome, TELEMAC) through its library libmedC: HDF5 files of meshes, fields and parameters (MED 3.x and 4.x).
/// The library is loaded when the first MED file is opened; builds without its header, and machines without it, answer
/// Error(unsupported). Calls stand behind one lock.
namespace octavo::formats::med {

/// Whether this build knows MED, and the library is there.
bool available() noexcept;

/// Whether the file is HDF5 and has MED's group of versions.
bool recognise(const std::filesystem::path& path);
/// The last computing step of the first mesh; fields on its points, float64. Attributes: "mesh" (its name), "title"
/// (its description), "meshes" (how many), scalar parameters by name. Field GLB, int32, is the global number of points:
/// IPOBO of a whole mesh, as TELEMAC has it. Throws Error(unsupported) for elements other than triangles, or prisms
/// with the parameter NPLAN.
mesh::Dataset open(const std::filesystem::path& path);
/// Steps are numbered from 0 by computing step.
mesh::Dataset open_step(const std::filesystem::path& path, std::int64_t step);
std::vector<double> times(const std::filesystem::path& path);

}  // namespace octavo::formats::med
