#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// The file `octavo_step` beside the Header of a checkpoint. It holds facts that codes on AmrCore take from their input
/// files and leave out of a Header. Octavo's reader uses it; codes do not look at it.
///
///     octavo_step 1
///     lo 0 0
///     hi 2 1
///     periodic 1 0
///     ratio 2 2
///     units 1 1 1
///     coordinates 0
///     text source/code =FLASH
///     integers source/block 2 8 8
///
/// One entry a line. Corners are in code lengths; units of length, density and time in cgs; then refinement ratios.
/// Attributes (integer, real, text; integers, reals, texts after their number) are those named `source/...`: they come
/// from the step of another code that the checkpoint was made of, and serve the way back. A text has "=" before it. In
/// texts and names, blanks, "%" and bytes that are not printable are written like "%41".
namespace octavo::formats::amrex {

inline constexpr const char* step_file_name = "octavo_step";

/// The text for a checkpoint of this header.
std::string step_text(const mesh::Header& header, const mesh::Patches& patches);

/// Reads corners, periodic axes, units, coordinates and attributes into `header`; returns the ratios. Returns nothing
/// if there is no such file. Throws Error(corrupt) for a file of another form; ignores entries with unknown names.
std::optional<std::vector<int>> read_step_file(const std::filesystem::path& checkpoint, mesh::Header& header);

}  // namespace octavo::formats::amrex
