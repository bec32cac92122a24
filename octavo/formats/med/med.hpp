#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/row/series.hpp"
#include "octavo/mesh/dataset.hpp"

/// MED (Salome, TELEMAC) through its library libmedC: HDF5 files of meshes, fields and parameters (MED 3.x and 4.x).
/// The library is loaded when the first MED file is opened; builds without its header, and machines without the
/// library, throw Error(unsupported). One lock guards all calls.
namespace octavo::formats::med {

/// Returns whether this build knows MED and the library is there.
bool available() noexcept;

/// A mesh of a file: paths are FILE, or FILE#MESH for another mesh than the first.
struct MeshPath {
  std::filesystem::path file;
  std::string mesh;  ///< empty: the first
};
MeshPath place_of(const std::filesystem::path& path);

/// Returns whether the file is HDF5 and has MED's group of versions.
bool recognise(const std::filesystem::path& path);
/// Opens a computing step of a mesh, numbered from 0; without a number the last. It has the fields on points of type
/// float64 or float32; others are left out. Attributes: "mesh" (its name), "title" (the file's comment, else the mesh's
/// description), "meshes" (their number), scalar parameters by name, and for files of write.hpp those of a SERAFIN
/// file. Field IPOBO, int32, is the numbering of points that TELEMAC keeps in the global numbers of a whole mesh. In a
/// mesh MESHn with a parameter NPTIRn the global numbers are a piece's: field GLB, and global_point. A mesh with
/// tetrahedra, pyramids, hexahedra, or prisms without the parameter NPLAN is mesh::Solids, shape by shape; cells of
/// surfaces beside them are left out. Throws Error(unsupported) for other elements.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step = {});
FileSteps list_steps(const std::filesystem::path& path);
/// Names of all meshes of a file.
std::vector<std::string> mesh_names(const std::filesystem::path& path);

}  // namespace octavo::formats::med
