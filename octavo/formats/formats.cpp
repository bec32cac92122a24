#include "octavo/formats/formats.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/formats/amrex/amrex.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/gmsh/gmsh.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/formats/serafin/write_series.hpp"
#include "octavo/formats/ugrid/ugrid.hpp"
#include "octavo/formats/vtkhdf/vtkhdf.hpp"
#include "octavo/formats/vtkhdf/write_series.hpp"

namespace octavo::formats {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

/// An output that is one step.
template <auto open_output>
mesh::Dataset open_one(const fs::path& path, std::optional<std::int64_t>) {
  return open_output(path);
}

using OpenOne = mesh::Dataset (*)(const fs::path&);

// ------------------------------------------------------------------------------------------------- series of triangles

constexpr std::array<std::string_view, 2> serafin_endings{".slf", ".srf"};
constexpr std::array<std::string_view, 1> med_endings{".med"}, vtkhdf_endings{".vtkhdf"}, ugrid_endings{".nc"},
    gmsh_endings{".msh"};

constexpr Format serafin_row{
    .name = "serafin",
    .title = "SERAFIN",
    .recognise = &serafin::recognise,
    .open = &serafin::open,
    .understand = &serafin::understand,
    .list_steps = &serafin::list_steps,
    .triangles = true,
    .endings = serafin_endings,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport&) { serafin::write(steps, path, request); },
    .common_names = &serafin::common_names,
};

constexpr Format med_row{
    .name = "med",
    .title = "MED",
    .recognise = &med::recognise,
    .open = &med::open,
    .list_steps = &med::list_steps,
    .triangles = true,
    .endings = med_endings,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport& report) { med::write(steps, path, request, request.med, report); },
    .common_names = &serafin::common_names,
};

constexpr Format vtkhdf_row{
    .name = "vtkhdf",
    .title = "VTKHDF",
    .recognise = &vtkhdf::recognise,
    .open = &vtkhdf::open,
    .list_steps = &vtkhdf::list_steps,
    .triangles = true,
    .polygons = true,
    .endings = vtkhdf_endings,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport&) { vtkhdf::write(steps, path, request); },
    .common_names = &serafin::common_names,
};

constexpr Format ugrid_row{
    .name = "ugrid",
    .title = "UGRID",
    .recognise = &ugrid::recognise,
    .open = &ugrid::open,
    .list_steps = &ugrid::list_steps,
    .triangles = true,
    .polygons = true,
    .endings = ugrid_endings,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport&) { ugrid::write(steps, path, request); },
    .common_names = &ugrid::common_names,
};

constexpr Format gmsh_row{
    .name = "gmsh",
    .title = "Gmsh",
    .recognise = &gmsh::recognise,
    .open = &gmsh::open,
    .list_steps = &gmsh::list_steps,
    .triangles = true,
    .polygons = true,
    .endings = gmsh_endings,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest&,
                WriteReport& report) { gmsh::write(steps, path, report); },
    .common_names = &serafin::common_names,
};

// ------------------------------------------------------------------------------------------------------ steps of cells

constexpr Format ramses_row{
    .name = "ramses",
    .title = "RAMSES",
    .recognise = &ramses::recognise,
    .open = &open_one<OpenOne(&ramses::open)>,
    .understand = &ramses::understand,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport& report) { ramses::write(steps.first, path, request, request.ramses, report); },
    .words = &ramses::words,
    .one_process = true,
    .misfit = [](const mesh::FieldInfo& field, const std::string& name,
                 const WriteRequest& request) { return ramses::misfit(field, name, request); },
    .wanted_mesh = [](const mesh::Dataset& step,
                      const WriteRequest& request) { return ramses::wanted_mesh(step, request); },
    .goes_on = [](const WriteRequest&) { return true; },
    .name_note = [](const WriteRequest& request) { return ramses::name_note(request, request.ramses); },
};

constexpr Format amrex_row{
    .name = "amrex",
    .title = "AMReX",
    .recognise = &amrex::recognise,
    .open = &open_one<OpenOne(&amrex::open)>,
    .understand = &amrex::understand,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport& report) { amrex::write(steps.first, path, request, request.amrex, report); },
    .words = &amrex::words,
    .misfit = [](const mesh::FieldInfo& field, const std::string&,
                 const WriteRequest& request) { return amrex::misfit(field, request, request.amrex); },
    .wanted_mesh = [](const mesh::Dataset& step,
                      const WriteRequest& request) { return amrex::wanted_mesh(step, request, request.amrex); },
    .goes_on = [](const WriteRequest& request) { return amrex::goes_on(request); },
    .forget_layout = [](mesh::Header& header, std::vector<std::string>&) { amrex::forget_layout(header); },
};

constexpr Format flash_row{
    .name = "flash",
    .title = "FLASH",
    .recognise = &flash::recognise,
    .open = &open_one<OpenOne(&flash::open)>,
    .understand = &flash::understand,
    .write = [](const Series& steps, const fs::path& path, const WriteRequest& request,
                WriteReport& report) { flash::write(steps.first, path, request, report); },
    .words = &flash::words,
    .misfit = [](const mesh::FieldInfo& field, const std::string&,
                 const WriteRequest&) { return flash::misfit(field); },
    .wanted_mesh = [](const mesh::Dataset& step,
                      const WriteRequest& request) { return flash::wanted_mesh(step, request); },
    .goes_on = [](const WriteRequest& request) { return flash::goes_on(request); },
    .name_note = [](const WriteRequest& request) { return flash::name_note(request.out); },
    .forget_layout = &flash::forget_layout,
    .lost_note = &flash::lost_note,
};

constexpr std::array<Format, 8> formats{
    {ramses_row, amrex_row, flash_row, serafin_row, med_row, vtkhdf_row, ugrid_row, gmsh_row}};

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
  return Error(
             Kind::corrupt,
             "expected a store, or a RAMSES, AMReX, FLASH, SERAFIN, MED, VTKHDF, UGRID or Gmsh output, found " + found)
      .at(path.string())
      .hint("give the output's directory, such as output_00080");
}

}  // namespace

std::span<const Format> table() { return formats; }

const Format& format_of(const fs::path& path) {
  for (const Format& format : formats)
    if (format.recognise(path)) return format;
  throw not_recognised(path);
}

const Format& format_named(std::string_view name) {
  std::string known;
  for (const Format& format : formats) {
    if (format.name == name) return format;
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  }
  throw Error(Kind::usage, "no format '" + std::string(name) + "': there are " + known);
}

const Words& words_of(const mesh::Header& header) {
  for (const Format& format : formats)
    if (format.words != nullptr && format.words->code == header.code) return *format.words;
  return ramses::words;
}

namespace {

/// All tables of words, those of the step's own code first.
std::vector<std::span<const Word>> tables_for(const mesh::Header& header) {
  const Words& own = words_of(header);
  std::vector<std::span<const Word>> tables{own.fields, own.also};
  for (const Format& format : formats) {
    if (format.words != nullptr && format.words != &own) {
      tables.push_back(format.words->fields);
      tables.push_back(format.words->also);
    }
    if (format.common_names != nullptr) tables.push_back(format.common_names());
  }
  return tables;
}

bool has_plain_field(const mesh::Header& header, std::string_view name) {
  return std::any_of(header.fields.begin(), header.fields.end(), [&](const mesh::FieldInfo& field) {
    return field.name == name && field.components == 1 && field.ghost == 0;
  });
}

}  // namespace

std::optional<std::string> field_meant(const mesh::Header& header, std::string_view name) {
  const auto tables = tables_for(header);
  std::string_view common = name;
  for (const auto& table : tables)
    for (const Word& word : table)
      if (word.own == name && common == name) common = word.common;
  if (common != name && has_plain_field(header, common)) return std::string(common);
  for (const auto& table : tables)
    for (const Word& word : table)
      if (word.common == common && has_plain_field(header, word.own)) return std::string(word.own);
  return {};
}

mesh::Dataset open(const fs::path& path) { return format_of(path).open(path, {}); }

}  // namespace octavo::formats
