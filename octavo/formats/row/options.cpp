#include "octavo/formats/row/options.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <type_traits>

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

bool holds(const NamedOption& option) {
  const auto good = [&]<class T>(const T* value) {
    if constexpr (std::is_same_v<T, std::string>)
      return option.values.empty() ||
             std::find(option.values.begin(), option.values.end(), *value) != option.values.end();
    else if constexpr (std::is_arithmetic_v<T>)
      return *value > 0;
    else
      return std::all_of(value->begin(), value->end(), [](double one) { return one > 0; });
  };
  return std::visit(good, option.to);
}

std::string expected(const NamedOption& option) {
  std::string values;
  for (const std::string_view value : option.values) values.append(values.empty() ? "" : " or ").append(value);
  if (!values.empty()) return values;
  if (std::holds_alternative<std::string*>(option.to)) return "a text";
  if (std::holds_alternative<std::vector<double>*>(option.to)) return "numbers above 0";
  return std::holds_alternative<int*>(option.to) ? "a whole number of 32 bits above 0" : "a whole number above 0";
}

std::string found_in(const NamedOption& option) {
  std::ostringstream text;
  const auto add = [&text]<class T>(const T* value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
      text << *value;
    else
      text << *std::find_if_not(value->begin(), value->end(), [](double one) { return one > 0; });
  };
  std::visit(add, option.to);
  return text.str();
}

}  // namespace

std::vector<OptionInfo> infos_of(const std::vector<NamedOption>& options) {
  std::vector<OptionInfo> infos;
  for (const NamedOption& option : options) {
    const bool text = std::holds_alternative<std::string*>(option.to);
    const bool numbers = std::holds_alternative<std::vector<double>*>(option.to);
    infos.push_back({option.name, text ? "text" : numbers ? "numbers" : "number", option.help, option.values});
  }
  return infos;
}

void set_options(const OwnOptions& given, const std::vector<NamedOption>& options) {
  for (const auto& [name, value] : given) {
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&name = name](const NamedOption& option) { return option.name == name; });
    if (found == options.end()) throw Error(Kind::usage, "the format has no option '" + name + "'");
    if (!std::visit([&value = value](auto* to) { return set(*to, value); }, found->to))
      throw Error(Kind::usage, "option " + name + ": expected " + expected(*found) + ", found another type");
    if (!holds(*found))
      throw Error(Kind::usage, "option " + name + ": expected " + expected(*found) + ", found " + found_in(*found));
  }
}

}  // namespace octavo::formats
