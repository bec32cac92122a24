#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "octavo/formats/serafin/series.hpp"
#include "octavo/mesh/dataset.hpp"

/// A SERAFIN file as the table of formats has it: one part, values at points, steps numbered from 0.
namespace octavo::formats::serafin {

/// Whether the file begins as SERAFIN does.
bool recognise(const std::filesystem::path& path);
/// The step of that number; without one the last, or the mesh alone if the file has no steps. Reads the header and the
/// coordinates (for the box; of planes the elevations too). Field IPOBO, int32, is the file's record of that name.
/// Attributes: "title", "tag", "step", "iparam", "date", "byte_order", "real_bytes", "quadratic", and odd_bytes.hpp:
/// all that writing the file again takes. Throws Error(usage) for a step that is not there.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step = {});
/// The same of a file, or a piece in one, that is open; without a step the last.
mesh::Dataset open(const Series& series, std::optional<std::int64_t> step);
/// Times of all whole steps [s].
std::vector<double> times(const std::filesystem::path& path);

}  // namespace octavo::formats::serafin
