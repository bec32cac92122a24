#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The text files of a RAMSES output.
namespace octavo::formats::ramses {

/// Reads a small text file whole. Throws Error(corrupt) above 64 MiB: none of these files is so large.
std::string read_text(const std::filesystem::path& path);

/// info_NNNNN.txt: the lines `name = value`, names and values trimmed, up to the table of domains (whose keys have 16
/// digits only: the amr files have them in full).
struct InfoText {
  std::filesystem::path path;
  std::map<std::string, std::string> values;
  std::string ordering;  ///< empty where the file has none
};
InfoText parse_info(std::string_view text, const std::filesystem::path& path);

/// Returns a value that must be there. Otherwise throws Error(corrupt), which names the file and the line.
std::int64_t integer(const InfoText& info, const std::string& name);
double real(const InfoText& info, const std::string& name);
/// Returns a value that old or patched versions may lack.
double real_or(const InfoText& info, const std::string& name, double otherwise);

/// One line of a file descriptor. Types are struct-module letters: d f8, f f4, i i4, q i8, h i2, b i1.
struct DescriptorLine {
  std::string name;  ///< trimmed
  char type = 'd';
};
/// hydro_file_descriptor.txt, part_file_descriptor.txt, rt_file_descriptor.txt, in record order; the older version
/// without types ("variable #  1: density") too. Returns nothing if the text is neither. A repeated name gets its
/// number appended.
std::optional<std::vector<DescriptorLine>> parse_descriptor(std::string_view text);

/// The particles in header_NNNNN.txt.
struct ParticleHeader {
  std::optional<std::int64_t> count;  ///< of all families
  std::vector<std::string> fields;    ///< "pos", "vel", "mass", "iord", "level" ...
};
ParticleHeader parse_header(std::string_view text);

/// A text file that we keep as an attribute, so that a copy of the output has it again.
struct CarriedText {
  const char* attribute;
  const char* stem;
  bool numbered;  ///< stem_NNNNN
  const char* extension;
};
inline constexpr CarriedText carried_texts[] = {
    {"namelist", "namelist", false, ".txt"}, {"compilation", "compilation", false, ".txt"},
    {"sink_csv", "sink", true, ".csv"},      {"stellar_csv", "stellar", true, ".csv"},
    {"info_rt", "info_rt", true, ".txt"},
};

/// Files of the whole run that we keep as opaque bytes of part 0, by the name `carried_prefix` and their own: the state
/// of the turbulent forcing.
inline constexpr const char* carried_files[] = {"turb_fields.dat", "turb_last.0.dat", "turb_next.0.dat"};
inline constexpr const char* carried_prefix = "ramses/run/";

}  // namespace octavo::formats::ramses
