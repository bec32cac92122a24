#include "octavo/mesh/announced.hpp"

#include <sstream>

namespace octavo::mesh {
namespace {

constexpr const char* attribute = "variables";

}  // namespace

void announce(Header& header, std::span<const FieldInfo> fields) {
  std::string text;
  for (const FieldInfo& field : fields)
    text += field.name + "\t" + field.unit + "\t" + std::string(name_of(field.type)) + "\n";
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
    field.type = type == name_of(ScalarType::float64) ? ScalarType::float64 : ScalarType::float32;
    field.centring = Centring::node;
    fields.push_back(field);
  }
  return fields;
}

}  // namespace octavo::mesh
