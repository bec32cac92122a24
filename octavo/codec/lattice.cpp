#include "octavo/codec/lattice.hpp"

#include <charconv>
#include <cmath>
#include <string>

namespace octavo::codec {

namespace {

constexpr std::array<unsigned, 5> phase_sizes{0, 1, 2, 4, 6};  // bytes

constexpr unsigned size_mask = 7, two_phases = 8, is_narrow = 16, has_common = 32;

std::uint64_t fraction(double phase) { return static_cast<std::uint64_t>(phase * 0x1p48); }

/// The first of `phase_sizes` that holds both phases.
unsigned size_code(const Lattice& lattice) {
  const std::uint64_t bits = fraction(lattice.phase[0]) | fraction(lattice.phase[1]);
  unsigned code = 0;
  while (code + 1 < phase_sizes.size() && bits << (16 + 8 * phase_sizes[code]) != 0) ++code;
  return code;
}

void put_phase(Bytes& out, double phase, unsigned size) {
  const std::uint64_t bits = fraction(phase) >> (48 - 8 * size);
  for (unsigned byte = 0; byte < size; ++byte) put_byte(out, (bits >> (8 * byte)) & 255);
}

double get_phase(ChunkReader& in, unsigned size) {
  std::uint64_t bits = 0;
  for (unsigned byte = 0; byte < size; ++byte) bits |= std::uint64_t{in.byte()} << (8 * byte);
  return static_cast<double>(bits << (48 - 8 * size)) * 0x1p-48;
}

constexpr int raw_bound = -128;  // in place of an exponent

}  // namespace

void put_lattice(Bytes& out, const Lattice& lattice, Scalar scalar) {
  const unsigned code = size_code(lattice);
  const bool two = lattice.phase[0] != lattice.phase[1];
  put_byte(out,
           code | (two ? two_phases : 0) | (lattice.narrow != 0 ? is_narrow : 0) | (lattice.common ? has_common : 0));
  put_phase(out, lattice.phase[0], phase_sizes[code]);
  if (two) put_phase(out, lattice.phase[1], phase_sizes[code]);
  if (lattice.narrow != 0) put_number(out, static_cast<std::uint16_t>(lattice.narrow));
  if (!lattice.common) return;
  if (scalar == Scalar::float64)
    put_number(out, *lattice.common);
  else
    put_number(out, static_cast<float>(*lattice.common));
}

Lattice get_lattice(ChunkReader& in, Scalar scalar) {
  const unsigned flags = in.byte();
  if (flags > 63 || (flags & size_mask) >= phase_sizes.size()) in.fail("unknown kind of lattice");
  const unsigned size = phase_sizes[flags & size_mask];
  Lattice lattice;
  lattice.phase[0] = get_phase(in, size);
  lattice.phase[1] = (flags & two_phases) != 0 ? get_phase(in, size) : lattice.phase[0];
  if ((flags & is_narrow) != 0) lattice.narrow = in.number<std::uint16_t>();
  if ((flags & has_common) == 0) return lattice;
  lattice.common = scalar == Scalar::float64 ? in.number<double>() : static_cast<double>(in.number<float>());
  if (!std::isfinite(*lattice.common) || std::abs(*lattice.common) < 0x1p-960)
    in.fail("the common value of a lattice is out of range");
  return lattice;
}

void put_bound(Bytes& out, double bound) {
  // d.ddde-xx: digits and exponent of the shortest decimal number
  char text[40];
  const char* const end = std::to_chars(text, text + sizeof text, bound, std::chars_format::scientific).ptr;
  std::string digits;
  const char* at = text;
  for (; *at != 'e'; ++at)
    if (*at != '.') digits += *at;
  int exponent = 0;
  std::from_chars(at[1] == '+' ? at + 2 : at + 1, end, exponent);
  exponent -= static_cast<int>(digits.size()) - 1;
  std::uint64_t mantissa = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), mantissa);
  if (exponent > raw_bound && exponent < 128 && mantissa < (std::uint64_t{1} << 49)) {
    put_byte(out, static_cast<std::uint8_t>(exponent));
    put_varint(out, mantissa);
  } else {
    put_byte(out, static_cast<std::uint8_t>(raw_bound));
    put_number(out, bound);
  }
}

double get_bound(ChunkReader& in) {
  const auto exponent = static_cast<std::int8_t>(in.byte());
  if (exponent == raw_bound) return in.number<double>();
  const std::string text = std::to_string(in.varint()) + "e" + std::to_string(exponent);
  double bound = 0;
  std::from_chars(text.data(), text.data() + text.size(), bound);
  return bound;
}

}  // namespace octavo::codec
