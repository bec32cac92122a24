#include "octavo/formats/amrex/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "octavo/base/memory.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Error;
using base::Kind;

/// A run of a million boxes and a hundred components stays below.
constexpr std::uint64_t largest_text = std::uint64_t{8} << 30;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || c == ',' || c == ')' || c == '('; }

std::string trimmed(std::string text) {
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  std::size_t first = 0;
  while (first < text.size() && is_blank(text[first])) ++first;
  return text.substr(first);
}

}  // namespace

void Text::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

Error Text::error(const std::string& message) const {
  return Error(Kind::corrupt, message).at(path_.string() + ", byte " + std::to_string(at_));
}

std::string Text::line() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string out = text_.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  return out;
}

std::string Text::name() {
  if (at_ == text_.size()) throw error("expected a line, found the end of the file");
  return trimmed(line());
}

std::string Text::word() {
  skip_blanks();
  const std::size_t first = at_;
  while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
  if (first == at_) throw error("expected a word, found the end of the file or a bracket");
  return text_.substr(first, at_ - first);
}

std::int64_t Text::integer(std::int64_t limit) {
  skip_blanks();
  std::int64_t value = 0;
  const char* first = text_.data() + at_;
  const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), value);
  if (status != std::errc{}) throw error("expected an integer, found \"" + text_.substr(at_, 12) + "\"");
  if (value > limit || value < -limit)
    throw error("expected an integer up to " + std::to_string(limit) + ", found " + std::to_string(value));
  at_ += static_cast<std::size_t>(end - first);
  return value;
}

std::size_t Text::count(std::size_t bytes) {
  const std::int64_t value = integer(INT64_MAX);
  if (value < 0 || static_cast<std::uint64_t>(value) > left() / bytes + 1)
    throw error("a count of " + std::to_string(value) + ": there are only " + std::to_string(left()) +
                " bytes left in the file");
  return static_cast<std::size_t>(value);
}

double Text::real() {
  skip_blanks();
  double value = 0;
  const char* first = text_.data() + at_;
  const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), value);
  // Out of range: a subnormal or an infinity to be; strtod gives what AMReX itself reads.
  if (status == std::errc::result_out_of_range) {
    value = std::strtod(std::string(first, end).c_str(), nullptr);
  } else if (status != std::errc{}) {
    throw error("expected a number, found \"" + text_.substr(at_, 12) + "\"");
  }
  at_ += static_cast<std::size_t>(end - first);
  return value;
}

bool Text::follows(std::string_view wanted) {
  const std::size_t here = at_;
  skip_blanks();
  const bool found = text_.compare(at_, wanted.size(), wanted) == 0;
  at_ = here;
  return found;
}

void Text::expect(std::string_view wanted) {
  if (!follows(wanted))
    throw error("expected \"" + std::string(wanted) + "\", found \"" + text_.substr(at_, wanted.size() + 8) + "\"");
  skip_blanks();
  at_ += wanted.size();
}

bool Text::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

void Text::end_line() {
  const std::size_t here = at_;
  if (!trimmed(line()).empty()) {
    at_ = here;
    throw error("expected the end of the line");
  }
}

std::vector<std::int64_t> Text::tuple() {
  expect("(");
  std::vector<std::int64_t> values{integer()};
  while (values.size() < 3 && follows(",")) {
    expect(",");
    values.push_back(integer());
  }
  expect(")");
  return values;
}

TypedBox Text::box() {
  const std::size_t begin = at_;
  expect("(");
  const auto lo = tuple(), hi = tuple(), nodal = tuple();
  expect(")");
  if (hi.size() != lo.size() || nodal.size() != lo.size()) throw error("a box whose corners differ in dimension");
  TypedBox out{.cells = {{0, 0, 0}, {1, 1, 1}}, .nodal = {0, 0, 0}, .dim = static_cast<int>(lo.size())};
  for (std::size_t axis = 0; axis < lo.size(); ++axis) {
    out.cells.lo[axis] = lo[axis];
    out.cells.hi[axis] = hi[axis] + 1;
    out.nodal[axis] = nodal[axis];
    if (hi[axis] < lo[axis] || (nodal[axis] != 0 && nodal[axis] != 1)) {
      at_ = begin;
      throw error("expected a box that is not empty, of type 0 or 1, found \"" + text_.substr(at_, 40) + "\"");
    }
  }
  return out;
}

BoxArray Text::box_array() {
  expect("(");
  const std::size_t boxes = count(12);
  integer(INT64_MAX);  // a hash that nobody uses
  BoxArray out;
  out.boxes.reserve(boxes);
  for (std::size_t i = 0; i < boxes; ++i) {
    const TypedBox next = box();
    if (i != 0 && (next.dim != out.dim || next.nodal != out.nodal))
      throw error("boxes of different dimension or index type in one list");
    out.dim = next.dim;
    out.nodal = next.nodal;
    out.boxes.push_back(next.cells);
  }
  expect(")");
  return out;
}

Text read_text(const std::filesystem::path& path) {
  const file::File opened = file::open_read(path);
  const std::uint64_t size = file::size(opened);
  if (size > largest_text)
    throw Error(Kind::corrupt,
                "expected a text of at most " + std::to_string(largest_text) + " bytes, found " + std::to_string(size))
        .at(path.string());
  // The lists parsed from a header take about twice the memory of its text.
  base::need_memory(3 * size, "the text header " + path.string());
  std::string text(size, '\0');
  text.resize(file::pread_some(opened, 0, std::as_writable_bytes(std::span(text))));
  return Text(std::move(text), path);
}

std::filesystem::path path_below(const std::filesystem::path& directory, const std::string& name, const Text& text) {
  const std::filesystem::path relative(name);
  bool leads_out = name.empty() || relative.is_absolute() || name.find('\0') != std::string::npos;
  for (const auto& component : relative) leads_out = leads_out || component == "..";
  if (leads_out) throw text.error("the file name \"" + name + "\" leads out of the output");
  return directory / relative;
}

std::string level_name(std::size_t level) { return "Level_" + std::to_string(level); }

std::string numbered(const std::string& stem, std::int64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%05lld", static_cast<long long>(number));
  return stem + digits;
}

void append_text(std::string& text, const mesh::IndexBox& cells, const mesh::Index3& nodal, int dim) {
  constexpr std::size_t widest = 20;  // of an integer; there are nine at most, each with a sign before it
  char out[9 * (widest + 1) + 16];
  char* at = out;
  const auto tuple = [&](const mesh::Index3& values, std::int64_t less) {
    *at++ = '(';
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      if (axis > 0) *at++ = ',';
      at = std::to_chars(at, out + sizeof out, values[axis] - less).ptr;
    }
    *at++ = ')';
  };
  *at++ = '(';
  tuple(cells.lo, 0);
  *at++ = ' ';
  tuple(cells.hi, 1);
  *at++ = ' ';
  tuple(nodal, 0);
  *at++ = ')';
  text.append(out, at);
}

std::string to_text(const mesh::IndexBox& cells, const mesh::Index3& nodal, int dim) {
  std::string text;
  append_text(text, cells, nodal, dim);
  return text;
}

std::string to_text(const BoxArray& boxes) {
  std::string text = "(" + std::to_string(boxes.boxes.size()) + " 0\n";
  for (const auto& box : boxes.boxes) {
    append_text(text, box, boxes.nodal, boxes.dim);
    text.append("\n");
  }
  return text + ")";
}

std::string to_text(double value) {
  char digits[40];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 17).ptr};
}

}  // namespace octavo::formats::amrex
