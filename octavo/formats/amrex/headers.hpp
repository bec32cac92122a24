#pragma once
#include <map>

#include "octavo/formats/amrex/output.hpp"

/// The Header files of each family. Each fills the output's header, patches, MultiFabs and sources; `text` stands at
/// the beginning.
namespace octavo::formats::amrex {

/// Whether a Header is that of a plotfile; leaves the text where it was.
bool is_plotfile_header(Text& text);

void open_plotfile(Text& text, AmrexOutput& output);
/// Makes the fields of a plotfile: these names, as components of the levels' only MultiFab. Adds the notes that every
/// plotfile gets.
void add_plotfile_facts(AmrexOutput& output, std::int64_t coordinates, const std::vector<std::string>& names);
void open_amr_level(Text& text, AmrexOutput& output);
void open_hand_written(Text& text, AmrexOutput& output, const HeaderFacts& options);

/// Refinement ratios from the domains, one a step. Error(unsupported) where they differ between axes.
std::vector<int> ratios_of(const std::vector<mesh::IndexBox>& domains, int dim, const Text& text);

inline constexpr const char* component_names_file = "component_names";
/// The name of a field if the output gives none: "phi", or "state_0", "state_1" ...
std::string plain_component_name(const std::string& multifab, int component, int components);
/// Names of the components of a checkpoint's MultiFabs, as write_component_names has put them beside the Header; those
/// of other MultiFabs are not known. Throws Error(corrupt).
std::map<std::string, std::vector<std::string>> read_component_names(const std::filesystem::path& checkpoint);

/// Opens each level's MultiFabs of those names (the same on all levels) that are cell-centred and stand on the level's
/// boxes, the first such one giving the boxes where `patches` has none; makes fields of their components, notes and
/// lists the others.
void add_multifabs(AmrexOutput& output, const std::vector<std::string>& names);

}  // namespace octavo::formats::amrex
