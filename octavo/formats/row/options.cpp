#include "octavo/formats/row/options.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"

namespace octavo::formats {
namespace {

using base::Error;
using base::Kind;

/// Returns false if the value is of another type.
bool set(std::string& to, const mesh::Attribute& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr) to = *text;
  return text != nullptr;
}

bool set(std::int64_t& to, const mesh::Attribute& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number != nullptr) to = *number;
  return number != nullptr;
}

bool set(int& to, const mesh::Attribute& value) {
  std::int64_t number = 0;
  if (!set(number, value) || number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    return false;
  to = static_cast<int>(number);
  return true;
}

bool set(std::vector<double>& to, const mesh::Attribute& value) {
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    to = *reals;
    return true;
  }
  const auto* whole = std::get_if<std::vector<std::int64_t>>(&value);
  if (whole != nullptr) to.assign(whole->begin(), whole->end());
  return whole != nullptr;
}

std::string type_of(const NamedOption& option) {
  if (std::holds_alternative<std::string*>(option.to)) return "a text";
  if (std::holds_alternative<std::vector<double>*>(option.to)) return "numbers";
  return std::holds_alternative<int*>(option.to) ? "a whole number of 32 bits" : "a whole number";
}

}  // namespace

std::vector<std::string_view> names_of(const std::vector<NamedOption>& options) {
  std::vector<std::string_view> names;
  for (const NamedOption& option : options) names.push_back(option.name);
  return names;
}

void set_options(const OwnOptions& given, const std::vector<NamedOption>& options) {
  for (const auto& [name, value] : given) {
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&name = name](const NamedOption& option) { return option.name == name; });
    if (found == options.end()) throw Error(Kind::usage, "the format has no option '" + name + "'");
    if (!std::visit([&value = value](auto* to) { return set(*to, value); }, found->to))
      throw Error(Kind::usage, "option " + name + ": expected " + type_of(*found) + ", found another type");
  }
}

}  // namespace octavo::formats
