#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/formats/ramses/sources.hpp"
#include "octavo/formats/ramses/write_records.hpp"

namespace octavo::formats::ramses {

inline constexpr int reflecting_bound_type = 1, free_bound_type = 2;  ///< numbers of RAMSES' namelist

/// info_NNNNN.txt, with the table of domains.
void write_info(const std::filesystem::path& path, const DomainFilePlan& plan);
/// header_NNNNN.txt: particles by family (-5 to 5, undefined), and their fields.
void write_header_text(const std::filesystem::path& path, const std::vector<std::int64_t>& by_family,
                       const std::vector<mesh::FieldInfo>& attributes);
/// A file descriptor, version 1. Types are struct-module letters.
void write_descriptor(const std::filesystem::path& path, const std::vector<std::string>& names,
                      const std::vector<mesh::ScalarType>& types);
/// The text of &BOUNDARY_PARAMS that the namelist needs for walls numbered -x +x -y +y -z +z. Walls of a later axis
/// reach over those of earlier axes. A wall of unknown type (attribute bound_type) becomes a free one, 2.
std::string boundary_params(const mesh::Header& header);
/// A sentence for the user if the box is not one coarse cell, which RAMSES' namelist cannot express; else empty.
std::string coarse_cells(const DomainFilePlan& plan);
/// A namelist for going on from a step of another code. It has the parameters that follow from the output; the user
/// adds the rest, for example when to stop.
void write_namelist(const std::filesystem::path& path, const DomainFilePlan& plan);
/// The texts that an output is read with (namelist.txt, compilation.txt, sinks ...); `suffix` is "_NNNNN".
void write_carried_texts(const mesh::Header& header, const std::filesystem::path& directory, const std::string& suffix);
/// The files among the bytes of part 0.
void write_carried_files(const OpaqueBytes& bytes, const std::filesystem::path& directory);

}  // namespace octavo::formats::ramses
