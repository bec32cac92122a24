#include "octavo/formats/formats.hpp"

#include <array>
#include <cerrno>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/formats/amrex/amrex.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/formats/vtkhdf/vtkhdf.hpp"

namespace octavo::formats {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

constexpr std::array<Format, 6> formats{
    {{"ramses", &ramses::recognise, &ramses::open},
     {"amrex", &amrex::recognise, &amrex::open},
     {"flash", &flash::recognise, &flash::open},
     {"serafin", &serafin::recognise, &serafin::open, &serafin::open_step, &serafin::times},
     {"med", &med::recognise, &med::open, &med::open_step, &med::times},
     {"vtkhdf", &vtkhdf::recognise, &vtkhdf::open, &vtkhdf::open_step, &vtkhdf::times}}};

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
  return Error(Kind::corrupt,
               "expected a store, or a RAMSES, AMReX, FLASH, SERAFIN, MED or VTKHDF output, found " + found)
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

mesh::Dataset open(const fs::path& path) { return format_of(path).open(path); }

}  // namespace octavo::formats
