#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/words.hpp"

/// FLASH's row in the table of formats: its words, what fits into its files, the mesh that they hold.
namespace octavo::formats::flash {

extern const Words words;

/// The blocks of the FLASH file that a checkpoint of another code was made of; nothing if there is none, or if the run
/// has gone on since.
std::optional<mesh::Index3> blocks_before(const mesh::Header& header);

/// Why a field cannot be in a file; empty if it can.
std::string misfit(const mesh::FieldInfo& field);
/// Blocks. A FLASH file has its own; a particle file has a tree of one cell. `step` is in FLASH's words.
WantedMesh wanted_mesh(const mesh::Dataset& step, const SharedRequest& request);
/// As write_flash().
void write(const mesh::Dataset& step, const std::filesystem::path& path, const SharedRequest& request,
           formats::WriteReport& report);
/// Whether a code goes on from such an output.
bool goes_on(const SharedRequest& request);
/// A note for a name that neither FLASH nor yt looks for; else empty.
std::string name_note(const std::filesystem::path& out);
/// Removes attributes that list blocks; a note names data sets that are lost with them.
void forget_layout(mesh::Header& header, std::vector<std::string>& notes);
/// A note that names what FLASH does not know of its file, for a step that goes to another code; else empty.
std::string lost_note(const mesh::Header& header);

}  // namespace octavo::formats::flash
