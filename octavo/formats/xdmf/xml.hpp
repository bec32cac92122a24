#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// As much of XML as XDMF files have: elements, attributes, text, comments. For formats/xdmf alone.
namespace octavo::formats::xdmf {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< of the element itself, not of those in it
  std::vector<XmlElement> children;

  /// Empty: it has none of that name.
  std::string attribute(const std::string& of) const;
  /// The first of that name; nullptr: there is none.
  const XmlElement* child(std::string_view of) const;
};

/// Returns the outermost element. Declarations are passed over, and entities are the five that XML names. Throws
/// Error(corrupt) with the byte, also for elements nested more than 100 deep.
XmlElement parse_xml(std::string_view text);

}  // namespace octavo::formats::xdmf
