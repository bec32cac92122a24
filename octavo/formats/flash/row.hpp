#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/words.hpp"

/// FLASH's row in the table of formats: its words, the fields that fit into its files, the mesh that they hold.
namespace octavo::formats::flash {

extern const Words words;

/// Returns the blocks of the FLASH file from which another code's checkpoint was made. Returns nothing if there is no
/// such file, or if the run has continued since.
std::optional<mesh::Index3> blocks_before(const mesh::Header& header);

/// Says why a field cannot be in a file; empty if it can.
std::string misfit(const mesh::FieldInfo& field);
/// Returns blocks: a FLASH file's own, or one cell for a particle file. `step` is in FLASH's words.
WantedMesh wanted_mesh(const mesh::Dataset& step, const SharedRequest& request);
/// See write_flash().
void write(const mesh::Dataset& step, const std::filesystem::path& path, const SharedRequest& request,
           formats::WriteReport& report);
/// Returns whether a code can continue from such an output.
bool goes_on(const SharedRequest& request);
/// Returns a note if neither FLASH nor yt looks for this name; else empty.
std::string name_note(const std::filesystem::path& out);
/// Removes attributes that list blocks. A note names the data sets that are lost with them.
void forget_layout(mesh::Header& header, std::vector<std::string>& notes);
/// Returns a note that names foreign objects (foreign.hpp) of a step that goes to another code; else empty.
std::string lost_note(const mesh::Header& header);

}  // namespace octavo::formats::flash
