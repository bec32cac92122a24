#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/row/series.hpp"
#include "octavo/formats/row/words.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/mesh/dataset.hpp"

/// Opens a SERAFIN file for the table of formats: one part, values at points, steps numbered from 0.
namespace octavo::formats::serafin {

/// Whether the file begins as SERAFIN does.
bool recognise(const std::filesystem::path& path);
/// Opens the step of that number; without a number the last step, or the mesh alone if the file has no steps. Reads the
/// header and the coordinates (for the box), and with planes the elevations. Field IPOBO, int32, is the file's record
/// of that name. The attributes "title", "tag", "step", "iparam", "date", "byte_order", "real_bytes", "quadratic" and
/// those of odd_bytes.hpp are all that is needed to write the file again. Throws Error(usage) if there is no such step.
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step = {});
/// The same for an open file, or an open piece in one; without a step the last.
mesh::Dataset open(const SerafinSeries& series, std::optional<std::int64_t> step);
/// The step that Dataset::describe() tells of, for another process of the run: opens the file when values are read.
mesh::Dataset understand(const std::string& description);
/// Times [s] of all whole steps. Reads the header once.
FileSteps list_steps(const std::filesystem::path& path);

/// TELEMAC's names of variables, English and French, and the common names that they stand for: "WATER DEPTH" and
/// "HAUTEUR D'EAU" are water_depth. So a name of one language finds the field of the other.
std::span<const Word> common_names();

}  // namespace octavo::formats::serafin
