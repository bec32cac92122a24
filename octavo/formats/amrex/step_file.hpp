#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// The file `octavo_step` beside the Header of a checkpoint: what codes on AmrCore know from their input files, and
/// leave out of a Header. Codes do not look at it; the reader does.
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
/// One entry a line. Corners in code lengths; units of length, density and time in cgs; refinement ratios. Attributes
/// (integer, real, text; integers, reals, texts after their number) are those named `source/...`: of the step of
/// another code that the checkpoint was made of, for the way back. Texts and names have "=" before them (texts) and
/// "%41" for bytes that are not printable, blanks and "%".
namespace octavo::formats::amrex {

inline constexpr const char* step_file_name = "octavo_step";

/// The text for a checkpoint of this header.
std::string step_text(const mesh::Header& header, const mesh::Patches& patches);

/// Takes corners, periodic axes, units, coordinates and attributes into `header`; returns the ratios. Nothing where
/// there is no such file. Error(corrupt) for one that is none; entries of unknown names are passed over.
std::optional<std::vector<int>> read_step_file(const std::filesystem::path& checkpoint, mesh::Header& header);

}  // namespace octavo::formats::amrex
