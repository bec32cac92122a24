#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/formats/ramses/write_records.hpp"

namespace octavo::formats::ramses {

/// info_NNNNN.txt, with the table of domains.
void write_info(const std::filesystem::path& path, const Plan& plan);
/// header_NNNNN.txt: particles by family (-5 to 5, undefined), and their fields.
void write_header_text(const std::filesystem::path& path, const std::vector<std::int64_t>& by_family,
                       const std::vector<mesh::FieldInfo>& attributes);
/// A file descriptor, version 1. Types are struct-module letters.
void write_descriptor(const std::filesystem::path& path, const std::vector<std::string>& names,
                      const std::vector<mesh::ScalarType>& types);
/// The texts that an output is read with (namelist.txt, compilation.txt, sinks ...); `suffix` is "_NNNNN".
void write_carried_texts(const mesh::Header& header, const std::filesystem::path& directory, const std::string& suffix);

}  // namespace octavo::formats::ramses
