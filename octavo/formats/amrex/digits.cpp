#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "octavo/formats/amrex/text.hpp"

// Tables of minima and maxima are a number for each component of each box: for small boxes, writing them with the
// general routine takes as long as half of the values.
namespace octavo::formats::amrex {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int last_power = 340;

// 10^n = mantissa * 2^exponent, 2^127 <= mantissa, cut off: after n steps off by less than n of its last bits.
struct Power {
  Wide mantissa;
  int exponent;
};

using Powers = std::array<Power, 2 * last_power + 1>;
Powers make_powers() {
  Powers all;
  all[last_power] = {Wide{1} << 127, -127};
  for (std::size_t n = last_power; n-- > 0;) {
    // * 2^k / 10, once with 3 and once with 4: the quotient is taken of as many bits as there are.
    const Power& above = all[n + 1];
    Wide quotient = above.mantissa / 10;
    Wide rest = above.mantissa % 10;
    int shift = 0;
    for (; quotient >> 127 == 0; ++shift) {
      rest <<= 1;
      quotient = quotient << 1 | (rest >= 10 ? 1U : 0U);
      if (rest >= 10) rest -= 10;
    }
    all[n] = {quotient, above.exponent - shift};
  }
  for (std::size_t n = last_power + 1; n < all.size(); ++n) {
    // * 10 / 16 is less than it was, * 10 / 8 more.
    const Power& below = all[n - 1];
    const Wide eighth = below.mantissa / 8 * 10 + below.mantissa % 8 * 10 / 8;
    const bool over = below.mantissa / 8 > ~Wide{0} / 10;
    all[n] = over ? Power{below.mantissa / 16 * 10 + below.mantissa % 16 * 10 / 16, below.exponent + 4}
                  : Power{eighth, below.exponent + 3};
  }
  return all;
}

void append_general(std::string& text, double value) {
  char digits[40];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific, 17).ptr);
}

// The 18 digits of value / 10^exponent, and how far it is from there to the next number [2^-64].
struct Digits {
  std::uint64_t whole = 0, fraction = 0;
};
Digits digits_of(double value, int exponent) {
  static const Powers powers = make_powers();
  const Power& power = powers[static_cast<std::size_t>(last_power + 17 - exponent)];
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const int binary = static_cast<int>(bits >> 52) - 1075;
  // mantissa * 2^11 * power, of which the upper 128 bits.
  const std::uint64_t scaled = mantissa << 11;
  const Wide low = Wide{scaled} * static_cast<std::uint64_t>(power.mantissa);
  const Wide product = Wide{scaled} * static_cast<std::uint64_t>(power.mantissa >> 64) + (low >> 64);
  const int shift = -(binary - 11 + power.exponent + 64);  // 64 to 72: the digits are less than 2^60
  if (shift < 65 || shift > 120) return {};
  const Wide rest = product << (128 - shift);
  return {static_cast<std::uint64_t>(product >> shift), static_cast<std::uint64_t>(rest >> 64)};
}

void append_digits(std::string& text, std::uint64_t whole, bool negative, int exponent) {
  static constexpr auto pairs = [] {
    std::array<char, 200> all{};
    for (std::size_t i = 0; i < 100; ++i) {
      all[2 * i] = static_cast<char>('0' + i / 10);
      all[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return all;
  }();
  char out[25];
  char* const first = out + 1;  // the sign stands before
  for (int at = 18; at > 0; at -= 2, whole /= 100) std::memcpy(first + at - 1, &pairs[2 * (whole % 100)], 2);
  first[0] = first[1];
  first[1] = '.';
  out[0] = '-';
  first[19] = 'e';
  first[20] = exponent < 0 ? '-' : '+';
  std::memcpy(first + 21, &pairs[2 * static_cast<std::size_t>(std::abs(exponent))], 2);
  text.append(negative ? out : first, first + 23);
}

}  // namespace

void append_scientific(std::string& text, double value) {
  constexpr std::uint64_t most = 1'000'000'000'000'000'000, least = most / 10;
  const double size = std::abs(value);
  // Others have three digits in their exponents, or no digits at all.
  if (!(size >= 1e-98 && size < 1e98)) return append_general(text, value);
  const int binary = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52) - 1023;
  int exponent = (binary * 1233) >> 12;  // log10(2) is 1233 / 4096, all but: right or one too small
  Digits digits = digits_of(size, exponent);
  if (digits.whole >= most) digits = digits_of(size, ++exponent);
  // Near the middle between two numbers we leave the decision to the general function.
  constexpr std::uint64_t middle = std::uint64_t{1} << 63, doubt = std::uint64_t{1} << 24;
  if (digits.whole < least || digits.fraction - (middle - doubt) < 2 * doubt) return append_general(text, value);
  if (digits.fraction >= middle && ++digits.whole == most) return append_general(text, value);
  append_digits(text, digits.whole, value < 0, exponent);
}

}  // namespace octavo::formats::amrex
