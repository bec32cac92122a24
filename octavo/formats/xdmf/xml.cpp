// The one file that needs expat (Debian: libexpat1-dev), 2.4 or later: earlier ones let entities grow without limit.
#include "octavo/formats/xdmf/xml.hpp"

#include <algorithm>
#include <utility>

#include "octavo/base/error.hpp"
#ifdef OCTAVO_HAVE_EXPAT
#define XML_DTD 1  // expat.h declares the limit of entities then
#include <expat.h>
#endif

namespace octavo::formats::xdmf {

using base::Error;
using base::Kind;

#ifdef OCTAVO_HAVE_EXPAT
namespace {

constexpr std::size_t deepest = 100;
constexpr float most_growth = 4;

/// The document while the library calls us. No exception may pass through a C library, so a call that refuses leaves
/// its reason here.
struct XmlBuilder {
  XML_Parser parser = nullptr;
  XmlElement outermost;
  std::vector<XmlElement*> open;  ///< elements without an end so far; none moves while its last child is open
  std::string refused;

  void refuse(const std::string& why) {
    if (refused.empty()) refused = why;
    XML_StopParser(parser, XML_FALSE);
  }
};

XmlBuilder& builder_of(void* data) { return *static_cast<XmlBuilder*>(data); }

void begin_element(void* data, const XML_Char* name, const XML_Char** attributes) {
  XmlBuilder& to = builder_of(data);
  if (to.open.size() > deepest) return to.refuse("elements more than " + std::to_string(deepest) + " deep");
  XmlElement& element = to.open.empty() ? to.outermost : to.open.back()->children.emplace_back();
  element.name = name;
  for (; *attributes != nullptr; attributes += 2) element.attributes[attributes[0]] = attributes[1];
  to.open.push_back(&element);
}

void end_element(void* data, const XML_Char*) { builder_of(data).open.pop_back(); }

void add_text(void* data, const XML_Char* text, int bytes) {
  builder_of(data).open.back()->text.append(text, static_cast<std::size_t>(bytes));
}

/// The library calls this for an entity in another file. The parser never opens one.
int refuse_other_file(XML_Parser parser, const XML_Char*, const XML_Char*, const XML_Char* file, const XML_Char*) {
  builder_of(XML_GetUserData(parser))
      .refuse("an entity in another file, " + std::string(file != nullptr ? file : "without a name") +
              ": expected its value in this one");
  return XML_STATUS_ERROR;
}

void refuse_unknown(void* data, const XML_Char* entity, int) {
  builder_of(data).refuse("entity &" + std::string(entity) + "; is not declared in the text");
}

struct XmlParser {
  XML_Parser parser = XML_ParserCreate(nullptr);
  XmlParser() = default;
  ~XmlParser() { XML_ParserFree(parser); }
  XmlParser(const XmlParser&) = delete;
  XmlParser& operator=(const XmlParser&) = delete;
};

}  // namespace

XmlElement parse_xml(std::string_view text) {
  // Some programs write blank lines before the declaration, where XML has none.
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
  const XmlParser owner;
  XmlBuilder builder;
  builder.parser = owner.parser;
  XML_SetUserData(builder.parser, &builder);
  XML_SetElementHandler(builder.parser, begin_element, end_element);
  XML_SetCharacterDataHandler(builder.parser, add_text);
  XML_SetExternalEntityRefHandler(builder.parser, refuse_other_file);
  XML_SetSkippedEntityHandler(builder.parser, refuse_unknown);
  XML_SetBillionLaughsAttackProtectionMaximumAmplification(builder.parser, most_growth);
  text.remove_prefix(first);
  if (XML_Parse(builder.parser, text.data(), static_cast<int>(text.size()), XML_TRUE) == XML_STATUS_ERROR) {
    const XML_Error error = XML_GetErrorCode(builder.parser);
    if (error == XML_ERROR_AMPLIFICATION_LIMIT_BREACH)
      builder.refused = "entities that make the text more than four times as long";
    if (builder.refused.empty()) builder.refused = XML_ErrorString(error);
    throw Error(Kind::corrupt, "no sound XML: " + builder.refused)
        .at("line " + std::to_string(XML_GetCurrentLineNumber(builder.parser) + static_cast<XML_Size>(lines)) +
            ", byte " + std::to_string(static_cast<std::size_t>(XML_GetCurrentByteIndex(builder.parser)) + first));
  }
  return std::move(builder.outermost);
}
#else
XmlElement parse_xml(std::string_view) {
  throw Error(Kind::unsupported, "this Octavo was built without expat, which reads XDMF files")
      .hint("install expat (Debian: libexpat1-dev) and build Octavo again");
}
#endif

std::string XmlElement::attribute(const std::string& of) const {
  const auto found = attributes.find(of);
  return found == attributes.end() ? std::string() : found->second;
}

const XmlElement* XmlElement::child(std::string_view of) const {
  for (const XmlElement& one : children)
    if (one.name == of) return &one;
  return nullptr;
}

}  // namespace octavo::formats::xdmf
