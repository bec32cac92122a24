#pragma once
#include <filesystem>

#include "octavo/formats/row/series.hpp"

namespace octavo::formats::med {

/// Writes all steps of a mesh of triangles as one MED file, as TELEMAC would: mesh MESH, values at points in doubles
/// (those of floats are the same numbers; single precision is MED 4.1, which TELEMAC does not read), IPOBO as the
/// points' global numbers, NPLAN, DATE and TIME as parameters. The rest of a SERAFIN header becomes parameters, so that
/// converting back gives the same bytes. Solids stand shape by shape, and have values in cells, too. Groups are
/// `series.groups`. Memory: the mesh and
/// one variable of one step. Throws Error(unsupported) without libmedC.
void write(const Series& series, const std::filesystem::path& path, const WriteRequest& request, WriteReport& report);

}  // namespace octavo::formats::med
