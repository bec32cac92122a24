#include "octavo/formats/serafin/number_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace octavo::formats::serafin {
namespace {

constexpr std::string_view blanks = " \t\r\n", separators = " \t\r\n,/", digits = "0123456789", signs = "+-";

bool take(std::string_view& text, std::string_view any) {
  const bool there = !text.empty() && any.find(text.front()) != std::string_view::npos;
  if (there) text.remove_prefix(1);
  return there;
}

/// How many digits there were; they go to `out`.
std::size_t take_digits(std::string_view& text, std::string& out) {
  const std::size_t count = std::min(text.find_first_not_of(digits), text.size());
  out += text.substr(0, count);
  text.remove_prefix(count);
  return count;
}

/// Takes an exponent with a letter or with a sign alone; nothing if there is none.
std::optional<std::string> take_exponent(std::string_view& text) {
  const bool letter = take(text, "EeDdQq");
  std::string out = !text.empty() && text.front() == '-' ? "e-" : "e";
  const bool sign = take(text, signs);
  if ((!letter && !sign) || take_digits(text, out) == 0) return {};
  return out;
}

std::optional<double> number_of(std::string_view word) {
  std::string plain = word.front() == '-' ? "-" : "";
  take(word, signs);
  std::size_t count = take_digits(word, plain);
  if (take(word, ".")) {
    plain += '.';
    count += take_digits(word, plain);
  }
  if (count == 0) return {};
  if (!word.empty()) {
    const auto exponent = take_exponent(word);
    if (!exponent || !word.empty()) return {};
    plain += *exponent;
  }
  double value = 0;
  const auto parsed = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (parsed.ec == std::errc()) return value;
  // Too small for a double is zero, too large is none.
  return plain.find("e-") != std::string::npos ? std::optional(0.0) : std::nullopt;
}

/// 3 of "3*0.", which becomes "0."; 1 of other words. Nothing of "0*1".
std::optional<std::size_t> take_count(std::string_view& word) {
  const std::size_t star = word.find('*');
  if (star == std::string_view::npos) return 1;
  std::size_t count = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + star, count);
  if (parsed.ec != std::errc() || parsed.ptr != word.data() + star || count == 0) return {};
  word.remove_prefix(star + 1);
  return count;
}

}  // namespace

void read_numbers(std::string_view line, std::size_t most, NumberList& list) {
  while (list.values.size() < most) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) return;
    const std::string_view whole = line.substr(0, std::max<std::size_t>(1, line.find_first_of(separators)));
    list.odd = whole;
    line.remove_prefix(whole.size());
    if (whole == "/") return;
    if (whole == ",") {
      if (list.expects_value) return;
      list.expects_value = true;
    } else {
      std::string_view word = whole;
      const auto count = take_count(word);
      const auto value = count && !word.empty() ? number_of(word) : std::nullopt;
      if (!value) return;
      list.values.insert(list.values.end(), std::min(*count, most - list.values.size()), *value);
      list.expects_value = false;
    }
    list.odd.clear();
  }
}

}  // namespace octavo::formats::serafin
