#pragma once
#include <array>
#include <cstdint>

#include "octavo/codec/bit_stream.hpp"
#include "octavo/codec/entropy.hpp"

/// Inside the codec room: how often symbols occur, as it is written and as rANS uses it (docs/codecs.md, "Table").
namespace octavo::codec {

using Counts = std::array<std::uint32_t, 256>;

/// A count as it is written: its length in bits and the two bits below the leading one; the rest is rounded away.
std::uint32_t rounded(std::uint32_t count);

/// The first and the last symbol of the table before; at first 0.
struct TableEnds {
  unsigned first = 0, last = 0;
};

void write_table(BitWriter& bits, const Counts& counts, Alphabet alphabet, TableEnds& ends);
/// The rounded counts. Throws Error(corrupt) where no such table can be.
Counts read_table(BitReader& bits, Alphabet alphabet, TableEnds& ends, const ChunkReader& where);

/// Frequencies that sum to 2^scale, none of them 0 where the count is not. All zero where there are no counts.
Counts normalise(const Counts& counts, unsigned scale);

}  // namespace octavo::codec
