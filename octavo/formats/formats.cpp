#include "octavo/formats/formats.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/formats/amrex/row.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/formats/gmsh/row.hpp"
#include "octavo/formats/med/row.hpp"
#include "octavo/formats/ramses/row.hpp"
#include "octavo/formats/serafin/row.hpp"
#include "octavo/formats/ugrid/row.hpp"
#include "octavo/formats/vtkhdf/row.hpp"
#include "octavo/formats/xdmf/row.hpp"
#include "octavo/mesh/specific.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

/// The first one that recognises a path opens it.
constexpr std::array<const Format*, 9> formats{&ramses::row, &amrex::row, &flash::row, &serafin::row, &med::row,
                                               &vtkhdf::row, &ugrid::row, &gmsh::row,  &xdmf::row};

/// Why nothing recognised it, in words.
Error not_recognised(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return base::system_error("open the output", error.value() != 0 ? error.value() : ENOENT).at(path.string());
  std::string found = "a file of no known format";
  if (fs::is_directory(status)) {
    const fs::directory_iterator entries(path, error);
    if (error) return base::system_error("list the directory", error.value()).at(path.string());
    found = entries == fs::directory_iterator() ? "an empty directory"
                                                : "a directory with neither info_NNNNN.txt (RAMSES) nor Header (AMReX)";
  } else if (fs::is_regular_file(status) && fs::file_size(path, error) == 0) {
    found = "an empty file";
  }
  const std::string all = titles_of([](const Format&) { return true; });
  return Error(Kind::corrupt, "expected a store, or an output of " + all + ", found " + found)
      .at(path.string())
      .hint("give the output's directory, such as output_00080");
}

}  // namespace

std::span<const Format* const> table() { return formats; }

const Format* format_there(const fs::path& path) {
  for (const Format* format : formats)
    if (format->recognise(path)) return format;
  return nullptr;
}

const Format& format_of(const fs::path& path) {
  if (const Format* format = format_there(path)) return *format;
  throw not_recognised(path);
}

const Format* find_format(std::string_view name) {
  for (const Format* format : formats)
    if (format->name == name) return format;
  return nullptr;
}

const Format& format_named(std::string_view name) {
  if (const Format* format = find_format(name)) return *format;
  std::string known;
  for (const Format* format : formats) known += (known.empty() ? "" : ", ") + std::string(format->name);
  throw Error(Kind::usage, "no format '" + std::string(name) + "': there are " + known);
}

const Format* format_by_ending(const fs::path& path) {
  for (const Format* format : formats)
    for (const std::string_view ending : format->endings)
      if (path.extension() == ending) return format;
  return nullptr;
}

std::string titles_of(const std::function<bool(const Format&)>& wanted) {
  std::string titles;
  for (const Format* format : formats)
    if (wanted(*format)) titles += (titles.empty() ? "" : ", ") + std::string(format->title);
  return titles;
}

namespace {

/// Throws if the request is for another output than those that have the option. `stores`: they have it, too.
void require_owner(const WriteRequest& request, const std::string& option,
                   const std::function<bool(const Format&)>& has, bool stores = false) {
  const Format* asked = find_format(request.to);
  if (asked != nullptr ? has(*asked) : stores) return;
  const std::string owners = titles_of(has);
  if (owners.empty()) throw Error(Kind::usage, "no format has an option '" + option + "'");
  throw Error(Kind::usage, option + ": an option of " + (stores ? "stores, " : "") + owners + " outputs only")
      .hint("leave it out");
}

bool has_cells(const Format& format) { return !format.triangles; }
bool has_groups(const Format& format) { return format.read_groups != nullptr; }
bool has_kinds(const Format& format) { return !format.kinds.empty(); }

}  // namespace

void require_options(const WriteRequest& request) {
  for (const auto& [name, value] : request.own)
    require_owner(request, name, [&name = name](const Format& format) {
      const auto options = format.options == nullptr ? std::vector<OptionInfo>{} : format.options();
      return std::any_of(options.begin(), options.end(), [&](const OptionInfo& one) { return one.name == name; });
    });
  if (!request.kind.empty()) require_owner(request, "kind", &has_kinds);
  if (request.boundary) require_owner(request, "boundary", &has_groups);
  if (request.periodic) require_owner(request, "periodic", &has_cells);
  if (request.lossy_ok) require_owner(request, "lossy_ok", &has_cells);
  if (!request.rename.empty()) require_owner(request, "rename", &has_cells);
  if (request.block != 0) require_owner(request, "block", &has_cells, true);
  if (request.fill) require_owner(request, "fill", &has_cells, true);
  if (request.refine != 0) require_owner(request, "refine", &has_cells, true);
  if (!request.per_mass.empty()) require_owner(request, "per_mass", &has_cells, true);
}

const Words& common_words() { return ramses::words; }

const Words& words_of(const mesh::Header& header) {
  for (const Format* format : formats)
    if (format->words != nullptr && format->words->code == header.code) return *format->words;
  return common_words();
}

mesh::Specific specific_of(const mesh::Header& header, const std::vector<std::string>& more) {
  return mesh::specific_of(header, more, words_of(header).energies_per_mass);
}

mesh::CodeUnits code_units(const mesh::Dataset& dataset) {
  const mesh::Header& header = dataset.header;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool said = header.unit_length != 1 || header.unit_density != 1 || header.unit_time != 1;
  if (!said && !words_of(header).in_cgs) return {unknown, unknown, unknown};
  const double mass = dataset.unstructured
                          ? unknown
                          : header.unit_density * (header.unit_length * header.unit_length * header.unit_length);
  return {header.unit_length, mass, header.unit_time};
}

namespace {

/// All tables of words, those of the step's own code first.
std::vector<std::span<const Word>> tables_for(const mesh::Header& header) {
  const Words& own = words_of(header);
  std::vector<std::span<const Word>> tables{own.fields, own.also};
  for (const Format* format : formats) {
    if (format->words != nullptr && format->words != &own) {
      tables.push_back(format->words->fields);
      tables.push_back(format->words->also);
    }
    if (format->common_names != nullptr) tables.push_back(format->common_names());
  }
  return tables;
}

bool has_plain_field(const mesh::Header& header, std::string_view name) {
  return std::any_of(header.fields.begin(), header.fields.end(), [&](const mesh::FieldInfo& field) {
    return field.name == name && field.components == 1 && field.ghost == 0;
  });
}

}  // namespace

std::string_view common_name(const mesh::Header& header, std::string_view name) {
  for (const auto& table : tables_for(header))
    for (const Word& word : table)
      if (word.own == name && word.common != name) return word.common;
  return name;
}

std::optional<std::string> field_meant(const mesh::Header& header, std::string_view name) {
  const auto tables = tables_for(header);
  const std::string_view common = common_name(header, name);
  if (common != name && has_plain_field(header, common)) return std::string(common);
  for (const auto& table : tables)
    for (const Word& word : table)
      if (word.common == common && has_plain_field(header, word.own)) return std::string(word.own);
  return {};
}

mesh::Dataset open(const fs::path& path) { return format_of(path).open(path, {}); }

}  // namespace octavo::formats
