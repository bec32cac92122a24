#include "octavo/formats/amrex/step_file.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "octavo/formats/amrex/text.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;

constexpr const char* source_prefix = "source/";
constexpr const char* first_line = "octavo_step 1";

bool is_plain(char c) { return c > ' ' && c < '\x7f' && c != '%'; }

std::string escaped(const std::string& text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------------ written

std::string word_of(std::int64_t value) { return " " + std::to_string(value); }
std::string word_of(double value) { return " " + to_text(value); }
std::string word_of(const std::string& value) { return " =" + escaped(value); }

template <class T>
const char* name_of_type() {
  if constexpr (std::is_same_v<T, std::int64_t>) return "integer";
  if constexpr (std::is_same_v<T, double>) return "real";
  return "text";
}

void add_attribute(std::string& out, const std::string& name, const mesh::Attribute& attribute) {
  std::visit(
      [&]<class T>(const T& value) {
        constexpr bool list = !std::is_arithmetic_v<T> && !std::is_same_v<T, std::string>;
        if constexpr (list) {
          out += name_of_type<typename T::value_type>() + std::string("s ") + escaped(name) + " " +
                 std::to_string(value.size());
          for (const auto& one : value) out += word_of(one);
        } else {
          out += name_of_type<T>() + std::string(" ") + escaped(name) + word_of(value);
        }
        out += "\n";
      },
      attribute);
}

template <class Values>
void add_line(std::string& out, const char* name, const Values& values, std::size_t count) {
  out += name;
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(values[i])>>)
      out += word_of(values[i]);
    else
      out += word_of(static_cast<std::int64_t>(values[i]));
  }
  out += "\n";
}

// --------------------------------------------------------------------------------------------------------------- read

/// The words of one line, and where it is.
class LineWords {
 public:
  explicit LineWords(Text& text) : text_(text) {
    std::string line = text.line();
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words_.push_back(line.substr(at, end - at));
      at = end + 1;
    }
  }
  const std::string& word() {
    if (next_ == words_.size()) throw error("expected more on the line");
    return words_[next_++];
  }
  bool at_end() const { return next_ == words_.size(); }
  std::size_t left() const { return words_.size() - next_; }
  base::Error error(const std::string& message) const { return text_.error(message + ", in \"" + words_[0] + "\""); }

  template <class T>
  T value() {
    const std::string& text = word();
    if constexpr (std::is_same_v<T, std::string>) {
      if (!text.starts_with("=")) throw error("expected a text after =, found \"" + text + "\"");
      return unescaped(std::string_view(text).substr(1));
    } else {
      return number<T>(text);
    }
  }

  template <class T>
  T number(const std::string& word) const {
    if constexpr (std::is_same_v<T, double>) {
      Text digits(word, text_.path());  // which knows subnormal numbers
      const double value = digits.real();
      if (digits.left() != 0) throw error("expected a number, found \"" + word + "\"");
      return value;
    } else {
      T value{};
      const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (status != std::errc{} || end != word.data() + word.size())
        throw error("expected an integer, found \"" + word + "\"");
      return value;
    }
  }

  std::string unescaped(std::string_view word) const {
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
      unsigned byte = static_cast<unsigned char>(word[i]);
      if (word[i] == '%') {
        const std::string_view digits = word.substr(std::min(word.size(), i + 1), 2);
        const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || status != std::errc{} || end != digits.data() + 2)
          throw error("expected two digits after %, found \"" + std::string(digits) + "\"");
        i += 2;
      }
      out.push_back(static_cast<char>(byte));
    }
    return out;
  }

 private:
  const Text& text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

template <class T>
bool read_attribute(LineWords& line, const std::string& kind, mesh::Header& header) {
  const bool list = kind == name_of_type<T>() + std::string("s");
  if (!list && kind != name_of_type<T>()) return false;
  const std::string name = line.unescaped(line.word());
  if (!name.starts_with(source_prefix)) throw line.error("an attribute that is not source/...: " + name);
  if (!list) {
    header.attributes[name] = line.value<T>();
    return true;
  }
  const auto count = line.value<std::int64_t>();
  if (count < 0 || static_cast<std::uint64_t>(count) != line.left())
    throw line.error("values: expected " + std::to_string(count) + ", found " + std::to_string(line.left()));
  std::vector<T> values;
  while (!line.at_end()) values.push_back(line.value<T>());
  header.attributes[name] = std::move(values);
  return true;
}

void read_entry(LineWords& line, mesh::Header& header, std::vector<int>& ratio) {
  const std::string name = line.word();
  const auto dim = static_cast<std::size_t>(header.dim);
  if (name == "lo" || name == "hi") {
    for (std::size_t axis = 0; axis < dim; ++axis) (name == "lo" ? header.lo : header.hi)[axis] = line.value<double>();
  } else if (name == "periodic") {
    for (std::size_t axis = 0; axis < dim; ++axis) header.periodic[axis] = line.value<std::int64_t>() != 0;
  } else if (name == "ratio") {
    while (!line.at_end()) ratio.push_back(line.value<int>());
  } else if (name == "units") {
    for (double* unit : {&header.unit_length, &header.unit_density, &header.unit_time}) *unit = line.value<double>();
  } else if (name == "coordinates") {
    header.attributes["coordinate_system"] = line.value<std::int64_t>();
  } else {
    // Other names are passed over.
    read_attribute<std::int64_t>(line, name, header) || read_attribute<double>(line, name, header) ||
        read_attribute<std::string>(line, name, header);
  }
}

void check_corners(const mesh::Header& header, const Text& text) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    if (!(header.lo[axis] < header.hi[axis]) || !std::isfinite(header.hi[axis] - header.lo[axis]))
      throw text.error("a domain whose upper corner is not above its lower");
}

}  // namespace

std::string step_text(const mesh::Header& header, const mesh::Patches& patches) {
  const auto dim = static_cast<std::size_t>(header.dim);
  std::string out = std::string(first_line) + "\n";
  add_line(out, "lo", header.lo, dim);
  add_line(out, "hi", header.hi, dim);
  add_line(out, "periodic", header.periodic, dim);
  add_line(out, "ratio", patches.ratio, patches.ratio.size());
  add_line(out, "units", std::array{header.unit_length, header.unit_density, header.unit_time}, 3);
  const auto coordinates = header.attributes.find("coordinate_system");
  if (coordinates != header.attributes.end())
    if (const auto* number = std::get_if<std::int64_t>(&coordinates->second))
      out += "coordinates" + word_of(*number) + "\n";
  for (const auto& [name, value] : header.attributes)
    if (name.starts_with(source_prefix)) add_attribute(out, name, value);
  return out;
}

std::optional<std::vector<int>> read_step_file(const fs::path& checkpoint, mesh::Header& header) {
  std::error_code ignored;
  if (!fs::is_regular_file(checkpoint / step_file_name, ignored)) return {};
  Text text = read_text(checkpoint / step_file_name);
  if (text.line() != first_line)
    throw base::Error(base::Kind::unsupported, std::string("expected \"") + first_line + "\" in the first line")
        .at(text.path().string());
  std::vector<int> ratio;
  while (text.left() != 0) {
    LineWords line(text);
    read_entry(line, header, ratio);
  }
  check_corners(header, text);
  return ratio;
}

}  // namespace octavo::formats::amrex
