#pragma once
#include <map>
#include <string>
#include <vector>

#include "octavo/formats/xdmf/xml.hpp"

/// Elements that stand for other elements of the same text. For formats/xdmf alone.
namespace octavo::formats::xdmf {

/// Finds them by their paths. Paths are those of XPath that programs write: /Xdmf/Domain/DataItem[@Name="cells"],
/// //Grid[2], /Xdmf/Domain/Grid[1]/*[self::Topology or self::Geometry], and element(/1/1/3). All functions throw
/// Error(unsupported) for other paths and for other files, and Error(corrupt) if nothing is there.
class References {
 public:
  /// Keeps a reference to the document: an element that holds the outermost one.
  explicit References(const XmlElement& document) : document_(document) {}

  /// The element itself, or the one that it refers to: Reference="XML" with a path as text, or Reference="PATH".
  const XmlElement& resolved(const XmlElement& element);
  /// The elements of one name in another, with those that an xi:include brings, all resolved.
  std::vector<const XmlElement*> in(const XmlElement& element, const std::string& name);

 private:
  /// At least one.
  const std::vector<const XmlElement*>& at(const std::string& path);

  const XmlElement& document_;
  std::map<std::string, std::vector<const XmlElement*>> found_;
};

}  // namespace octavo::formats::xdmf
