// "XML Path Language", version 1.0, and "XPointer Framework" with element(), as far as XDMF's writers use them.
#include "octavo/formats/xdmf/references.hpp"

#include <algorithm>
#include <charconv>
#include <regex>

#include "octavo/base/error.hpp"

namespace octavo::formats::xdmf {
namespace {

using base::Error;
using base::Kind;
using Elements = std::vector<const XmlElement*>;

[[noreturn]] void refuse_path(const std::string& path) {
  throw Error(Kind::unsupported, "a reference to " + path +
                                     ": expected a path from the outermost element, such as "
                                     "/Xdmf/Domain/DataItem[@Name=\"cells\"] or /Xdmf/Domain/Grid[2]/Topology");
}

/// The number of an element among others, from 1; 0: the text is no number.
std::size_t xml_number(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

void keep_number(std::size_t number, Elements& to) {
  to = number >= 1 && number <= to.size() ? Elements{to[number - 1]} : Elements{};
}

/// Keeps the elements that "[...]" chooses. Returns false for a text that it does not know.
bool keep_chosen(const std::string& predicate, Elements& to) {
  if (const std::size_t number = xml_number(predicate); number > 0) {
    keep_number(number, to);
    return true;
  }
  static const std::regex attribute(R"(\s*@([\w:.-]+)\s*=\s*(?:"([^"]*)\"|'([^']*)')\s*)");
  static const std::regex kinds(R"(\s*self::[\w:.-]+(?:\s+or\s+self::[\w:.-]+)*\s*)"), kind(R"(self::([\w:.-]+))");
  if (std::smatch is; std::regex_match(predicate, is, attribute)) {
    const std::string name = is[1], value = is[2].matched ? is[2] : is[3];
    std::erase_if(to, [&](const XmlElement* one) { return one->attribute(name) != value; });
    return true;
  }
  if (!std::regex_match(predicate, kinds)) return false;
  Elements kept;
  for (const XmlElement* one : to)
    for (std::sregex_iterator is(predicate.begin(), predicate.end(), kind), end; is != end; ++is)
      if ((*is)[1] == one->name) kept.push_back(one);
  to = std::move(kept);
  return true;
}

void add_all_in(const XmlElement& element, Elements& to) {
  to.push_back(&element);
  for (const XmlElement& one : element.children) add_all_in(one, to);
}

/// The elements at a path of XPath.
Elements at_xpath(const XmlElement& document, const std::string& path) {
  static const std::regex step(R"re((//?)([\w:.-]+|\*)((?:\[(?:[^\]"']|"[^"]*"|'[^']*')*\])*))re");
  static const std::regex predicate(R"re(\[((?:[^\]"']|"[^"]*"|'[^']*')*)\])re");
  Elements found{&document};
  std::size_t passed = 0;
  for (std::sregex_iterator at(path.begin(), path.end(), step), end; at != end; ++at) {
    if (static_cast<std::size_t>(at->position()) != passed) refuse_path(path);
    passed += static_cast<std::size_t>(at->length());
    const std::string name = (*at)[2], predicates = (*at)[3];
    Elements from = std::move(found);
    found.clear();
    if ((*at)[1] == "//") {
      Elements all;
      for (const XmlElement* one : from) add_all_in(*one, all);
      from = std::move(all);
    }
    for (const XmlElement* parent : from) {
      Elements chosen;
      for (const XmlElement& one : parent->children)
        if (name == "*" || one.name == name) chosen.push_back(&one);
      for (std::sregex_iterator one(predicates.begin(), predicates.end(), predicate); one != end; ++one)
        if (!keep_chosen((*one)[1], chosen)) refuse_path(path);
      found.insert(found.end(), chosen.begin(), chosen.end());
    }
  }
  if (path.empty() || passed != path.size()) refuse_path(path);
  return found;
}

/// "element(/1/1/3)": the third element in the first one in the outermost.
Elements at_numbers(const XmlElement& document, const std::string& numbers) {
  Elements found{&document};
  for (std::size_t at = 0; at < numbers.size();) {
    const std::size_t end = std::min(numbers.find('/', at + 1), numbers.size());
    const std::size_t number = numbers[at] == '/' ? xml_number(numbers.substr(at + 1, end - at - 1)) : 0;
    if (number == 0) refuse_path("element(" + numbers + ")");
    Elements children;
    for (const XmlElement* parent : found)
      for (const XmlElement& one : parent->children) children.push_back(&one);
    keep_number(number, children);
    found = std::move(children);
    at = end;
  }
  return found;
}

std::string without_blanks_around(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The text in "NAME(...)"; none: it begins otherwise.
std::string in_brackets(const std::string& text, const std::string& name) {
  const bool is = text.starts_with(name + "(") && text.ends_with(")");
  return is ? text.substr(name.size() + 1, text.size() - name.size() - 2) : "";
}

}  // namespace

const Elements& References::at(const std::string& path) {
  const auto known = found_.find(path);
  if (known != found_.end()) return known->second;
  constexpr std::size_t longest = 1000;  // std::regex calls itself for each character
  if (path.size() > longest) refuse_path(path.substr(0, 40) + "...");
  const std::string numbers = in_brackets(path, "element"), inside = in_brackets(path, "xpointer");
  Elements found;
  if (!numbers.empty())
    found = at_numbers(document_, numbers);
  else
    found = at_xpath(document_, inside.empty() ? path : inside);
  if (found.empty()) throw Error(Kind::corrupt, "a reference to " + path + ", where no element is");
  return found_[path] = std::move(found);
}

const XmlElement& References::resolved(const XmlElement& element) {
  constexpr int most = 16;
  const XmlElement* at_last = &element;
  for (int i = 0; i < most; ++i) {
    const std::string reference = at_last->attribute("Reference");
    if (reference.empty()) return *at_last;
    at_last = at(without_blanks_around(reference == "XML" ? at_last->text : reference)).front();
  }
  throw Error(Kind::corrupt, "references that lead from one to another").at("element " + element.name);
}

Elements References::in(const XmlElement& element, const std::string& name) {
  Elements found;
  for (const XmlElement& one : element.children) {
    if (one.name == name) found.push_back(&resolved(one));
    if (one.name != "xi:include") continue;
    if (!one.attribute("href").empty())
      throw Error(Kind::unsupported, "an element of another file, " + one.attribute("href"))
          .hint("put it into this file");
    for (const XmlElement* included : at(one.attribute("xpointer")))
      if (included->name == name) found.push_back(&resolved(*included));
  }
  return found;
}

}  // namespace octavo::formats::xdmf
