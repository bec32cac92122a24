#include "octavo/formats/serafin/odd_bytes.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "octavo/formats/row/words.hpp"

namespace octavo::formats::serafin {
namespace {

std::string hex_of(std::string_view bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {digits[byte / 16], digits[byte % 16]};
  }
  return hex;
}

/// As far as it is hexadecimal.
std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 2 <= hex.size(); i += 2) {
    unsigned char byte = 0;
    const auto parsed = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != hex.data() + i + 2) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

template <std::size_t N>
std::string_view view(const std::array<char, N>& text) {
  return {text.data(), text.size()};
}

/// NULs are odd always: not every file keeps them in a text.
template <std::size_t N>
bool is_odd(const std::array<char, N>& text, const std::array<char, N>& again) {
  return text != again || view(text).find('\0') != std::string_view::npos;
}

std::string before_nul(const std::string& text) { return text.substr(0, text.find('\0')); }

bool same_title(const std::array<char, 80>& a, const std::array<char, 80>& b) {
  return before_nul(text_of(view(a).substr(0, 72))) == before_nul(text_of(view(b).substr(0, 72))) &&
         before_nul(tag_of(view(a).substr(72))) == before_nul(tag_of(view(b).substr(72)));
}

std::string text_in(const std::map<std::string, mesh::Attribute>& from, const char* name) {
  const auto found = from.find(name);
  const auto* text = found == from.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

}  // namespace

std::array<char, 80> title_of(const std::string& title, const std::string& tag) {
  std::array<char, 80> out;
  out.fill(' ');
  const std::string first = latin1_of(title).substr(0, 72), second = latin1_of(tag).substr(0, 8);
  std::copy(first.begin(), first.end(), out.begin());
  std::copy(second.begin(), second.end(), out.begin() + 72);
  return out;
}

Variable variable_of(const std::string& unique_name, const std::string& unit) {
  return variable(unique_name.substr(0, unique_name.find('#')), unit);
}

void keep_odd_bytes(const SerafinHeader& header, const std::vector<std::string>& names,
                    std::map<std::string, mesh::Attribute>& to) {
  const std::string_view title = view(header.title);
  if (is_odd(header.title, title_of(text_of(title.substr(0, 72)), tag_of(title.substr(72)))))
    to[odd_title] = hex_of(title);
  std::string lines;
  for (std::size_t v = 0; v < names.size(); ++v) {
    const Variable& own = header.variables[v];
    if (is_odd(own.text, variable_of(names[v], unit_of(own)).text))
      lines += hex_of(view(own.text)) + hex_of(names[v]) + '\n';
  }
  if (!lines.empty()) to[odd_variables] = lines;
}

void put_odd_bytes(const std::map<std::string, mesh::Attribute>& from, const std::vector<std::string>& names,
                   SerafinHeader& header) {
  std::array<char, 80> title{};
  const std::string bytes = bytes_of(text_in(from, odd_title));
  std::copy_n(bytes.begin(), std::min(bytes.size(), title.size()), title.begin());
  if (bytes.size() == title.size() && same_title(title, header.title)) header.title = title;
  std::istringstream lines(text_in(from, odd_variables));
  for (std::string line; std::getline(lines, line);) {
    const std::string whole = bytes_of(line);
    Variable odd;
    if (whole.size() < odd.text.size()) continue;
    std::copy_n(whole.begin(), odd.text.size(), odd.text.begin());
    const std::string name = whole.substr(odd.text.size());
    for (std::size_t v = 0; v < names.size(); ++v)
      if (names[v] == name && unit_of(odd) == unit_of(header.variables[v])) header.variables[v] = odd;
  }
}

std::string title_record(const mesh::Header& header, const std::string& tag) {
  const auto record = title_of(attribute<std::string>(header, "title").value_or(""),
                               attribute<std::string>(header, "tag").value_or(tag));
  return {record.begin(), record.end()};
}

}  // namespace octavo::formats::serafin
