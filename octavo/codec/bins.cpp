#include "octavo/codec/bins.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "octavo/codec/bit_stream.hpp"
#include "octavo/codec/entropy.hpp"
#include "octavo/codec/grids.hpp"

namespace octavo::codec {

namespace {

constexpr unsigned most_orders = 3;                       // of differences
constexpr std::size_t most_bins = 256;                    // the number of symbols of the alphabet
constexpr double bits_of_bin = 40;                        // in the payload and in the table of frequencies, about
constexpr std::uint64_t middle = std::uint64_t{1} << 63;  // the key of 0

/// Keys are ordered as values, or differences, are.
using Keys = std::vector<std::uint64_t>;

template <class T>
Keys keys_of(std::span<const T> values) {
  Keys keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    keys[i] = static_cast<std::uint64_t>(ExactGrid<T>::index_of(values[i])) + middle;
  return keys;
}

/// Replaces keys by those of their differences; the first one is returned, and one key less is left.
std::uint64_t difference_keys(Keys& keys) {
  const std::uint64_t first = keys.front();
  // Around `middle` small differences of both signs are neighbouring keys.
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) keys[i] = keys[i + 1] - keys[i] + middle;
  keys.pop_back();
  return first;
}

/// The keys `lower` + n * 2^shift, n below 2^bits.
struct Bin {
  std::uint64_t lower = 0, upper = 0;
  unsigned shift = 63;
  std::size_t count = 0;

  unsigned bits() const { return static_cast<unsigned>(bit_length((upper - lower) >> shift)); }
  void take(std::uint64_t key) {
    if (count++ == 0) lower = key;
    upper = key;
    if (key != lower) shift = std::min(shift, static_cast<unsigned>(std::countr_zero(key - lower)));
  }
};

Bin one_bin_of(const Bin& a, const Bin& b) {
  const auto apart = static_cast<unsigned>(std::countr_zero(b.lower - a.lower));
  return {a.lower, b.upper, std::min({a.shift, b.shift, apart}), a.count + b.count};
}

/// Bins of about equal counts; equal keys share one. If there are few keys, each has its own.
std::vector<Bin> first_bins(const Keys& sorted) {
  const auto changes = [&](std::size_t i) { return i == 0 || sorted[i] != sorted[i - 1]; };
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < sorted.size() && distinct <= most_bins; ++i) distinct += changes(i) ? 1u : 0u;
  const std::size_t wanted = distinct <= most_bins ? 1 : 2 * sorted.size() / most_bins + 1;
  std::vector<Bin> bins(1);
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && !changes(end)) ++end;
    const std::size_t run = end - begin;
    if (bins.back().count > 0 && bins.back().count + run > wanted) bins.emplace_back();
    for (; begin < end; ++begin) bins.back().take(sorted[begin]);
  }
  return bins;
}

/// Joins neighbouring bins so that tables, bin numbers and places take the fewest bits together.
std::vector<Bin> best_bins(const std::vector<Bin>& bins, std::size_t keys) {
  // Dynamic programming over the ends of bins: quadratic in the first bins, of which there are at most 256.
  const double log_of_all = log2_of(static_cast<double>(keys));
  std::vector<double> bits(bins.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(bins.size() + 1, 0);
  bits[0] = 0;
  for (std::size_t last = 0; last < bins.size(); ++last) {
    Bin sum = bins[last];
    for (std::size_t first = last + 1; first-- > 0;) {
      if (first < last) sum = one_bin_of(bins[first], sum);
      const auto count = static_cast<double>(sum.count);
      const double cost = bits[first] + bits_of_bin + count * (log_of_all - log2_of(count) + sum.bits());
      if (cost < bits[last + 1]) {
        bits[last + 1] = cost;
        from[last + 1] = first;
      }
    }
  }
  std::vector<Bin> best;
  for (std::size_t end = bins.size(); end > 0; end = from[end]) {
    Bin sum = bins[end - 1];
    for (std::size_t first = end - 1; first-- > from[end];) sum = one_bin_of(bins[first], sum);
    best.push_back(sum);
  }
  std::reverse(best.begin(), best.end());
  return best;
}

void put_bins(std::span<const Bin> bins, Bytes& out) {
  put_varint(out, bins.size());
  std::uint64_t before = 0;
  for (const Bin& bin : bins) {
    put_varint(out, bin.lower - before);
    put_byte(out, bin.shift);
    put_byte(out, bin.bits());
    before = bin.lower;
  }
}

/// Keys in ascending order, sorted byte by byte; bytes that all keys share take no pass.
Keys sorted_keys(Keys keys) {
  std::array<std::array<std::size_t, 256>, 8> count{};
  for (const std::uint64_t key : keys)
    for (unsigned byte = 0; byte < 8; ++byte) ++count[byte][key >> (8 * byte) & 255];
  Keys other(keys.size());
  for (unsigned byte = 0; byte < 8 && !keys.empty(); ++byte) {
    auto& to = count[byte];
    if (to[keys.front() >> (8 * byte) & 255] == keys.size()) continue;
    std::exclusive_scan(to.begin(), to.end(), to.begin(), std::size_t{0});
    for (const std::uint64_t key : keys) other[to[key >> (8 * byte) & 255]++] = key;
    std::swap(keys, other);
  }
  return keys;
}

/// The bin of each key, by halving without a branch.
void find_bins(const Keys& keys, std::span<const Bin> bins, std::vector<std::uint8_t>& found) {
  std::array<std::uint64_t, most_bins> lower;
  lower.fill(~std::uint64_t{0});
  for (std::size_t b = 0; b < bins.size(); ++b) lower[b] = bins[b].lower;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t at = 0;
    for (std::size_t half = most_bins / 2; half > 0; half /= 2)
      at += at + half < bins.size() && keys[i] >= lower[at + half] ? half : 0;
    found[i] = static_cast<std::uint8_t>(at);
  }
}

/// Bins, the bin of each key, and its place in it.
void put_keys(const Keys& keys, Bytes& out) {
  const std::vector<Bin> bins = best_bins(first_bins(sorted_keys(keys)), keys.size());
  put_bins(bins, out);
  Symbols symbols(keys.size());
  find_bins(keys, bins, symbols.symbol);
  encode_symbols(symbols, Alphabet::plain, {1, keys.size(), 1}, {}, out);
  BitWriter places(out);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Bin& bin = bins[symbols.symbol[i]];
    places.put((keys[i] - bin.lower) >> bin.shift, bin.bits());
  }
  places.finish();
}

Bytes encode_order(Keys keys, unsigned order) {
  Bytes out;
  put_byte(out, order);
  for (unsigned o = 0; o < order; ++o) put_number(out, difference_keys(keys));
  put_keys(keys, out);
  return out;
}

/// Bits that a key takes, from bins of a sixteenth of the keys each; if keys occur again and again, from their number.
double estimated_bits(Keys& keys) {
  constexpr std::size_t parts = 16;
  std::sort(keys.begin(), keys.end());
  double bits = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t first = p * keys.size() / parts, last = std::max((p + 1) * keys.size() / parts, first + 1) - 1;
    bits += bit_length(keys[last] - keys[first]);
  }
  const auto distinct = static_cast<std::size_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
  const int length = bit_length(distinct - 1);
  return distinct * 4 <= keys.size() ? length : bits / parts + std::min(4, length);  // a table, or quantiles
}

/// The order of differences that an excerpt of the values prefers, and the bits that a value then takes.
struct Preferred {
  unsigned order = 0;
  double bits = std::numeric_limits<double>::infinity();
};
template <class T>
Preferred preferred_order(std::span<const T> values) {
  constexpr std::size_t num_slices = 8, length = 64;
  std::array<Keys, most_orders + 1> keys;
  const std::size_t slices = values.size() > num_slices * length ? num_slices : 1;
  for (std::size_t s = 0; s < slices; ++s) {
    const std::size_t first = slices == 1 ? 0 : s * (values.size() - length) / (num_slices - 1);
    Keys slice = keys_of(values.subspan(first, slices == 1 ? values.size() : length));
    for (unsigned order = 0; order <= most_orders && !slice.empty(); ++order) {
      if (order > 0) difference_keys(slice);
      keys[order].insert(keys[order].end(), slice.begin(), slice.end());
    }
  }
  Preferred best;
  for (unsigned order = 0; order <= most_orders; ++order) {
    if (keys[order].size() < 8) break;
    if (const double bits = estimated_bits(keys[order]); bits < best.bits) best = {order, bits};
  }
  return best;
}

}  // namespace

template <class T>
double estimate_bins(std::span<const T> values) {
  return preferred_order(values).bits / 8 * static_cast<double>(values.size());
}

template <class T>
void encode_bins(std::span<const T> values, bool quick, Bytes& payload) {
  const Keys keys = keys_of(values);
  const unsigned preferred = preferred_order(values).order;
  Bytes best;
  for (unsigned order = 0; order <= most_orders && order < keys.size(); ++order) {
    if (quick && order != preferred) continue;
    Bytes bytes = encode_order(keys, order);
    if (best.empty() || bytes.size() < best.size()) best = std::move(bytes);
  }
  put_bytes(payload, best);
}

namespace {

std::vector<Bin> get_bins(ChunkReader& in) {
  const std::uint64_t count = in.varint();
  if (count == 0 || count > most_bins) in.fail("expected 1 to 256 bins, found " + std::to_string(count));
  std::vector<Bin> bins(static_cast<std::size_t>(count));
  std::uint64_t before = 0;
  for (Bin& bin : bins) {
    bin.lower = before += in.varint();
    bin.shift = in.byte();
    const unsigned bits = in.byte();
    if (bin.shift > 63 || bits > 64 - bin.shift) in.fail("a bin has more bits than its keys");
    bin.upper = bin.lower + (bits == 0 ? 0 : (~std::uint64_t{0} >> (64 - bits)) << bin.shift);
  }
  return bins;
}

void get_keys(ChunkReader& in, std::span<std::uint64_t> keys) {
  const std::vector<Bin> bins = get_bins(in);
  Symbols symbols;
  decode_symbols(in, Alphabet::plain, {1, keys.size(), 1}, {}, symbols);
  BitReader places(in);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (symbols.symbol[i] >= bins.size()) in.fail("a value is in no bin");
    const Bin& bin = bins[symbols.symbol[i]];
    keys[i] = bin.lower + (places.get(bin.bits()) << bin.shift);
  }
}

}  // namespace

template <class T>
void decode_bins(ChunkReader& in, std::span<T> out) {
  const unsigned order = in.byte();
  if (order > most_orders || order >= out.size())
    in.fail("expected differences of order 0 to 3 of more values, found order " + std::to_string(order));
  std::array<std::uint64_t, most_orders> first{};
  for (unsigned o = 0; o < order; ++o) first[o] = in.number<std::uint64_t>();
  Keys keys(out.size());
  get_keys(in, std::span(keys).subspan(order));
  for (unsigned o = order; o-- > 0;) {
    keys[o] = first[o];
    for (std::size_t i = o + 1; i < keys.size(); ++i) keys[i] += keys[i - 1] - middle;
  }
  bool sound = true;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto index = static_cast<std::int64_t>(keys[i] - middle);
    sound = sound && ExactGrid<T>::in_range(index);
    out[i] = ExactGrid<T>::value_of(index);
  }
  if (!sound) in.fail("a value is out of range");
}

template double estimate_bins(std::span<const double>);
template double estimate_bins(std::span<const float>);
template void encode_bins(std::span<const double>, bool, Bytes&);
template void encode_bins(std::span<const float>, bool, Bytes&);
template void decode_bins(ChunkReader&, std::span<double>);
template void decode_bins(ChunkReader&, std::span<float>);

}  // namespace octavo::codec
