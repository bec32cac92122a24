#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/ramses/amr_header.hpp"
#include "octavo/formats/ramses/cells.hpp"
#include "octavo/formats/ramses/particles.hpp"
#include "octavo/formats/ramses/text_files.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

struct FileEntry {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

/// The files of one output directory, group_GGGGG folders included, by name.
struct Listing {
  std::filesystem::path directory;
  int number = 0;  ///< NNNNN of output_NNNNN, from the name of the info file
  std::map<std::string, FileEntry, std::less<>> files;
};

/// The output directory that a path names: the path itself, or the directory of a file in it or in one of its group
/// folders. Nothing if there is no info_NNNNN.txt.
std::optional<Listing> list_output(const std::filesystem::path& path);
/// "amr_00080.out00017" for kind "amr", domain 16.
std::string file_name(const Listing& listing, const std::string& kind, int domain);
/// Returns the entry of a domain's file. Throws Error(unreadable) with its name if it is missing.
const FileEntry& file_of(const Listing& listing, const std::string& kind, int domain);
const FileEntry* find_file(const Listing& listing, const std::string& name);
/// Returns whether any domain has a file of this kind.
bool has_kind(const Listing& listing, const std::string& kind);

/// One cell variable: its file, and its record there.
struct CellVariable {
  CellKind kind{};
  int index = 0;  ///< in record order, from 0
};

/// An opened output: everything that all domains share.
struct Output {
  Listing listing;
  AmrHeader amr;                                     ///< of domain 1, without its list tables
  std::map<CellKind, CellHeader> kinds;              ///< of domain 1; the kinds there are
  std::vector<CellVariable> variables;               ///< one a field of `header`
  std::vector<mesh::FieldInfo> particle_attributes;  ///< empty: no part files
  std::int64_t particle_count = 0;
  mesh::Header header;
  std::vector<mesh::LevelCount> levels;
  std::vector<std::string> notes;
};

/// Opens the text files and the headers of the files of domain 1. If no text has the number of particles, also reads
/// the headers of all part files.
Output open_output(Listing listing);

/// Adds what only the headers of all part files tell: the random seeds of all domains, one domain after another
/// ("localseeds"), and the masses of stars that the run has made and lost ("mstar_tot", "mstar_lost"). Opens them all.
void keep_particle_heads(const Output& output, mesh::Header& header);

}  // namespace octavo::formats::ramses
