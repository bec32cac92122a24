#pragma once
#include <filesystem>
#include <optional>

#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/row/series.hpp"

namespace octavo::formats::med {

struct Options {
  std::optional<Groups> groups{};  ///< of the mesh's edges, triangles and points; nothing: those of a MED input
  /// Boundary file (.cli) of the mesh: its codes become groups of edges, instead of `groups`. step::write() reads it.
  std::optional<std::filesystem::path> boundary{};
};

/// Writes all steps of a mesh of triangles as one MED file, as TELEMAC would: mesh MESH, values at points in doubles
/// (those of floats are the same numbers; single precision is MED 4.1, which TELEMAC does not read), IPOBO as the
/// points' global numbers, NPLAN, DATE and TIME as parameters. The rest of a SERAFIN header becomes parameters, so that
/// converting back gives the same bytes. Memory: the mesh and one variable of one step. Throws Error(unsupported)
/// without libmedC.
void write(const Series& series, const std::filesystem::path& path, const SharedRequest& request,
           const Options& options, WriteReport& report);

}  // namespace octavo::formats::med
