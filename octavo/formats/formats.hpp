#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/formats/row/format.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {
struct Specific;
struct CodeUnits;
}  // namespace octavo::mesh

/// Foreign formats: one folder each, which reads and writes it, and this table of them.
/// It may touch mesh, file and base.
/// It never knows a verb or a store, never names an output, and never calls MPI.
namespace octavo::formats {

/// All formats of this build.
std::span<const Format* const> table();

/// The first format that recognises the path. Throws as open() does if none does.
const Format& format_of(const std::filesystem::path& path);
/// The same; nullptr if no format recognises the path, or if it does not exist.
const Format* format_there(const std::filesystem::path& path);
/// The format of that name; Error(usage) if there is none.
const Format& format_named(std::string_view name);
/// The same; nullptr if there is none, such as for a store.
const Format* find_format(std::string_view name);
/// The first format whose outputs' names may have this ending; nullptr if there is none.
const Format* format_by_ending(const std::filesystem::path& path);
/// The titles of formats for a message: "RAMSES, AMReX, FLASH".
std::string titles_of(const std::function<bool(const Format&)>& wanted);
/// Throws Error(usage) for an option that the format `request.to` does not have: one of `request.own`, or of those that
/// only some formats have. The message says which formats have it. A store has none of them.
void require_options(const WriteRequest& request);
/// Octavo's own words. A code that no row knows is taken to have them.
const Words& common_words();
/// The words of the code that wrote a step: Octavo's own if no row has them.
const Words& words_of(const mesh::Header& header);

/// mesh::specific_of, with the energies if the step's code has them per mass.
mesh::Specific specific_of(const mesh::Header& header, const std::vector<std::string>& more = {});
/// One code unit in cgs; NaN where the step does not say it. Sizes of 1 say nothing, unless the step's code computes in
/// cgs; files of triangles say lengths and times alone.
mesh::CodeUnits code_units(const mesh::Dataset& dataset);

/// The step's field that a name stands for in the tables of all formats, the own code's first: "dens" for "density",
/// "HAUTEUR D'EAU" for "WATER DEPTH" or "water_depth". Nothing if there is none. It does not look for the name itself:
/// a field of that name comes first.
std::optional<std::string> field_meant(const mesh::Header& header, std::string_view name);

/// Octavo's word for a name in the tables of all formats, the own code's first: "density" for "dens". The name itself
/// if no table has it.
std::string_view common_name(const mesh::Header& header, std::string_view name);

/// Opens an output by the first format that recognises it; the path may be the output's directory or any file in it.
/// Throws Error(unreadable) if the path does not exist, and Error(corrupt) if no format recognises it; the message says
/// what it is.
mesh::Dataset open(const std::filesystem::path& path);

}  // namespace octavo::formats
