#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/mesh/unstructured.hpp"

/// Boundary files (.cli) and groups of MED: the conditions at a boundary point are the group of the edge that leaves
/// it, the domain on the left hand.
namespace octavo::step {

/// TELEMAC's name of the group of these codes: "CONLIM_2222".
std::string group_of(const formats::serafin::BoundaryPoint& point);

/// Tells of values at these points, which groups have no place for.
void note_lost_values(const std::vector<formats::serafin::BoundaryPoint>& lines, std::vector<std::string>& notes);

/// The boundary's edges, each in a group of the codes at its first point, as TELEMAC calls them ("CONLIM_2222":
/// LIHBOR, LIUBOR, LIVBOR, LITBOR). Values (HBOR, UBOR ...) have no place in groups: where there are some, a note says
/// so. Throws Error(unsupported) for a mesh with planes, Error(corrupt) where the file's points are not the boundary's.
formats::med::Groups groups_of_boundary(const std::filesystem::path& boundary, const mesh::Unstructured& mesh,
                                        std::vector<std::string>& notes);

struct BoundaryOfGroupsOptions {
  /// TELEMAC's boundary file for MED: a count, then lines LIHBOR LIUBOR LIVBOR LITBOR NAME of a group. Without it, and
  /// for groups that it does not name, codes are those of the names "CONLIM_" and four digits.
  std::optional<std::filesystem::path> codes{};
  bool overwrite = false;
};

struct BoundaryOfGroupsReport {
  std::int64_t points = 0;
  std::vector<std::string> notes;
};

/// Writes the .cli of a mesh of triangles in MED: a line for each boundary point, in the order of IPOBO (found from the
/// mesh where there is none), values zero, K the rank. Throws Error(corrupt) for an edge of the boundary in no group
/// with codes, or in groups of several; Error(unsupported) for a mesh with planes and for files that are not MED;
/// Error(usage) where `out` exists. Memory: the mesh.
BoundaryOfGroupsReport boundary_of_groups(const std::filesystem::path& med, const std::filesystem::path& out,
                                          const BoundaryOfGroupsOptions& options);

}  // namespace octavo::step
