#include "octavo/formats/flash/schema.hpp"

#include <algorithm>
#include <array>

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using file::hdf5::Info;

namespace {

constexpr std::array<std::string_view, 15> own_names{
    "sim info", "unknown names", "refine level", "node type",  "which child",  "processor number", "bflags",
    "gid",      "gsurr_blks",    "coordinates",  "block size", "bounding box", "tracer particles", "particle names",
    "localnp"};

constexpr std::array<std::string_view, 3> kind_names{"checkpoint", "plotfile", "particles"};

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (std::uint64_t extent : shape) text += (text.empty() ? "(" : ", ") + std::to_string(extent);
  return text + ")";
}

/// Plotfiles differ from checkpoints only in precision and in the missing particles, so we go by the name.
FileKind kind_of(const OpenedFlash& source) {
  if (!has(source, "refine level")) return FileKind::particles;
  const std::string name = source.file.path().filename().string();
  return name.find("_plt_") != std::string::npos ? FileKind::plotfile : FileKind::checkpoint;
}

/// Also true for a link, whose values we do not read.
bool has_name(const OpenedFlash& source, const std::string& name) {
  return has(source, name) || std::any_of(source.others.begin(), source.others.end(),
                                          [&](const file::hdf5::Other& other) { return other.name == name; });
}

bool is_flash(const OpenedFlash& source) {
  const bool tree =
      has_name(source, "refine level") && has_name(source, "node type") && has_name(source, "bounding box");
  const bool particles = has_name(source, "tracer particles") && has_name(source, "particle names");
  return tree || particles || (has(source, "sim info") && has(source, "integer scalars"));
}

OpenedFlash read_source(const std::filesystem::path& path) {
  OpenedFlash source;
  source.file = file::hdf5::open(path);
  file::hdf5::Contents contents = file::hdf5::contents(source.file);
  for (Info& info : contents.sets) source.sets.emplace(info.name, std::move(info));
  for (const file::hdf5::Other& other : contents.others)
    if (other.damage && is_own(other.name)) throw *other.damage;
  source.others = std::move(contents.others);
  source.kind = kind_of(source);
  return source;
}

}  // namespace

std::string to_string(FileKind kind) { return std::string(kind_names[static_cast<std::size_t>(kind)]); }

FileKind file_kind(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (kind_names[i] == name) return static_cast<FileKind>(i);
  throw Error(Kind::corrupt, "\"" + std::string(name) + "\" is no kind of FLASH file");
}

bool recognise(const std::filesystem::path& path) {
  if (!file::hdf5::has_signature(path)) return false;
  // Without HDF5 we cannot look inside; opening the file then says so.
  if (!file::hdf5::available()) return true;
  try {
    return is_flash(read_source(path));
  } catch (const Error& error) {
    // We go by the name, so that a damaged FLASH file is reported as damaged and not as an unknown format.
    return path.filename().string().find("_hdf5_") != std::string::npos;
  }
}

OpenedFlash open_source(const std::filesystem::path& path) {
  OpenedFlash source = read_source(path);
  if (!is_flash(source))
    throw Error(Kind::corrupt,
                "not a FLASH file: expected the data sets \"refine level\", \"node type\" and \"bounding "
                "box\", or \"tracer particles\" and \"particle names\"")
        .at(path.string());
  return source;
}

bool is_own(const std::string& name) {
  for (const char* type : {"integer", "real", "string", "logical"})
    for (const char* list : {" scalars", " runtime parameters"})
      if (name == type + std::string(list)) return true;
  return std::find(own_names.begin(), own_names.end(), name) != own_names.end();
}

bool has(const OpenedFlash& source, const std::string& name) { return source.sets.count(name) > 0; }

const Info& set(const OpenedFlash& source, const std::string& name) {
  const auto found = source.sets.find(name);
  if (found != source.sets.end()) return found->second;
  for (const file::hdf5::Other& other : source.others)
    if (other.name == name && other.damage)
      throw *other.damage;
    else if (other.name == name)
      throw Error(Kind::unsupported, "expected a data set, found " + to_string(other.what) +
                                         ": files and places that a file names are not opened")
          .at(source.file.path().string() + ", data set \"" + name + "\"");
  throw error_in(source, name, "the data set is missing");
}

const Info& set(const OpenedFlash& source, const std::string& name, const std::vector<std::uint64_t>& shape,
                file::hdf5::Class kind) {
  const Info& info = set(source, name);
  if (info.shape != shape || info.type.kind != kind)
    throw error_in(source, name,
                   "expected " + shape_text(shape) +
                       (kind == file::hdf5::Class::integer ? " of integers" : " of reals") + ", found " +
                       file::hdf5::describe(info));
  return info;
}

Error error_in(const OpenedFlash& source, const std::string& set, std::string message) {
  return Error(Kind::corrupt, std::move(message)).at(source.file.path().string() + ", data set \"" + set + "\"");
}

std::string trimmed(std::string_view text) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) text = text.substr(0, nul);
  const std::size_t last = text.find_last_not_of(' ');
  return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::string padded(std::string_view text, std::size_t width) {
  if (text.size() > width)
    throw Error(Kind::usage, "\"" + std::string(text) + "\" is longer than the " + std::to_string(width) +
                                 " characters that FLASH has for it");
  return std::string(text) + std::string(width - text.size(), ' ');
}

}  // namespace octavo::formats::flash
