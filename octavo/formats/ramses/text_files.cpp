#include "octavo/formats/ramses/text_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <set>
#include <span>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::formats::ramses {
namespace {

using base::Error;
using base::Kind;

constexpr std::uint64_t largest_text = std::uint64_t{64} << 20;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n\0");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n\0") - first + 1);
}

// Takes the next line off the front of `rest`.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return line;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find_first_of(separators);
    if (end != 0) parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return parts;
}

template <class T>
std::optional<T> number(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

// In list-directed output Fortran writes a double as 1.5D+03. It drops the letter if the exponent has three digits.
std::optional<double> fortran_real(std::string_view text) {
  std::string usual(trim(text));
  for (char& c : usual)
    if (c == 'D' || c == 'd') c = 'E';
  if (usual.find('E') == std::string::npos) {
    const auto sign = usual.find_last_of("+-");
    if (sign != std::string::npos && sign > 0) usual.insert(sign, 1, 'E');
  }
  return number<double>(usual);
}

const std::string& value_of(const InfoText& info, const std::string& name) {
  const auto found = info.values.find(name);
  if (found == info.values.end())
    throw Error(Kind::corrupt, "expected a line '" + name + " = ...', found none").at(info.path.string());
  return found->second;
}

Error not_a_number(const InfoText& info, const std::string& name, const std::string& value) {
  return Error(Kind::corrupt, "expected a number after '" + name + " =', found '" + value + "'").at(info.path.string());
}

// "12, velocity_x, d"
std::optional<DescriptorLine> typed_line(std::string_view line) {
  const auto parts = split(line, ",");
  if (parts.size() < 3 || !number<int>(parts[0]) || trim(parts[1]).empty() || trim(parts[2]).empty()) return {};
  return DescriptorLine{std::string(trim(parts[1])), trim(parts[2]).front()};
}

// "variable # 12: velocity_x"
std::optional<DescriptorLine> untyped_line(std::string_view line) {
  const auto colon = line.find(':');
  if (!line.starts_with("variable #") || colon == std::string_view::npos) return {};
  const std::string_view name = trim(line.substr(colon + 1));
  if (name.empty()) return {};
  return DescriptorLine{std::string(name), 'd'};
}

void make_unique(std::vector<DescriptorLine>& variables) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (!seen.insert(variables[i].name).second) {
      variables[i].name.append("_").append(std::to_string(i + 1));
      seen.insert(variables[i].name);
    }
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const file::File handle = file::open_read(path);
  const std::uint64_t bytes = file::size(handle);
  if (bytes > largest_text)
    throw Error(Kind::corrupt, "expected a short text, found " + std::to_string(bytes) + " bytes").at(path.string());
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file::pread_all(handle, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

InfoText parse_info(std::string_view text, const std::filesystem::path& path) {
  InfoText info{path, {}, {}};
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, equals)), value = trim(line.substr(equals + 1));
    if (name == "ordering type") {
      info.ordering = value;
      break;
    }
    info.values.emplace(name, value);
  }
  return info;
}

std::int64_t integer(const InfoText& info, const std::string& name) {
  const std::string& value = value_of(info, name);
  if (const auto found = number<std::int64_t>(value)) return *found;
  throw not_a_number(info, name, value);
}

double real(const InfoText& info, const std::string& name) {
  const std::string& value = value_of(info, name);
  if (const auto found = fortran_real(value); found && std::isfinite(*found)) return *found;
  throw not_a_number(info, name, value);
}

double real_or(const InfoText& info, const std::string& name, double otherwise) {
  return info.values.contains(name) ? real(info, name) : otherwise;
}

std::optional<std::vector<DescriptorLine>> parse_descriptor(std::string_view text) {
  std::vector<DescriptorLine> variables;
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    if (auto variable = typed_line(line))
      variables.push_back(std::move(*variable));
    else if (auto old = untyped_line(line))
      variables.push_back(std::move(*old));
  }
  if (variables.empty()) return {};
  make_unique(variables);
  return variables;
}

ParticleHeader parse_header(std::string_view text) {
  ParticleHeader header;
  bool fields_next = false, total_next = false;
  std::int64_t sum = 0;
  int families = 0;
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    const auto words = split(line, " \t");
    if (fields_next) {
      header.fields.assign(words.begin(), words.end());
      break;
    }
    if (total_next && words.size() == 1) header.count = number<std::int64_t>(words[0]);
    // Old versions write "Total number of particles", and the number on the next line.
    total_next = line == "Total number of particles";
    fields_next = line == "Particle fields";
    if (words.size() != 2) continue;
    if (const auto count = number<std::int64_t>(words[1]); count && *count >= 0 && sum <= (INT64_MAX - *count)) {
      sum += *count;
      ++families;
    }
  }
  // There are eleven families and "undefined". With fewer lines this is some other text, or it was cut.
  if (families == 12) header.count = sum;
  if (header.count && *header.count < 0) header.count.reset();
  return header;
}

}  // namespace octavo::formats::ramses
