#pragma once
#include <filesystem>

#include "octavo/formats/row/series.hpp"

namespace octavo::formats::serafin {

/// Writes all steps of a mesh of triangles as one SERAFIN file. A series that was a SERAFIN file gets its title, date,
/// IPARAM, byte order and precision back; any other is big-endian and without a date. Memory: the mesh and one variable
/// of one step. Throws Error(unsupported) where the format cannot hold it.
void write(const formats::Series& series, const std::filesystem::path& path, const WriteRequest& request);

}  // namespace octavo::formats::serafin
