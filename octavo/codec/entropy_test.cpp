#include "octavo/codec/entropy.hpp"

#include <gtest/gtest.h>

#include <random>

#include "octavo/base/error.hpp"

namespace octavo::codec {
namespace {

Symbols numbers_like(const SymbolOrder& layout, std::span<const std::uint8_t> activity, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Symbols symbols(layout.size());
  for (std::size_t t = 0; t < layout.size(); ++t) {
    const std::size_t family = t / (layout.members * layout.width);
    const unsigned length =
        activity.empty() ? static_cast<unsigned>(random() % 65) : activity[family * layout.width + t % layout.width];
    const std::uint64_t u = length == 0 ? 0 : random() >> (64 - length);
    symbols.number[t] = u;
    symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + class_of(u));
  }
  return symbols;
}

TEST(Entropy, numbers_of_any_length_come_back) {
  for (const SymbolOrder layout :
       {SymbolOrder{1, 1, 1}, SymbolOrder{1, 5000, 1}, SymbolOrder{700, 8, 1}, SymbolOrder{100, 4, 3}}) {
    const Symbols symbols = numbers_like(layout, {}, 1);
    Bytes bytes;
    encode_symbols(symbols, Alphabet::numbers, layout, {}, bytes);
    ChunkReader in(bytes);
    Symbols back;
    decode_symbols(in, Alphabet::numbers, layout, {}, back);
    EXPECT_EQ(back.symbol, symbols.symbol);
    EXPECT_EQ(back.number, symbols.number);
    in.finish();
  }
}

TEST(Entropy, known_activity_saves_bytes) {
  const SymbolOrder layout{4000, 8, 1};
  std::vector<std::uint8_t> activity(4000);
  for (std::size_t f = 0; f < activity.size(); ++f) activity[f] = static_cast<std::uint8_t>(f * 7919 % 13);
  const Symbols symbols = numbers_like(layout, activity, 2);
  Bytes with, without;
  encode_symbols(symbols, Alphabet::numbers, layout, activity, with);
  encode_symbols(symbols, Alphabet::numbers, {1, layout.size(), 1}, {}, without);
  EXPECT_LT(with.size() * 20, without.size() * 19);
  ChunkReader in(with);
  Symbols back;
  decode_symbols(in, Alphabet::numbers, layout, activity, back);
  EXPECT_EQ(back.number, symbols.number);
}

TEST(Entropy, one_symbol_over_and_over_takes_no_room) {
  Symbols symbols(100000);
  std::fill(symbols.symbol.begin(), symbols.symbol.end(), std::uint8_t{3});
  Bytes bytes;
  encode_symbols(symbols, Alphabet::numbers, {1, symbols.symbol.size(), 1}, {}, bytes);
  EXPECT_LT(bytes.size(), 32u);
}

TEST(Entropy, all_256_symbols_come_back) {
  Symbols symbols(4096);
  for (std::size_t t = 0; t < symbols.symbol.size(); ++t) symbols.symbol[t] = static_cast<std::uint8_t>(t * t);
  for (std::size_t t = 0; t < 256; ++t) symbols.symbol[t] = static_cast<std::uint8_t>(t);
  Bytes bytes;
  encode_symbols(symbols, Alphabet::plain, {1, symbols.symbol.size(), 1}, {}, bytes);
  ChunkReader in(bytes);
  Symbols back;
  decode_symbols(in, Alphabet::plain, {1, symbols.symbol.size(), 1}, {}, back);
  EXPECT_EQ(back.symbol, symbols.symbol);
}

}  // namespace
}  // namespace octavo::codec
