#include "octavo/codec/entropy.hpp"

#include <algorithm>

#include "octavo/codec/contexts.hpp"

namespace octavo::codec {

namespace {

constexpr std::uint32_t rans_floor = 1u << 16;  // states live in [2^16, 2^32) and move 16 bits at a time

SymbolTable make_table(Alphabet alphabet) {
  SymbolTable table;
  for (unsigned s = 0; s < 256; ++s) {
    if (alphabet == Alphabet::plain) {
      table.weight[s] = static_cast<std::uint8_t>(std::min(s, 15u));
      continue;
    }
    if (s < num_specials) continue;
    const unsigned c = alphabet == Alphabet::numbers ? s - num_specials : (s - num_specials) / 2;
    if (c < 8) {
      table.weight[s] = static_cast<std::uint8_t>(bit_length(c));
      table.base[s] = c;
    } else {
      const unsigned length = std::min(4 + (c - 8) / 2, 64u);
      table.weight[s] = static_cast<std::uint8_t>(length);
      table.bits[s] = static_cast<std::uint8_t>(length - 2);
      table.base[s] = std::uint64_t{2 + (c & 1)} << (length - 2);
    }
  }
  return table;
}

/// One table ready for coding.
struct Coder {
  std::array<std::uint16_t, 256> frequency{}, begin{};
};

Coder make_coder(const Counts& frequency) {
  Coder coder;
  std::uint32_t sum = 0;
  for (unsigned s = 0; s < 256; ++s) {
    coder.frequency[s] = static_cast<std::uint16_t>(frequency[s]);
    coder.begin[s] = static_cast<std::uint16_t>(sum);
    sum += frequency[s];
  }
  return coder;
}

/// The symbol that a slot of a table decodes to.
struct Slot {
  std::uint16_t frequency, offset;
  std::uint8_t symbol;
};

/// `clusters` tables of 2^scale slots.
std::vector<Slot> make_slots(const std::vector<Counts>& frequencies, unsigned scale) {
  std::vector<Slot> slots(frequencies.size() << scale);
  auto slot = slots.begin();
  for (const Counts& frequency : frequencies)
    for (unsigned s = 0; s < 256; ++s)
      for (std::uint32_t i = 0; i < frequency[s]; ++i)
        *slot++ = {static_cast<std::uint16_t>(frequency[s]), static_cast<std::uint16_t>(i),
                   static_cast<std::uint8_t>(s)};
  return slots;
}

unsigned choose_scale(std::size_t n) { return static_cast<unsigned>(std::clamp(bit_length(n), 8, 12)); }
std::size_t choose_lanes(std::size_t n) { return n < 2048 ? 1 : 2; }

/// The symbols, last first, as 16-bit words in the order in which a decoder takes them.
void put_rans(const Symbols& symbols, std::span<const std::uint8_t> context, const std::vector<Coder>& coders,
              unsigned scale, std::size_t lanes, Bytes& out) {
  thread_local std::vector<std::uint16_t> words;
  words.clear();
  std::array<std::uint32_t, 2> state{rans_floor, rans_floor};
  for (std::size_t t = symbols.symbol.size(); t-- > 0;) {
    const Coder& coder = coders[context[t]];
    const std::uint32_t frequency = coder.frequency[symbols.symbol[t]];
    std::uint32_t& x = state[t & (lanes - 1)];
    if (x >= std::uint64_t{frequency} << (32 - scale)) {
      words.push_back(static_cast<std::uint16_t>(x));
      x >>= 16;
    }
    x = ((x / frequency) << scale) + x % frequency + coder.begin[symbols.symbol[t]];
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) put_number(out, state[lane]);
  const std::size_t at = out.size();
  out.resize(at + 2 * words.size());
  for (std::size_t i = 0; i < words.size(); ++i) base::store(out.data() + at + 2 * i, words[words.size() - 1 - i]);
}

void put_low_bits(const Symbols& symbols, const SymbolTable& table, Bytes& out) {
  std::size_t total = 0;
  for (std::uint8_t s : symbols.symbol) total += table.bits[s];
  const std::size_t begin = out.size();
  out.resize(begin + (total + 7) / 8 + 16);
  std::byte* at = out.data() + begin;
  std::uint64_t held = 0;
  unsigned filled = 0;
  for (std::size_t t = 0; t < symbols.symbol.size(); ++t) {
    const unsigned count = table.bits[symbols.symbol[t]];
    if (count == 0) continue;
    const std::uint64_t low = symbols.number[t] & ((std::uint64_t{1} << count) - 1);
    held |= low << filled;
    filled += count;
    if (filled < 64) continue;
    base::store(at, held);
    at += 8;
    filled -= 64;
    held = filled == 0 ? 0 : low >> (count - filled);
  }
  base::store(at, held);
  out.resize(begin + (total + 7) / 8);
}

void get_low_bits(Reader& in, const SymbolTable& table, Symbols& symbols) {
  std::size_t total = 0;
  for (std::uint8_t s : symbols.symbol) total += table.bits[s];
  const auto bytes = in.take((total + 7) / 8);
  // The last bytes are read from a copy with room behind, so that whole words can be loaded everywhere.
  const std::size_t direct = bytes.size() < 16 ? 0 : bytes.size() - 16;
  std::array<std::byte, 32> tail{};
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(direct), bytes.end(), tail.begin());
  std::size_t position = 0;
  for (std::size_t t = 0; t < symbols.symbol.size(); ++t) {
    const std::uint8_t s = symbols.symbol[t];
    const unsigned count = table.bits[s];
    const std::byte* at = position / 8 < direct ? bytes.data() + position / 8 : tail.data() + (position / 8 - direct);
    const unsigned shift = position % 8;
    std::uint64_t low = base::load<std::uint64_t>(at) >> shift;
    if (shift + count > 64) low |= static_cast<std::uint64_t>(at[8]) << (64 - shift);
    symbols.number[t] = table.base[s] | (low & ((std::uint64_t{1} << count) - 1));
    position += count;
  }
}

}  // namespace

Symbols::Symbols(std::size_t size) : symbol(size), number(size) {}

void Symbols::resize(std::size_t size) {
  symbol.resize(size);
  number.resize(size);
}

const SymbolTable& symbol_table(Alphabet alphabet) {
  static const std::array<SymbolTable, 3> tables{make_table(Alphabet::numbers), make_table(Alphabet::signed_numbers),
                                                 make_table(Alphabet::plain)};
  return tables[static_cast<std::size_t>(alphabet)];
}

void encode_symbols(const Symbols& symbols, Alphabet alphabet, const SymbolOrder& layout,
                    std::span<const std::uint8_t> activity, Bytes& out) {
  const std::size_t n = layout.size();
  if (n == 0) return;
  const SymbolTable& table = symbol_table(alphabet);
  const ContextPlan plan = plan_contexts(symbols, table, layout, activity);
  const unsigned scale = choose_scale(n);
  const std::size_t lanes = choose_lanes(n);
  put_byte(out, static_cast<std::size_t>(plan.rule) | (lanes == 2 ? 8u : 0u) | (scale << 4));
  if (plan.rule != Rule::none) {
    put_byte(out, plan.base);
    put_varint(out, plan.clusters.begins);
  }
  std::vector<Coder> coders;
  BitWriter bits(out);
  Ends ends;
  for (const Counts& counts : plan.clusters.counts) {
    write_table(bits, counts, alphabet, ends);
    Counts written{};
    for (unsigned s = 0; s < 256; ++s) written[s] = rounded(counts[s]);
    coders.push_back(make_coder(normalise(written, scale)));
  }
  bits.finish();
  thread_local std::vector<std::uint8_t> context;
  context.resize(n);
  const auto cluster_at = clusters_of(plan.clusters.begins);
  for_each_metric(plan.rule, layout, activity, symbols.symbol.data(), table.weight, plan.base,
                  [&](std::size_t t, unsigned m) { context[t] = cluster_at[m]; });
  put_rans(symbols, context, coders, scale, lanes, out);
  put_low_bits(symbols, table, out);
}

void decode_symbols(Reader& in, Alphabet alphabet, const SymbolOrder& layout, std::span<const std::uint8_t> activity,
                    Symbols& symbols) {
  const std::size_t n = layout.size();
  symbols.resize(n);
  if (n == 0) return;
  const SymbolTable& table = symbol_table(alphabet);
  const unsigned head = in.byte();
  const unsigned scale = head >> 4;
  if ((head & 7) >= num_rules || scale < 8 || scale > 12) in.fail("not the head of a coded block");
  const auto rule = static_cast<Rule>(head & 7);
  const std::size_t lanes = (head & 8) != 0 ? 2 : 1;
  const unsigned base = rule == Rule::none ? 0 : in.byte();
  const std::uint64_t begins = rule == Rule::none ? 0 : in.varint();
  if (begins > 0xffffffff) in.fail("tables for more metrics than there are");
  const auto cluster_at = clusters_of(static_cast<std::uint32_t>(begins));

  std::vector<Counts> frequencies;
  BitReader bits(in);
  Ends ends;
  for (unsigned c = 0; c <= cluster_at[num_metrics - 1]; ++c) {
    frequencies.push_back(normalise(read_table(bits, alphabet, ends, in), scale));
    if (frequencies.back() == Counts{}) in.fail("an empty frequency table");
  }
  const std::vector<Slot> slots = make_slots(frequencies, scale);

  std::array<std::uint32_t, 2> state{rans_floor, rans_floor};
  for (std::size_t lane = 0; lane < lanes; ++lane) state[lane] = in.number<std::uint32_t>();
  if (state[0] < rans_floor || state[1] < rans_floor) in.fail("a coder state is out of range");
  const auto words = in.peek(in.left() / 2 * 2);  // no more than these; the symbols tell how many
  const std::byte* word = words.data();
  const std::byte* const end = word + words.size();

  const std::uint32_t mask = (1u << scale) - 1;
  bool short_of_words = false;
  for_each_metric(rule, layout, activity, symbols.symbol.data(), table.weight, base, [&](std::size_t t, unsigned m) {
    std::uint32_t& x = state[t & (lanes - 1)];
    const Slot slot = slots[(std::size_t{cluster_at[m]} << scale) + (x & mask)];
    symbols.symbol[t] = slot.symbol;
    x = slot.frequency * (x >> scale) + slot.offset;
    if (x < rans_floor) {
      if (word == end) {
        short_of_words = true;
        x = rans_floor;
        return;
      }
      x = (x << 16) | base::load<std::uint16_t>(word);
      word += 2;
    }
  });
  if (short_of_words || state[0] != rans_floor || state[1] != rans_floor)
    in.fail("the coded symbols do not end where they should");
  in.take(static_cast<std::size_t>(word - words.data()));
  get_low_bits(in, table, symbols);
}

}  // namespace octavo::codec
