#include "octavo/telemac/cut/partition_names.hpp"

#include <sys/stat.h>

#include <charconv>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/store/store.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

/// The same for all names of a file or folder; empty if it does not exist.
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const fs::path& path) {
  struct ::stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return Identity(found.st_dev, found.st_ino);
}

std::map<Identity, fs::path> identities_of_inputs(const fs::path& mesh, const PartitionOptions& options) {
  std::map<Identity, fs::path> inputs;
  const auto add = [&](const fs::path& path) {
    if (const auto identity = identity_of(path)) inputs.emplace(*identity, path);
  };
  add(mesh);
  for (const auto& [name, path] : options.also) add(path);
  for (const auto* path : {&options.boundary, &options.sections, &options.zones, &options.weirs, &options.cut})
    if (*path) add(**path);
  return inputs;
}

/// Names of the files that are made: whole names, and those that get a part's number.
struct MadeNames {
  std::set<std::string> whole, numbered;

  void add(const std::string& name, PieceLayout layout, std::int32_t parts) {
    if (parts <= 1)
      whole.insert(name);
    else if (layout == PieceLayout::files)
      numbered.insert(name);
    else
      whole.insert({concat_path(name).string(), index_path(name).string()});
  }
};

MadeNames made_by(const std::string& stem, const PartitionOptions& options) {
  MadeNames made;
  std::vector<std::string> series{"GEO"};
  for (const auto& [name, path] : options.also) series.push_back(name);
  for (const std::string& name : series)
    if (options.layout == PieceLayout::med || options.layout == PieceLayout::octavo)
      made.whole.insert(stem + name + (options.layout == PieceLayout::med ? ".med" : ".octavo"));
    else
      made.add(stem + name, options.layout, options.parts);
  if (options.boundary || options.conditions) {
    made.add(stem + "CLI", options.layout, options.parts);
    if (options.parts > 1) made.add(stem + "PAR", options.layout, options.parts);
  }
  if (options.sections) made.add(stem + "SEC", side_layout(options), options.parts);
  if (options.zones) made.add(stem + "ZFI", side_layout(options), options.parts);
  if (options.weirs) made.add(stem + "SEU", side_layout(options), options.parts);
  return made;
}

bool is_made(const std::string& name, const MadeNames& made, std::int32_t parts) {
  if (made.whole.count(name) > 0) return true;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return false;
  std::int32_t part = -1;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + dash + 1, end, part);
  if (parsed.ec != std::errc() || parsed.ptr != end || part < 0 || part >= parts) return false;
  for (const std::string& prefix : made.numbered)
    if (piece_path(prefix, parts, part).string() == name) return true;
  return false;
}

Error would_replace(const fs::path& out, const fs::path& input) {
  return Error(Kind::usage, "the output " + out.string() + " would replace the input")
      .at(input.string())
      .hint("another -o");
}

Error wrong_cut(const PartitionOptions& options, const std::string& message) {
  Error error(Kind::corrupt, message);
  if (options.cut) error.at(options.cut->string());
  return error;
}

/// By its first bytes.
bool begins_as_piece(const fs::path& path) {
  if (fs::is_directory(path)) return store::recognise(path);
  const file::File file = file::open_read(path);
  std::string text(64, '\0');
  text.resize(file::pread_some(file, 0, std::as_writable_bytes(std::span(text))));
  using namespace std::string_literals;
  for (const std::string& first : {"\0\0\0\0\0\0\0\1"s, "\0\0\0\1"s, "\x89HDF"s, "\x93NUMPY"s})
    if (text.starts_with(first)) return true;
  const std::size_t word = text.find_first_not_of(" \t\r\n");
  if (word == std::string::npos || (text[word] >= '0' && text[word] <= '9')) return true;
  for (const char* comment : {"# SECTIONS", "Nb de singularites", "NB DE SINGULARITES"})  // as partel's begin
    if (text.find(comment) == word) return true;
  return formats::serafin::looks_like_series(path);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The file that the cut is written to is no input, no piece of this cut, and no other file that is there.
void require_place_of_cut(const fs::path& path, const fs::path& prefix, const std::map<Identity, fs::path>& inputs,
                          const MadeNames& made, const PartitionOptions& options) {
  require_folder(path);
  if (is_made(path.filename().string(), made, options.parts) &&
      identity_of(folder_of(path)) == identity_of(folder_of(prefix)))
    throw Error(Kind::usage, "the cut would be written over a piece").at(path.string()).hint("another --write-cut");
  const auto identity = identity_of(path);
  if (const auto input = identity ? inputs.find(*identity) : inputs.end(); input != inputs.end())
    throw would_replace(path, input->second);
  if (!options.overwrite) require_piece(path);
}

}  // namespace

void require_folder(const fs::path& prefix) {
  const fs::path folder = folder_of(prefix);
  if (!fs::is_directory(folder))
    throw Error(Kind::usage, "the folder of the output does not exist")
        .at(folder.string())
        .hint("mkdir -p " + folder.string());
}

void require_inputs_stay(const std::vector<fs::path>& outs, const std::vector<fs::path>& inputs) {
  std::map<Identity, fs::path> known;
  for (const fs::path& input : inputs)
    if (const auto identity = identity_of(input)) known.emplace(*identity, input);
  for (const fs::path& out : outs) {
    const auto identity = identity_of(out);
    if (const auto input = identity ? known.find(*identity) : known.end(); input != known.end())
      throw would_replace(out, input->second);
  }
}

void require_piece(const fs::path& path) {
  if (fs::exists(path) && !begins_as_piece(path))
    throw Error(Kind::usage, path.string() + " exists already, and is no piece").hint("another -o; -f replaces it");
}

void require_parts(const PartitionOptions& options, std::int64_t elements, const fs::path& mesh) {
  if (options.parts > elements)
    throw Error(options.cut || options.part_of ? Kind::corrupt : Kind::usage,
                "more parts than elements: expected 1 to " + std::to_string(elements) +
                    " parts (one an element), found " + std::to_string(options.parts))
        .at(mesh.string());
  partition::check_parts(options.parts, elements);
}

void require_parts_off_boundary(std::int64_t along, std::int64_t elements, const PartitionOptions& options) {
  const std::int64_t most = elements - along + (along > 0 ? 1 : 0);
  if (options.parts > most)
    throw Error(Kind::usage, "expected 1 to " + std::to_string(most) + " parts, found " +
                                 std::to_string(options.parts) + ": ARTEMIS needs the " + std::to_string(along) +
                                 " elements along the boundary in its first piece, which leaves " +
                                 std::to_string(elements - along) + " of " + std::to_string(elements) +
                                 " for the others");
}

void require_cut_of(std::int64_t entries, std::int64_t elements, const PartitionOptions& options) {
  if (entries != elements)
    throw wrong_cut(options, "expected " + std::to_string(elements) + " part numbers, one an element, found " +
                                 std::to_string(entries));
}

void require_part(std::int32_t part, const PartitionOptions& options) {
  if (part < 0 || part >= options.parts)
    throw wrong_cut(options, "expected part numbers from 0 to " + std::to_string(options.parts - 1) + ", found " +
                                 std::to_string(part));
}

void require_no_empty(std::int64_t empty, const PartitionOptions& options) {
  if (empty > 0)
    throw wrong_cut(options, "the cut leaves " + std::to_string(empty) + " of " + std::to_string(options.parts) +
                                 " parts without an element");
}

void require_inputs_stay(const fs::path& mesh, const fs::path& prefix, const PartitionOptions& options) {
  require_folder(prefix);
  const auto inputs = identities_of_inputs(mesh, options);
  const MadeNames made = made_by(prefix.filename().string(), options);
  if (options.write_cut) require_place_of_cut(*options.write_cut, prefix, inputs, made, options);
  std::error_code none;
  // We look at the existing names, which are fewer than there may be parts.
  for (const auto& entry : fs::directory_iterator(folder_of(prefix), none)) {
    if (!is_made(entry.path().filename().string(), made, options.parts)) continue;
    const auto identity = identity_of(entry.path());
    const auto input = identity ? inputs.find(*identity) : inputs.end();
    if (input != inputs.end()) throw would_replace(entry.path(), input->second);
    if (!options.overwrite) require_piece(entry.path());
  }
}

}  // namespace octavo::telemac
