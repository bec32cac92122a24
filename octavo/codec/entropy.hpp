#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "octavo/codec/chunk.hpp"
#include "octavo/codec/codec.hpp"

/// Inside the codec room: integers -> symbols with raw low bits -> rANS under contexts (docs/codecs.md, "Coded block").
namespace octavo::codec {

/// Leaves new elements as they are: whoever makes room fills it.
template <class T>
struct Unset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  using std::allocator<T>::allocator;
};
template <class T>
using Room = std::vector<T, Unset<T>>;

/// The order of a block's symbols: `families` of `members` cells of `width` values. A symbol's context comes from the
/// symbols of the same family at the same place of the cells before.
struct SymbolOrder {
  std::size_t families = 1;
  std::size_t members = 0;
  std::size_t width = 1;
  std::size_t size() const { return families * members * width; }
};

/// Families that a large block codes side by side, each with a coder state of its own: no decoder step then waits for
/// the one before it.
constexpr std::size_t max_lanes = 8;

/// The meaning of symbols.
enum class Alphabet : std::uint8_t {
  numbers = 0,         ///< 0-2 special, then 3 + class
  signed_numbers = 1,  ///< 0-2 special, then 3 + 2 * class + (sign differs)
  plain = 2,           ///< symbols only
};

constexpr int num_specials = 3;

/// The meaning of each symbol: `bits` raw bits follow, `weight` is the size of the number (for contexts).
struct SymbolTable {
  std::array<std::uint8_t, 256> bits{};
  std::array<std::uint8_t, 256> weight{};
  std::array<std::uint64_t, 256> base{};
};
const SymbolTable& symbol_table(Alphabet alphabet);

/// The class of a number: 0-7 itself, above two classes for each length in bits.
inline unsigned class_of(std::uint64_t u) {
  // A float has the length in its exponent, and the bit after the leading one in front of its mantissa. Clearing bits
  // two after ones keeps those two, and leaves no row of ones that could be rounded up.
  const std::uint64_t few = (u & ~(u >> 2)) >> 1;
  const unsigned large = (std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(few))) >> 22) - 250;
  return u < 8 ? static_cast<unsigned>(u) : large;
}

/// Negative and positive numbers to naturals: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ...
inline std::uint64_t zigzag(std::int64_t r) {
  return (static_cast<std::uint64_t>(r) << 1) ^ static_cast<std::uint64_t>(r >> 63);
}
inline std::int64_t unzigzag(std::uint64_t u) { return static_cast<std::int64_t>((u >> 1) ^ (~(u & 1) + 1)); }

/// Symbols and their numbers (of which only the low bits that the symbol leaves open are written).
struct Symbols {
  std::vector<std::uint8_t> symbol;
  Room<std::uint64_t> number;
  Symbols() = default;
  explicit Symbols(std::size_t size);
  void resize(std::size_t size);
};

/// Appends a coded block. `activity[f * width + j]`: how large numbers are expected to be (length in bits), known to
/// the decoder; empty: unknown. The rule of contexts is one of those that often win, with Effort::max of all; with
/// Effort::fast it is the usual one for the kind of block.
void encode_symbols(const Symbols& symbols, Alphabet alphabet, const SymbolOrder& layout,
                    std::span<const std::uint8_t> activity, Bytes& out, Effort effort = Effort::normal);
/// Reads one into `symbols`; `number` of each symbol is complete.
void decode_symbols(ChunkReader& in, Alphabet alphabet, const SymbolOrder& layout,
                    std::span<const std::uint8_t> activity, Symbols& symbols);

}  // namespace octavo::codec
