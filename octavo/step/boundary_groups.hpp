#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/row/groups.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/unstructured.hpp"

/// Converts between boundary files (.cli) and groups of edges, as MED has them. The conditions at a boundary point
/// become the group of the edge that begins there, walking with the domain on the left.
namespace octavo::step {

/// The groups of the mesh of a step's own file; none if its format has none. Reads the file.
formats::MeshGroups groups_of_file(const mesh::Dataset& step);

/// TELEMAC's name for the group of a point's codes, such as "CONLIM_2222".
std::string group_of(const formats::serafin::BoundaryPoint& point);

/// Adds a note if the points have values, because groups have no place for them.
void note_lost_values(const std::vector<formats::serafin::BoundaryPoint>& lines, std::vector<std::string>& notes);

/// Puts each edge of the boundary into a group by the codes at its first point, with TELEMAC's name ("CONLIM_2222":
/// LIHBOR, LIUBOR, LIVBOR, LITBOR). Groups have no place for values (HBOR, UBOR ...): if there are any, a note says so.
/// Throws Error(unsupported) for a mesh with planes, Error(corrupt) if the file's points are not those of the boundary.
formats::MeshGroups groups_of_boundary(const std::filesystem::path& boundary, const mesh::Unstructured& mesh,
                                       std::vector<std::string>& notes);

struct BoundaryOfGroupsOptions {
  /// TELEMAC's boundary file for MED: a count, then one line LIHBOR LIUBOR LIVBOR LITBOR NAME per group. Groups that it
  /// does not list have the codes in their names, "CONLIM_" and four digits.
  std::optional<std::filesystem::path> codes{};
  bool overwrite = false;
};

struct BoundaryOfGroupsReport {
  std::int64_t points = 0;
  std::vector<std::string> notes;
};

/// Writes the .cli of a mesh of triangles in a format with groups (MED, Gmsh): a line for each boundary point in the
/// order of IPOBO, with zero values and K as the point's number. Without IPOBO the order comes from the mesh. Throws
/// Error(corrupt) if a boundary edge has no group with codes, or groups with different codes; Error(unsupported) for a
/// mesh with planes and for files of formats without groups; Error(usage) if `out` exists. Memory: the mesh.
BoundaryOfGroupsReport boundary_of_groups(const std::filesystem::path& path, const std::filesystem::path& out,
                                          const BoundaryOfGroupsOptions& options);

}  // namespace octavo::step
