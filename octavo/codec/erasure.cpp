#include "octavo/codec/erasure.hpp"

#include <algorithm>
#include <cstring>

namespace octavo::codec {
namespace {

constexpr unsigned polynomial = 0x11d;

std::uint8_t inverse(std::uint8_t a) noexcept {
  std::uint8_t power = 1;  // a^254 = a^(2 + 4 + ... + 128): the group has 255 elements
  for (int i = 0; i < 7; ++i) {
    a = product(a, a);
    power = product(power, a);
  }
  return power;
}

// Eight products by x at once.
constexpr std::uint64_t times_x(std::uint64_t bytes) noexcept {
  const std::uint64_t high = bytes >> 7 & 0x0101010101010101;
  return ((bytes & 0x7f7f7f7f7f7f7f7f) << 1) ^ high * (polynomial & 0xff);
}

std::uint64_t times(std::uint64_t bytes, std::uint8_t factor) noexcept {
  std::uint64_t sum = 0;
  for (unsigned bit = 0; bit < 8; ++bit, bytes = times_x(bytes)) sum ^= bytes & -(std::uint64_t{factor} >> bit & 1);
  return sum;
}

}  // namespace

std::uint8_t product(std::uint8_t a, std::uint8_t b) noexcept {
  unsigned sum = 0;
  for (unsigned bit = 0; bit < 8; ++bit) sum ^= (b >> bit & 1U) * (static_cast<unsigned>(a) << bit);
  for (unsigned bit = 14; bit >= 8; --bit) sum ^= (sum >> bit & 1U) * (polynomial << (bit - 8));
  return static_cast<std::uint8_t>(sum);
}

std::uint8_t erasure_factor(int row, int block) noexcept {
  const int column = most_parity_rows + block;
  return product(static_cast<std::uint8_t>(column), inverse(static_cast<std::uint8_t>(row ^ column)));
}

void add_product(std::span<std::byte> sum, std::uint8_t factor, std::span<const std::byte> values) noexcept {
  if (factor == 0) return;
  constexpr std::size_t word = sizeof(std::uint64_t);
  const std::size_t whole = values.size() / word * word;
  for (std::size_t i = 0; i < whole; i += word) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, sum.data() + i, word);
    std::memcpy(&b, values.data() + i, word);
    a ^= factor == 1 ? b : times(b, factor);
    std::memcpy(sum.data() + i, &a, word);
  }
  for (std::size_t i = whole; i < values.size(); ++i)
    sum[i] ^= std::byte{product(factor, std::to_integer<std::uint8_t>(values[i]))};
}

std::vector<std::uint8_t> recovery_factors(std::span<const int> rows, std::span<const int> lost) {
  const std::size_t e = lost.size();
  // Gauss and Jordan, with the unit matrix at the right. The matrix is regular, so each column has a pivot.
  std::vector<std::vector<std::uint8_t>> m(e, std::vector<std::uint8_t>(2 * e, 0));
  for (std::size_t k = 0; k < e; ++k) {
    for (std::size_t l = 0; l < e; ++l) m[k][l] = erasure_factor(rows[k], lost[l]);
    m[k][e + k] = 1;
  }
  for (std::size_t c = 0; c < e; ++c) {
    const auto pivot =
        std::find_if(m.begin() + static_cast<std::ptrdiff_t>(c), m.end(), [c](const auto& row) { return row[c] != 0; });
    std::swap(*pivot, m[c]);
    const std::uint8_t scale = inverse(m[c][c]);
    for (std::uint8_t& value : m[c]) value = product(value, scale);
    for (std::size_t r = 0; r < e; ++r) {
      const std::uint8_t factor = m[r][c];
      if (r == c || factor == 0) continue;
      for (std::size_t i = 0; i < 2 * e; ++i) m[r][i] ^= product(factor, m[c][i]);
    }
  }
  std::vector<std::uint8_t> inverted;
  for (const auto& row : m) inverted.insert(inverted.end(), row.begin() + static_cast<std::ptrdiff_t>(e), row.end());
  return inverted;
}

}  // namespace octavo::codec
