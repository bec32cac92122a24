#include <fstream>
#include <sstream>

#include "octavo/base/error.hpp"
#include "octavo/engine/options.hpp"

// The one file that needs toml++ (Debian: libtomlplusplus-dev); without it, options come from variables and code.
#if __has_include(<toml++/toml.h>)
#define OCTAVO_HAS_TOML 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#include <toml++/toml.h>
#pragma GCC diagnostic pop
#else
#define OCTAVO_HAS_TOML 0
#endif

namespace octavo::engine {

using base::Error;
using base::Kind;

bool reads_toml() noexcept { return OCTAVO_HAS_TOML != 0; }

#if OCTAVO_HAS_TOML
namespace {

std::string place_of(const std::filesystem::path& file, const toml::source_region& region) {
  return file.string() + ", line " + std::to_string(region.begin.line);
}

// The value as the text that a variable would have, because the table of options has one parser for both.
std::string text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto number = node.value_exact<double>()) {
    std::ostringstream text;
    text << *number;
    return text.str();
  }
  if (const toml::array* list = node.as_array()) {
    std::string text;
    for (const toml::node& item : *list) text += (text.empty() ? "" : ", ") + text_of(item);
    return text;
  }
  throw Error(Kind::usage, "expected a text, a number, true or false, or a list of texts");
}

void read_table(Options& options, const toml::table& table, const std::string& prefix,
                const std::filesystem::path& file) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      read_table(options, *inner, name + ".", file);
      continue;
    }
    try {
      set_option(options, name, text_of(node));
    } catch (Error& error) {
      throw error.at(place_of(file, node.source()));
    }
  }
}

}  // namespace

void read_toml(Options& options, const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw Error(Kind::unreadable, "cannot read the options").at(file.string());
  try {
    read_table(options, toml::parse(text.str()), "", file);
  } catch (const toml::parse_error& error) {
    throw Error(Kind::usage, std::string(error.description())).at(place_of(file, error.source()));
  }
}
#else
void read_toml(Options&, const std::filesystem::path& file) {
  throw Error(Kind::unsupported, "this build of Octavo reads no TOML files")
      .at(file.string())
      .hint("install libtomlplusplus-dev and build again, or set OCTAVO_* variables");
}
#endif

}  // namespace octavo::engine
