#include "octavo/formats/xdmf/xml.hpp"

#include <array>
#include <cctype>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::formats::xdmf {
namespace {

using base::Error;
using base::Kind;

constexpr int deepest = 100;

std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> known{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    bool found = false;
    for (const auto& [entity, c] : known)
      if (!found && text[i] == '&' && text.substr(i, entity.size()) == entity) {
        out += c;
        i += entity.size();
        found = true;
      }
    if (!found) out += text[i++];
  }
  return out;
}

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : text_(text) {}
  XmlElement outermost() {
    pass_declarations();
    if (!begins("<")) refuse("expected an element");
    return element(0);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Kind::corrupt, what).at("byte " + std::to_string(at_));
  }
  bool begins(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  void pass_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  /// Text up to a word, which is passed over.
  std::string_view up_to(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) refuse("the file ends before \"" + std::string(end) + "\"");
    const std::string_view out = text_.substr(at_, found - at_);
    at_ = found + end.size();
    return out;
  }
  /// Whether a comment, a declaration or an instruction was passed over.
  bool pass_one() {
    if (begins("<!--"))
      up_to("-->");
    else if (begins("<?"))
      up_to("?>");
    else if (begins("<!DOCTYPE")) {
      if (up_to(">").find('[') != std::string_view::npos && text_[at_ - 2] != ']') up_to("]>");
    } else
      return false;
    return true;
  }
  void pass_declarations() {
    do pass_blanks();
    while (pass_one());
  }
  std::string name() {
    const std::size_t first = at_;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '_' || c == '-' || c == '.';
    };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    if (at_ == first) refuse("expected a name");
    return std::string(text_.substr(first, at_ - first));
  }
  void attributes(XmlElement& to) {
    for (pass_blanks(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/'; pass_blanks()) {
      std::string of = name();
      pass_blanks();
      if (!begins("=")) refuse("expected = behind " + of);
      ++at_;
      pass_blanks();
      if (!begins("\"") && !begins("'")) refuse("expected " + of + "'s value in quotes");
      const std::string_view quote = text_.substr(at_++, 1);
      to.attributes[std::move(of)] = without_entities(up_to(quote));
    }
  }
  XmlElement element(int depth) {
    if (depth > deepest) refuse("elements more than " + std::to_string(deepest) + " deep");
    ++at_;
    XmlElement out;
    out.name = name();
    attributes(out);
    if (begins("/>")) {
      at_ += 2;
      return out;
    }
    if (!begins(">")) refuse("expected the end of element " + out.name);
    ++at_;
    while (true) {
      const std::size_t next = text_.find('<', at_);
      if (next == std::string_view::npos) refuse("element " + out.name + " has no end");
      out.text += without_entities(text_.substr(at_, next - at_));
      at_ = next;
      if (begins("</")) break;
      if (!pass_one()) out.children.push_back(element(depth + 1));
    }
    at_ += 2;
    if (name() != out.name) refuse("expected the end of element " + out.name);
    up_to(">");
    return out;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string XmlElement::attribute(const std::string& of) const {
  const auto found = attributes.find(of);
  return found == attributes.end() ? std::string() : found->second;
}

const XmlElement* XmlElement::child(std::string_view of) const {
  for (const XmlElement& one : children)
    if (one.name == of) return &one;
  return nullptr;
}

XmlElement parse_xml(std::string_view text) { return XmlReader(text).outermost(); }

}  // namespace octavo::formats::xdmf
