#include <charconv>
#include <cstdio>
#include <system_error>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/output.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

void add_files(const fs::path& directory, Listing& listing) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const auto bytes = entry->file_size(ignored);
    listing.files.emplace(entry->path().filename().string(), FileEntry{entry->path(), ignored ? 0 : bytes});
  }
  if (error) throw base::system_error("list the directory", error.value()).at(directory.string());
}

// The directory that holds the output, if there is one.
fs::path directory_of(const fs::path& path) {
  std::error_code error;
  // A trailing slash would hide the directory's name.
  fs::path directory = fs::is_directory(path, error) ? path : path.parent_path();
  if (directory.filename().empty()) directory = directory.parent_path();
  if (directory.filename().string().starts_with("group_")) directory = directory.parent_path();
  return directory.empty() ? "." : directory;
}

bool is_group(const fs::path& directory) { return directory.filename().string().starts_with("group_"); }

// NNNNN of info_NNNNN.txt
std::optional<int> info_number(const std::string& name) {
  constexpr std::string_view before = "info_", after = ".txt";
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() < before.size() + after.size() + 5) return {};
  int number = 0;
  const char* last = name.data() + name.size() - after.size();
  const auto [end, error] = std::from_chars(name.data() + before.size(), last, number);
  if (error != std::errc{} || end != last) return {};
  return number;
}

std::string five_digits(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "%05d", number);
  return text;
}

// If the directory has info files of several outputs, we take the number that the directory's name has.
std::optional<int> find_number(const Listing& listing) {
  std::optional<int> found;
  for (auto entry = listing.files.lower_bound("info_"); entry != listing.files.end(); ++entry) {
    if (!entry->first.starts_with("info_")) break;
    const auto number = info_number(entry->first);
    if (!number) continue;
    if (!found || listing.directory.filename().string().ends_with(five_digits(*number))) found = number;
  }
  return found;
}

}  // namespace

bool recognise(const fs::path& path) {
  std::error_code error, ignored;
  for (fs::directory_iterator entry(directory_of(path), error), end; !error && entry != end; entry.increment(error))
    if (info_number(entry->path().filename().string()) && entry->is_regular_file(ignored)) return true;
  return false;
}

std::optional<Listing> list_output(const fs::path& path) {
  std::error_code error;
  const fs::path directory = directory_of(path);
  if (!fs::is_directory(directory, error)) return {};
  Listing listing{directory, 0, {}};
  add_files(directory, listing);
  const auto number = find_number(listing);
  if (!number) return {};
  listing.number = *number;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (is_group(entry->path()) && entry->is_directory(ignored)) add_files(entry->path(), listing);
  }
  return listing;
}

std::string file_name(const Listing& listing, const std::string& kind, int domain) {
  return kind + "_" + five_digits(listing.number) + ".out" + five_digits(domain + 1);
}

const FileEntry* find_file(const Listing& listing, const std::string& name) {
  const auto found = listing.files.find(name);
  return found == listing.files.end() ? nullptr : &found->second;
}

const FileEntry& file_of(const Listing& listing, const std::string& kind, int domain) {
  const std::string name = file_name(listing, kind, domain);
  if (const FileEntry* entry = find_file(listing, name)) return *entry;
  throw Error(Kind::unreadable, "the file of domain " + std::to_string(domain + 1) + " is missing: " + name)
      .at(listing.directory.string())
      .hint("copy the whole output directory: every domain has one " + kind + " file");
}

bool has_kind(const Listing& listing, const std::string& kind) {
  const std::string start = kind + "_" + five_digits(listing.number) + ".out";
  const auto found = listing.files.lower_bound(start);
  return found != listing.files.end() && found->first.starts_with(start);
}

}  // namespace octavo::formats::ramses
