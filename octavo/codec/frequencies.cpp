#include "octavo/codec/frequencies.hpp"

#include <algorithm>

namespace octavo::codec {

namespace {

/// Elias gamma of z + 1: as many zeros as follow the leading bit, that bit, the rest.
void put_gamma(BitWriter& bits, unsigned z) {
  const unsigned length = static_cast<unsigned>(bit_length(z + 1));
  bits.put(0, length - 1);
  bits.put(1, 1);
  bits.put(z + 1, length - 1);
}
unsigned get_gamma(BitReader& bits, const ChunkReader& where) {
  unsigned length = 0;
  while (bits.get(1) == 0)
    if (++length > 16) where.fail("a number in a frequency table is too long");
  return ((1u << length) | static_cast<unsigned>(bits.get(length))) - 1;
}

void put_difference(BitWriter& bits, unsigned value, unsigned before) {
  put_gamma(bits, static_cast<unsigned>(zigzag(static_cast<std::int64_t>(value) - static_cast<std::int64_t>(before))));
}
unsigned get_difference(BitReader& bits, unsigned before, const ChunkReader& where) {
  return static_cast<unsigned>(static_cast<std::int64_t>(before) + unzigzag(get_gamma(bits, where)));
}

/// A length by how it differs from the one expected, none being negative.
unsigned fold(int length, int expected) {
  return static_cast<unsigned>(length > 2 * expected ? length : static_cast<int>(zigzag(length - expected)));
}
int unfold(unsigned z, int expected) {
  const int folded = static_cast<int>(z);
  return folded > 2 * expected ? folded : expected + static_cast<int>(unzigzag(z));
}

/// The symbol whose length predicts that of symbol s: one with the same flag.
unsigned predecessor(unsigned s, Alphabet alphabet) {
  return s - (alphabet == Alphabet::signed_numbers && s >= num_specials + 2 ? 2 : 1);
}

}  // namespace

std::uint32_t rounded(std::uint32_t count) {
  const int length = bit_length(count);
  if (length <= 3) return count;
  const std::uint32_t half = 1u << (length - 4);
  const std::uint32_t up = count + half < count ? count : count + half;
  const int drop = bit_length(up) - 3;
  return (up >> drop) << drop;
}

void write_table(BitWriter& bits, const Counts& counts, Alphabet alphabet, TableEnds& ends) {
  const TableEnds before = ends;
  auto& [first, last] = ends = {0, 255};
  while (first < 255 && counts[first] == 0) ++first;
  while (last > first && counts[last] == 0) --last;
  put_difference(bits, first, before.first);
  put_difference(bits, last, before.last);
  std::array<int, 256> length{};
  for (unsigned s = first; s <= last; ++s) {
    const std::uint32_t q = rounded(counts[s]);
    length[s] = bit_length(q);
    const int expected = s == first ? 4 : length[predecessor(s, alphabet)];
    put_gamma(bits, fold(length[s], expected));
    const int below = std::clamp(length[s] - 1, 0, 2);
    if (below > 0) bits.put(q >> (length[s] - 1 - below), static_cast<unsigned>(below));
  }
}

Counts read_table(BitReader& bits, Alphabet alphabet, TableEnds& ends, const ChunkReader& where) {
  Counts counts{};
  ends.first = get_difference(bits, ends.first, where);
  ends.last = get_difference(bits, ends.last, where);
  if (ends.last < ends.first || ends.last > 255) where.fail("a frequency table ends before it begins");
  std::array<int, 256> length{};
  for (unsigned s = ends.first; s <= ends.last; ++s) {
    const int expected = s == ends.first ? 4 : length[predecessor(s, alphabet)];
    length[s] = unfold(get_gamma(bits, where), expected);
    if (length[s] < 0 || length[s] > 32) where.fail("a frequency is out of range");
    if (length[s] == 0) continue;
    const int below = std::clamp(length[s] - 1, 0, 2);
    counts[s] = ((1u << below) | static_cast<std::uint32_t>(bits.get(static_cast<unsigned>(below))))
                << (length[s] - 1 - below);
  }
  return counts;
}

Counts normalise(const Counts& counts, unsigned scale) {
  std::uint64_t sum = 0;
  for (std::uint32_t c : counts) sum += c;
  Counts frequency{};
  if (sum == 0) return frequency;
  std::int64_t rest = std::int64_t{1} << scale;
  for (unsigned s = 0; s < 256; ++s) {
    if (counts[s] == 0) continue;
    frequency[s] = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (std::uint64_t{counts[s]} << scale) / sum));
    rest -= frequency[s];
  }
  // The most frequent symbol takes, or gives, the remainder of rounding.
  while (rest != 0) {
    auto& largest = *std::max_element(frequency.begin(), frequency.end());
    const std::int64_t change = std::max<std::int64_t>(rest, 1 - static_cast<std::int64_t>(largest));
    largest = static_cast<std::uint32_t>(largest + change);
    rest -= change;
  }
  return frequency;
}

}  // namespace octavo::codec
