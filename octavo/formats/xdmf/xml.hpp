#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// An XML text as elements in memory, by the library expat. For formats/xdmf alone.
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

/// Returns the outermost element. Entities that the text declares are replaced by their values. Throws Error(corrupt)
/// with line and byte, also for entities in other files, those that make the text four times as long (and longer than 8
/// MiB), and elements nested more than 100 deep; Error(unsupported) in a build without expat.
XmlElement parse_xml(std::string_view text);

}  // namespace octavo::formats::xdmf
