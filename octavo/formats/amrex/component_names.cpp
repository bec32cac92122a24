#include <algorithm>
#include <set>

#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/headers.hpp"
#include "octavo/formats/amrex/writer.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;

bool needs_names(const NamedComponents& multifab) {
  const int count = static_cast<int>(multifab.names.size());
  for (int c = 0; c < count; ++c)
    if (multifab.names[static_cast<std::size_t>(c)] != plain_component_name(multifab.multifab, c, count)) return true;
  return false;
}

}  // namespace

std::string plain_component_name(const std::string& multifab, int component, int components) {
  return components == 1 ? multifab : multifab + "_" + std::to_string(component);
}

void write_text(const fs::path& path, const std::string& text, bool sync) {
  file::File made = file::create(path);
  file::pwrite_all(made, 0, std::as_bytes(std::span(text)));
  if (sync) file::sync(made);
  made.close();
}

void write_component_names(const fs::path& checkpoint, std::span<const NamedComponents> multifabs, bool sync) {
  if (std::none_of(multifabs.begin(), multifabs.end(), needs_names)) return;
  std::string text;
  for (const NamedComponents& multifab : multifabs)
    for (const std::string& name : multifab.names) text.append(multifab.multifab).append(" ").append(name).append("\n");
  write_text(checkpoint / component_names_file, text, sync);
}

std::map<std::string, std::vector<std::string>> read_component_names(const fs::path& checkpoint) {
  std::error_code ignored;
  std::map<std::string, std::vector<std::string>> names;
  if (!fs::is_regular_file(checkpoint / component_names_file, ignored)) return names;
  Text text = read_text(checkpoint / component_names_file);
  std::set<std::string> known;
  while (!text.at_end()) {
    const std::string multifab = text.word(), name = text.name();
    if (name.empty() || !known.insert(name).second)
      throw text.error("expected a name of its own for each component, found \"" + name + "\"");
    names[multifab].push_back(name);
  }
  return names;
}

}  // namespace octavo::formats::amrex
