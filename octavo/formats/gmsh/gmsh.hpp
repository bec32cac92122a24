#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "octavo/formats/row/series.hpp"

/// Meshes of Gmsh (.msh), versions 2.2 and 4.1, as text or binary: surfaces of triangles and quadrangles, or solids
/// (tetrahedra, hexahedra, prisms and pyramids).
namespace octavo::formats::gmsh {

/// A file that begins with $MeshFormat.
bool recognise(const std::filesystem::path& path);
/// One part without steps: mesh::Solids if the file has a solid; cells of surfaces are left out then. Else
/// mesh::Unstructured of one plane, with cells of mesh/triangles/cells.hpp; the heights of points are the field BOTTOM
/// where they are not all 0. Reads the file whole, and keeps the mesh. Notes name what is left out. Throws
/// Error(unsupported) for cells of higher order, Error(corrupt) with the byte. `step`: nothing or 0.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step);
FileSteps list_steps(const std::filesystem::path& path);
/// Physical groups. A group without a name is called as Gmsh calls it in a MED file, "G_1D_7": its dimension and
/// number. In a file of solids MeshGroups::of_triangle has one entry a cell. Lines, sides and points that no cell has
/// are left out. Reads the file whole.
MeshGroups read_groups(const std::filesystem::path& path);

/// Writes the mesh as text of version 2.2, with its groups as physical groups; an element of several stands once for
/// each, as Gmsh has it. The heights are those of the variable that means the bottom, if there is one, at the last
/// step; a note names the other variables. Memory: the mesh, its groups and that variable.
void write(const Series& series, const std::filesystem::path& path, WriteReport& report);

}  // namespace octavo::formats::gmsh
