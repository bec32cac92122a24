#include "octavo/codec/entropy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

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

/// A symbol of a table, ready for coding: a division by its frequency as a multiplication and a shift. (With
/// k = 32 - scale + 2 * length(frequency - 1) and x < frequency * 2^(32 - scale), the quotient is exact and no product
/// exceeds 64 bits.)
struct Encoding {
  std::uint64_t reciprocal = 0;
  std::uint16_t frequency = 0, begin = 0, complement = 0, shift = 0;
};
using Coder = std::array<Encoding, 256>;

Coder make_coder(const Counts& frequency, unsigned scale) {
  Coder coder;
  std::uint32_t sum = 0;
  for (unsigned s = 0; s < 256; ++s) {
    const std::uint32_t f = frequency[s];
    if (f == 0) continue;
    const unsigned shift = 32 - scale + 2 * static_cast<unsigned>(bit_length(f - 1));
    coder[s] = {(std::uint64_t{1} << shift) / f + 1, static_cast<std::uint16_t>(f), static_cast<std::uint16_t>(sum),
                static_cast<std::uint16_t>((1u << scale) - f), static_cast<std::uint16_t>(shift)};
    sum += f;
  }
  return coder;
}

/// Tables of a decoder. Each has the symbol of each of its 2^scale slots, a byte each; then for each symbol its
/// frequency and its first slot, two bytes each. They are small: most of them stay in the fastest cache.
using Tables = Room<std::uint8_t>;

constexpr std::size_t bytes_of_share = 4;
std::size_t bytes_of_table(unsigned scale) { return (std::size_t{1} << scale) + 256 * bytes_of_share; }

void make_tables(const std::vector<Counts>& frequencies, unsigned scale, Tables& tables) {
  tables.resize(frequencies.size() * bytes_of_table(scale));
  std::uint8_t* table = tables.data();
  for (const Counts& frequency : frequencies) {
    std::uint8_t* const shares = table + (std::size_t{1} << scale);
    std::uint32_t begin = 0;
    for (unsigned s = 0; s < 256; ++s) {
      if (frequency[s] == 0) continue;
      std::memset(table + begin, static_cast<int>(s), frequency[s]);
      const std::uint32_t share = frequency[s] | begin << 16;
      std::memcpy(shares + s * bytes_of_share, &share, bytes_of_share);
      begin += frequency[s];
    }
    table += bytes_of_table(scale);
  }
}

unsigned choose_scale(std::size_t n) { return static_cast<unsigned>(std::clamp(bit_length(n), 8, 12)); }

/// A state takes up to four bytes. Small blocks have one, and so have blocks of nearly a single symbol, which may take
/// no more than that.
std::size_t choose_lanes(const Symbols& symbols, Effort effort) {
  constexpr std::size_t sample = 1024;
  const std::size_t n = symbols.symbol.size();
  if (n < (effort == Effort::fast ? 4 : 8) * sample) return 1;
  std::array<std::size_t, 256> count{};
  for (std::size_t i = 0; i < sample; ++i) ++count[symbols.symbol[i * n / sample]];
  return *std::max_element(count.begin(), count.end()) * 16 > sample * 15 ? 1 : max_lanes;
}

/// The symbols, last first, as 16-bit words in the order in which a decoder takes them.
template <std::size_t lanes>
void put_rans(const Symbols& symbols, std::span<const std::uint8_t> cluster, const std::vector<Coder>& coders,
              unsigned scale, const FamilyGroups& groups, Bytes& out) {
  thread_local Room<std::uint16_t> words;
  words.resize(symbols.symbol.size() + 1);  // no symbol takes more than one
  std::uint16_t* const end = words.data() + words.size();
  std::uint16_t* word = end;
  std::array<std::uint32_t, lanes> state;
  state.fill(rans_floor);
  const std::size_t w = groups.layout.width;
  const auto visit = [&](const FamilyGroup& group, std::size_t count, std::size_t row) {
    const std::size_t stride = group.members * w;
    std::size_t t = group.first + row + count * stride;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t lane = count - 1 - i;
      t -= stride;
      const Encoding& e = coders[cluster[t]][symbols.symbol[t]];
      std::uint32_t x = state[lane];
      word[-1] = static_cast<std::uint16_t>(x);
      const bool full = (x >> (32 - scale)) >= e.frequency;
      word -= full ? 1 : 0;
      x = full ? x >> 16 : x;
      const auto quotient = static_cast<std::uint32_t>((x * e.reciprocal) >> e.shift);
      state[lane] = x + e.begin + quotient * e.complement;
    }
  };
  for (std::size_t g = groups.size(); g-- > 0;) {
    const FamilyGroup group = groups[g];
    for (std::size_t row = group.members * w; row-- > 0;)
      if (group.count == lanes)
        visit(group, lanes, row);
      else
        visit(group, group.count, row);
  }
  for (const std::uint32_t x : state) put_number(out, x);
  const auto count = static_cast<std::size_t>(end - word);
  if (lanes > 1) put_varint(out, count);
  const std::size_t at = out.size();
  out.resize(at + 2 * count);
  for (std::size_t i = 0; i < count; ++i) base::store(out.data() + at + 2 * i, word[i]);
}

std::size_t count_low_bits(const Counts& totals, const SymbolTable& table) {
  std::size_t bits = 0;
  for (std::size_t s = 0; s < totals.size(); ++s) bits += std::size_t{table.bits[s]} * totals[s];
  return bits;
}

void put_low_bits(const Symbols& symbols, const Counts& totals, const SymbolTable& table, Bytes& out) {
  const std::size_t size = (count_low_bits(totals, table) + 7) / 8, begin = out.size();
  out.resize(begin + size + 16);
  std::byte* at = out.data() + begin;
  std::uint64_t held = 0;
  unsigned filled = 0;
  const auto put = [&](std::uint64_t low, unsigned count) {  // at most 56
    held |= low << filled;
    base::store(at, held);
    filled += count;
    at += filled / 8;
    held >>= filled / 8 * 8;
    filled %= 8;
  };
  // A symbol without low bits may have a number that was never set.
  const auto low_bits = [&](std::size_t t, unsigned count) {
    return symbols.number[t] & ((std::uint64_t{1} << count) - 1);
  };
  const auto put_one = [&](std::size_t t) {
    unsigned count = table.bits[symbols.symbol[t]];
    std::uint64_t low = low_bits(t, count);
    if (count > 56) {
      put(low & 0xffffffff, 32);
      low >>= 32;
      count -= 32;
    }
    put(low, count);
  };
  const std::size_t n = symbols.symbol.size();
  for (std::size_t t = 0; t < n;) {
    // Each put waits for the one before: four symbols with few bits go together.
    std::array<unsigned, 5> first{};
    for (std::size_t k = 0; k < 4 && t + 4 <= n; ++k) first[k + 1] = first[k] + table.bits[symbols.symbol[t + k]];
    if (t + 4 > n || first[4] > 56) {
      for (const std::size_t end = std::min(t + 4, n); t < end; ++t) put_one(t);
      continue;
    }
    std::uint64_t low = 0;
    for (std::size_t k = 0; k < 4; ++k) low |= low_bits(t + k, first[k + 1] - first[k]) << first[k];
    put(low, first[4]);
    t += 4;
  }
  out.resize(begin + size);
}

void get_low_bits(ChunkReader& in, const SymbolTable& table, Symbols& symbols) {
  const auto bytes = in.take((count_low_bits(count_symbols(symbols.symbol), table) + 7) / 8);
  std::size_t t = 0, position = 0;
  const auto get = [&](const std::byte* from, std::size_t limit) {  // as far as positions below the limit
    for (; t < symbols.symbol.size() && position < limit; ++t) {
      const std::uint8_t s = symbols.symbol[t];
      const unsigned count = table.bits[s], shift = position % 8;
      const std::byte* at = from + position / 8;
      std::uint64_t low = base::load<std::uint64_t>(at) >> shift;
      if (count > 56) low |= (static_cast<std::uint64_t>(at[8]) << 8 >> shift) << 56;
      symbols.number[t] = table.base[s] | (low & ((std::uint64_t{1} << count) - 1));
      position += count;
    }
  };
  // The last bytes are read from a copy with room behind, so that whole words can be loaded everywhere.
  const std::size_t direct = bytes.size() < 16 ? 0 : bytes.size() - 16;
  std::array<std::byte, 32> tail{};
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(direct), bytes.end(), tail.begin());
  get(bytes.data(), 8 * direct);
  position -= 8 * direct;
  get(tail.data(), 8 * tail.size());
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
                    std::span<const std::uint8_t> activity, Bytes& out, Effort effort) {
  const std::size_t n = layout.size();
  if (n == 0) return;
  const SymbolTable& table = symbol_table(alphabet);
  const unsigned scale = choose_scale(n);
  const FamilyGroups groups(layout, choose_lanes(symbols, effort), !activity.empty());
  thread_local Room<std::uint8_t> cluster;
  cluster.resize(n);
  const Counts totals = count_symbols(symbols.symbol);
  const ContextPlan plan = plan_contexts(symbols, totals, table, layout, groups.lanes, activity, effort, cluster);
  put_byte(out, static_cast<std::size_t>(plan.rule) | (groups.lanes > 1 ? 8u : 0u) | (scale << 4));
  if (plan.rule != Rule::none) {
    put_byte(out, plan.base);
    put_varint(out, plan.clusters.begins);
  }
  std::vector<Coder> coders;
  BitWriter bits(out);
  TableEnds ends;
  for (const Counts& counts : plan.clusters.counts) {
    write_table(bits, counts, alphabet, ends);
    Counts written{};
    for (unsigned s = 0; s < 256; ++s) written[s] = rounded(counts[s]);
    coders.push_back(make_coder(normalise(written, scale), scale));
  }
  bits.finish();
  if (groups.lanes == 1)
    put_rans<1>(symbols, cluster, coders, scale, groups, out);
  else
    put_rans<max_lanes>(symbols, cluster, coders, scale, groups, out);
  put_low_bits(symbols, totals, table, out);
}

namespace {

/// The head of a coded block, with its tables.
struct BlockHead {
  Rule rule = Rule::none;
  unsigned scale = 0;
  std::size_t lanes = 1;
  std::array<std::uint8_t, num_raw_metrics> cluster_at{};
  const Tables* tables = nullptr;
};

BlockHead get_head(ChunkReader& in, Alphabet alphabet) {
  BlockHead head;
  const unsigned first = in.byte();
  head.scale = first >> 4;
  if ((first & 7) >= num_rules || head.scale < 8 || head.scale > 12) in.fail("not the head of a coded block");
  head.rule = static_cast<Rule>(first & 7);
  head.lanes = (first & 8) != 0 ? max_lanes : 1;
  const unsigned base = head.rule == Rule::none ? 0 : in.byte();
  const std::uint64_t begins = head.rule == Rule::none ? 0 : in.varint();
  if (begins > 0xffffffff) in.fail("tables for more metrics than there are");
  head.cluster_at = clusters_of(static_cast<std::uint32_t>(begins), base);
  const auto clusters = static_cast<unsigned>(std::popcount(begins >> 1)) + 1;
  std::vector<Counts> frequencies;
  BitReader bits(in);
  TableEnds ends;
  for (unsigned c = 0; c < clusters; ++c) {
    frequencies.push_back(normalise(read_table(bits, alphabet, ends, in), head.scale));
    if (frequencies.back() == Counts{}) in.fail("an empty frequency table");
  }
  thread_local Tables tables;
  make_tables(frequencies, head.scale, tables);
  head.tables = &tables;
  return head;
}

/// Reads the coder states and the words, and decodes all symbols.
template <std::size_t lanes>
void get_rans(ChunkReader& in, const BlockHead& head, const SymbolTable& table, const FamilyGroups& groups,
              std::span<const std::uint8_t> activity, std::uint8_t* symbol) {
  std::array<std::uint32_t, lanes> state;
  for (std::uint32_t& x : state) {
    x = in.number<std::uint32_t>();
    if (x < rans_floor) in.fail("a coder state is out of range");
  }
  const std::uint64_t limit = lanes > 1 ? in.varint() : in.left() / 2;  // one lane: the symbols tell how many
  if (limit > in.left() / 2) in.fail("a coded block ends early");
  const auto bytes = in.peek(2 * limit);
  thread_local Room<std::uint16_t> words;
  words.resize(limit + lanes);  // room for a round that runs over the end
  for (std::size_t i = 0; i < limit; ++i) words[i] = base::load<std::uint16_t>(bytes.data() + 2 * i);
  const std::uint16_t* word = words.data();
  const std::uint16_t* const end = word + limit;

  std::array<std::uint32_t, num_raw_metrics> table_at;
  for (std::size_t m = 0; m < num_raw_metrics; ++m)
    table_at[m] = static_cast<std::uint32_t>(head.cluster_at[m] * bytes_of_table(head.scale));
  const std::uint8_t* const tables = head.tables->data();
  const unsigned scale = head.scale;
  const std::uint32_t slots = 1u << scale, mask = slots - 1;
  bool sound = true;
  const auto decode = [&](std::size_t t, std::size_t lane, std::size_t metric) {
    std::uint32_t x = state[lane], share;
    const std::uint8_t* const at = tables + table_at[metric];
    const std::uint8_t s = at[x & mask];
    std::memcpy(&share, at + slots + s * bytes_of_share, bytes_of_share);
    symbol[t] = s;
    x = (share & 0xffff) * (x >> scale) + (x & mask) - (share >> 16);
    const bool low = x < rans_floor;
    state[lane] = low ? (x << 16) | *word : x;
    word += low ? 1 : 0;
  };
  const auto check = [&] {
    sound = sound && word <= end;
    word = std::min(word, end);
  };
  for_each_metric<lanes>(head.rule, groups, activity, symbol, table.weight, decode, check);
  for (const std::uint32_t x : state) sound = sound && x == rans_floor;
  if (!sound || (lanes > 1 && word != end)) in.fail("the coded symbols do not end where they should");
  in.take(2 * static_cast<std::size_t>(word - words.data()));
}

}  // namespace

void decode_symbols(ChunkReader& in, Alphabet alphabet, const SymbolOrder& layout,
                    std::span<const std::uint8_t> activity, Symbols& symbols) {
  const std::size_t n = layout.size();
  symbols.resize(n);
  if (n == 0) return;
  const SymbolTable& table = symbol_table(alphabet);
  const BlockHead head = get_head(in, alphabet);
  const FamilyGroups groups(layout, head.lanes, !activity.empty());
  if (head.lanes == 1)
    get_rans<1>(in, head, table, groups, activity, symbols.symbol.data());
  else
    get_rans<max_lanes>(in, head, table, groups, activity, symbols.symbol.data());
  get_low_bits(in, table, symbols);
}

}  // namespace octavo::codec
