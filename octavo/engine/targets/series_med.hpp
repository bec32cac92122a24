#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>

#include "octavo/formats/row/groups.hpp"

/// Rank 0's work on a series in one MED file, apart from steps. No MPI. A SERAFIN file without steps gives the mesh and
/// the header; it becomes the MED file that `octavo convert` would make.
namespace octavo::engine {

/// Replaces `out` by a file with the mesh and its fields, without steps. `groups`: of the mesh's edges, triangles and
/// points, if it has any. Throws Error(unsupported) without libmedC.
void make_med(const std::filesystem::path& geometry, const std::filesystem::path& out, std::size_t real_bytes,
              std::optional<formats::MeshGroups> groups);

/// Throws Error(usage) if a file has another mesh or date, other variables, or values of another precision. Its title
/// and the SERAFIN file that it was made from may differ.
void require_same_series(const std::filesystem::path& geometry, const std::filesystem::path& there);

}  // namespace octavo::engine
