#include "octavo/formats/amrex/fab.hpp"

#include <array>
#include <cstring>

#include "octavo/base/byte_order.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Error;
using base::Kind;
using mesh::ScalarType;

struct FormatRow {
  RealFormat format;
  const char* text;
};

// Format: bits in all, of the exponent, of the mantissa, positions of sign, exponent and mantissa, hidden bit, bias.
// Order: the place of each byte of a big-endian number.
constexpr std::array<FormatRow, 4> format_rows{{
    {{ScalarType::float64, std::endian::little}, "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"},
    {{ScalarType::float64, std::endian::big}, "((8, (64 11 52 0 1 12 0 1023)),(8, (1 2 3 4 5 6 7 8)))"},
    {{ScalarType::float32, std::endian::little}, "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))"},
    {{ScalarType::float32, std::endian::big}, "((8, (32 8 23 0 1 9 0 127)),(4, (1 2 3 4)))"},
}};

/// "(8, (a b c ...))", written back with single blanks.
std::string read_list(Text& text) {
  text.expect("(");
  const std::int64_t n = text.integer(16);
  text.expect(",");
  text.expect("(");
  std::string out = "(" + std::to_string(n) + ", (";
  for (std::int64_t i = 0; i < n; ++i) out.append(i == 0 ? "" : " ").append(std::to_string(text.integer()));
  text.expect(")");
  text.expect(")");
  return out + "))";
}

void widen(std::endian order, const std::byte* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(base::load<float>(from + i * sizeof(float), order));
    std::memcpy(to + i * sizeof(double), &value, sizeof(double));
  }
}

template <class Bits>
void swap_into(const std::byte* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = base::load<Bits>(
        from + i * sizeof(Bits), std::endian::native == std::endian::little ? std::endian::big : std::endian::little);
    std::memcpy(to + i * sizeof(Bits), &bits, sizeof(Bits));
  }
}

}  // namespace

RealFormat read_real_format(Text& text) {
  text.expect("(");
  const std::string numbers = read_list(text);
  text.expect(",");
  const std::string found = "(" + numbers + "," + read_list(text) + ")";
  text.expect(")");
  for (const FormatRow& row : format_rows)
    if (found == row.text) return row.format;
  throw Error(Kind::unsupported, "real numbers of the format " + found +
                                     ": only IEEE numbers of 4 and 8 bytes, little- and big-endian, are read")
      .at(text.path().string());
}

std::string to_text(const RealFormat& format) {
  for (const FormatRow& row : format_rows)
    if (row.format == format) return row.text;
  throw Error(Kind::usage, "AMReX files hold float64 and float32 values only");
}

FabLine read_fab_line(std::span<const std::byte> bytes, const std::string& place) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = all.substr(0, max_fab_line).find('\n');
  if (all.substr(0, 5) == "FAB: ")
    throw Error(Kind::unsupported, "values in the old FAB formats (ASCII, 8BIT) are not read").at(place);
  if (end == std::string_view::npos || all.substr(0, 4) != "FAB ")
    throw Error(Kind::corrupt, "expected a line that begins with \"FAB\" before the values of a box").at(place);
  Text text(std::string(all.substr(4, end - 4)), place);
  FabLine line;
  line.format = read_real_format(text);
  line.box = text.box();
  line.components = text.integer();
  line.bytes = end + 1;
  if (!text.at_end()) throw text.error("more than a format, a box and a number on the line of a FAB");
  return line;
}

std::string to_text(const FabLine& line) {
  std::string text = "FAB ";
  text.append(to_text(line.format));
  append_text(text, line.box.cells, line.box.nodal, line.box.dim);
  return text.append(" ").append(std::to_string(line.components)).append("\n");
}

void decode(const RealFormat& format, const std::byte* from, std::size_t count, ScalarType type, std::byte* to) {
  const bool same = format.type == type;
  if (same && format.order == std::endian::native) {
    std::memcpy(to, from, count * mesh::size_of(type));
  } else if (same) {  // as integers: a NaN keeps its payload
    if (type == ScalarType::float64)
      swap_into<std::uint64_t>(from, count, to);
    else
      swap_into<std::uint32_t>(from, count, to);
  } else if (format.type == ScalarType::float32 && type == ScalarType::float64) {
    widen(format.order, from, count, to);
  } else {
    throw Error(Kind::unsupported, "a box of 8-byte numbers among boxes of 4-byte ones");
  }
}

}  // namespace octavo::formats::amrex
