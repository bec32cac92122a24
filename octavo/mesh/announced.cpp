#include "octavo/mesh/announced.hpp"

#include <sstream>

namespace octavo::mesh {
namespace {

constexpr const char* attribute = "variables";

/// Tabs and ends of lines separate: those of a name are written as \\t and \\n, and \\ as itself twice.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (c == '\t' || c == '\n' || c == '\\')
      out += {'\\', c == '\t' ? 't' : c == '\n' ? 'n' : c};
    else
      out += c;
  return out;
}

std::string plain(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = name[i] == '\\' && i + 1 < name.size() ? name[i + 1] : '\0';
    out += next == 't' ? '\t' : next == 'n' ? '\n' : name[i];
    if (next == 't' || next == 'n' || next == '\\') ++i;
  }
  return out;
}

}  // namespace

void announce(Header& header, std::span<const FieldInfo> fields) {
  std::string text;
  for (const FieldInfo& field : fields)
    text += escaped(field.name) + "\t" + escaped(field.unit) + "\t" + std::string(name_of(field.type)) + "\n";
  if (!text.empty()) header.attributes[attribute] = text;
}

std::vector<FieldInfo> announced(const Header& header) {
  std::vector<FieldInfo> fields;
  const auto found = header.attributes.find(attribute);
  const auto* text = found == header.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (text == nullptr) return fields;
  std::istringstream lines(*text);
  std::string type;
  for (FieldInfo field;
       std::getline(lines, field.name, '\t') && std::getline(lines, field.unit, '\t') && std::getline(lines, type);) {
    field.name = plain(field.name);
    field.unit = plain(field.unit);
    field.type = type == name_of(ScalarType::float64) ? ScalarType::float64 : ScalarType::float32;
    field.centring = Centring::node;
    fields.push_back(field);
  }
  return fields;
}

}  // namespace octavo::mesh
