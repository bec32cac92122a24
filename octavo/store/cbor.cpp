#include "octavo/store/cbor.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"

/// The part of CBOR (RFC 8949) that stores use. The writer has one form for each value, so equal values give equal
/// bytes. The reader trusts nothing: lengths are checked against the bytes that are left before anything is allocated.
namespace octavo::store::cbor {
namespace {

using base::Error;
using base::Kind;

enum Major : unsigned {
  unsigned_integer,
  negative_integer,
  byte_string,
  text_string,
  array_of,
  map_of,
  tagged,
  simple
};
// RFC 8746: little-endian arrays.
enum CborTag : int { tag_u8 = 64, tag_u16 = 69, tag_u32 = 70, tag_u64 = 71, tag_s64 = 79, tag_f64 = 86 };
// Tables nest less deeply. The limit keeps damaged bytes from overflowing the stack.
constexpr int max_depth = 8;

// ------------------------------------------------------------------ writing

void put_byte(unsigned byte, std::vector<std::byte>& out) { out.push_back(static_cast<std::byte>(byte)); }

// Writes the shortest form of a head: the major type and its argument, big-endian.
void put_head(Major major, std::uint64_t argument, std::vector<std::byte>& out) {
  const unsigned high = major << 5;
  if (argument < 24) return put_byte(high | static_cast<unsigned>(argument), out);
  const int log_bytes = argument < 0x100 ? 0 : argument < 0x10000 ? 1 : argument < 0x100000000 ? 2 : 3;
  put_byte(high | static_cast<unsigned>(24 + log_bytes), out);
  for (int shift = (8 << log_bytes) - 8; shift >= 0; shift -= 8)
    put_byte(static_cast<unsigned>(argument >> shift & 0xFF), out);
}

// Length in bytes of the UTF-8 sequence at the front; 0 if it is invalid (overlong forms and surrogates are invalid).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool ok = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second >= 0xA0);
    return ok && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool ok = !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second >= 0x90);
    return ok && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

// Text of CBOR must be UTF-8, and names come from users and codes. Others go as bytes, and text() takes both.
void put_text(const std::string& text, std::vector<std::byte>& out) {
  put_head(is_utf8(text) ? text_string : byte_string, text.size(), out);
  for (char c : text) out.push_back(static_cast<std::byte>(c));
}

struct CborWriter {
  std::vector<std::byte>& out;
  void operator()(std::monostate) const { put_byte(0xF6, out); }
  void operator()(bool value) const { put_byte(value ? 0xF5 : 0xF4, out); }
  void operator()(std::int64_t value) const {
    if (value < 0)
      put_head(negative_integer, ~static_cast<std::uint64_t>(value), out);
    else
      put_head(unsigned_integer, static_cast<std::uint64_t>(value), out);
  }
  void operator()(double value) const {
    put_byte(0xFB, out);
    out.resize(out.size() + sizeof(value));
    base::store(out.data() + out.size() - sizeof(value), value, std::endian::big);
  }
  void operator()(const std::string& value) const { put_text(value, out); }
  void operator()(const Bytes& value) const {
    if (value.tag >= 0) put_head(tagged, static_cast<std::uint64_t>(value.tag), out);
    put_head(byte_string, value.bytes.size(), out);
    out.insert(out.end(), value.bytes.begin(), value.bytes.end());
  }
  void operator()(const Array& value) const {
    put_head(array_of, value.size(), out);
    for (const Value& item : value) write(item, out);
  }
  void operator()(const Map& value) const {
    put_head(map_of, value.size(), out);
    for (const auto& [key, item] : value) {
      put_text(key, out);
      write(item, out);
    }
  }
};

// ------------------------------------------------------------------ reading

struct CborReader {
  std::span<const std::byte> in;
  std::size_t position = 0;

  Error error(const std::string& what) const {
    return Error(Kind::corrupt, "metadata: " + what).at("byte " + std::to_string(position) + " of the metadata");
  }
  std::size_t left() const { return in.size() - position; }

  std::span<const std::byte> take(std::uint64_t n) {
    if (n > left()) throw error("expected " + std::to_string(n) + " more bytes, found " + std::to_string(left()));
    const auto taken = in.subspan(position, static_cast<std::size_t>(n));
    position += static_cast<std::size_t>(n);
    return taken;
  }
  std::uint64_t argument(unsigned low) {
    if (low < 24) return low;
    if (low > 27) throw error("a form of CBOR that stores do not use");
    std::uint64_t value = 0;
    for (std::byte b : take(std::uint64_t{1} << (low - 24))) value = value << 8 | std::to_integer<std::uint64_t>(b);
    return value;
  }
  std::int64_t small(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      throw error("an integer that does not fit 64 bits with sign");
    return static_cast<std::int64_t>(value);
  }
  std::string take_text(std::uint64_t n) {
    const auto raw = take(n);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }

  Value take_simple(unsigned low) {
    switch (low) {
      case 20: return {false};
      case 21: return {true};
      case 22: return {std::monostate{}};
      case 27: return {base::load<double>(take(8).data(), std::endian::big)};
      default: throw error("a form of CBOR that stores do not use");
    }
  }
  Value take_tagged(std::uint64_t tag) {
    if (tag > 255) throw error("unknown tag " + std::to_string(tag));
    const unsigned first = std::to_integer<unsigned>(take(1)[0]);
    if (first >> 5 != byte_string) throw error("a tag on something other than a byte string");
    const auto raw = take(argument(first & 31));
    return {Bytes{{raw.begin(), raw.end()}, static_cast<int>(tag)}};
  }
  Value take_array(std::uint64_t n, int depth) {
    // Every item takes at least one byte.
    if (n > left()) throw error("an array of " + std::to_string(n) + " in " + std::to_string(left()) + " bytes");
    Array items;
    for (std::uint64_t i = 0; i < n; ++i) items.push_back(take_value(depth + 1));
    return {std::move(items)};
  }
  Value take_map(std::uint64_t n, int depth) {
    if (n > left() / 2) throw error("a map of " + std::to_string(n) + " in " + std::to_string(left()) + " bytes");
    Map items;
    for (std::uint64_t i = 0; i < n; ++i) {
      const unsigned first = std::to_integer<unsigned>(take(1)[0]);
      if (first >> 5 != text_string && first >> 5 != byte_string) throw error("a key that is not text");
      std::string key = take_text(argument(first & 31));
      items.push_back({std::move(key), take_value(depth + 1)});
    }
    return {std::move(items)};
  }
  Value take_value(int depth) {
    if (depth > max_depth) throw error("nested deeper than " + std::to_string(max_depth));
    const unsigned first = std::to_integer<unsigned>(take(1)[0]), low = first & 31;
    if (first >> 5 == simple) return take_simple(low);
    const std::uint64_t n = argument(low);
    switch (first >> 5) {
      case unsigned_integer: return {small(n)};
      case negative_integer: return {-1 - small(n)};
      case byte_string: {
        const auto raw = take(n);
        return {Bytes{{raw.begin(), raw.end()}, -1}};
      }
      case text_string: return {take_text(n)};
      case array_of: return take_array(n, depth);
      case map_of: return take_map(n, depth);
      default: return take_tagged(n);
    }
  }
};

// ------------------------------------------------------------------ access

Error unlike(std::string_view what, const std::string& expected) {
  return Error(Kind::corrupt, "metadata \"" + std::string(what) + "\": expected " + expected);
}

template <class T>
const T& get(const Value& value, std::string_view what, const char* expected) {
  const T* found = std::get_if<T>(&value.value);
  if (found == nullptr) throw unlike(what, expected);
  return *found;
}

template <class Stored, class T>
std::vector<T> unpack(const Bytes& packed, std::string_view what) {
  if (packed.bytes.size() % sizeof(Stored) != 0) throw unlike(what, "whole numbers of elements");
  std::vector<T> numbers(packed.bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<T>(base::load<Stored>(packed.bytes.data() + i * sizeof(Stored)));
  return numbers;
}

template <class Stored, class T>
Value pack(std::span<const T> numbers, int tag) {
  Bytes packed{std::vector<std::byte>(numbers.size() * sizeof(Stored)), tag};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    base::store(packed.bytes.data() + i * sizeof(Stored), static_cast<Stored>(numbers[i]));
  return {std::move(packed)};
}

template <class T>
std::vector<T> counted(std::vector<T> numbers, std::string_view key, std::size_t count) {
  if (numbers.size() != count)
    throw unlike(key, std::to_string(count) + " numbers, found " + std::to_string(numbers.size()));
  return numbers;
}

}  // namespace

void write(const Value& value, std::vector<std::byte>& out) { std::visit(CborWriter{out}, value.value); }

Value parse(std::span<const std::byte> in) {
  CborReader reader{in};
  Value value = reader.take_value(0);
  if (reader.left() != 0) throw reader.error(std::to_string(reader.left()) + " bytes too many");
  return value;
}

Value column(std::span<const std::uint64_t> numbers) {
  const std::uint64_t largest = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
  if (largest < 0x100) return pack<std::uint8_t>(numbers, tag_u8);
  if (largest < 0x10000) return pack<std::uint16_t>(numbers, tag_u16);
  if (largest < 0x100000000) return pack<std::uint32_t>(numbers, tag_u32);
  return pack<std::uint64_t>(numbers, tag_u64);
}
Value column(std::span<const double> numbers) { return pack<double>(numbers, tag_f64); }
Value column(std::span<const std::int64_t> numbers) { return pack<std::int64_t>(numbers, tag_s64); }

const Map& map(const Value& value, std::string_view what) { return get<Map>(value, what, "a map"); }
const Array& array(const Value& value, std::string_view what) { return get<Array>(value, what, "an array"); }

const Value* find(const Map& map, std::string_view key) {
  for (const auto& [name, value] : map)
    if (name == key) return &value;
  return nullptr;
}

const Value& at(const Map& map, std::string_view key) {
  const Value* value = find(map, key);
  if (value == nullptr) throw Error(Kind::corrupt, "metadata \"" + std::string(key) + "\" is missing");
  return *value;
}

std::int64_t integer(const Map& map, std::string_view key, std::int64_t lo, std::int64_t hi) {
  const auto value = get<std::int64_t>(at(map, key), key, "an integer");
  if (value < lo || value > hi)
    throw unlike(key, std::to_string(lo) + " to " + std::to_string(hi) + ", found " + std::to_string(value));
  return value;
}
double real(const Map& map, std::string_view key) { return get<double>(at(map, key), key, "a double"); }
bool boolean(const Map& map, std::string_view key) { return get<bool>(at(map, key), key, "true or false"); }

std::string text(const Value& value, std::string_view what) {
  const Bytes* raw = std::get_if<Bytes>(&value.value);
  if (raw == nullptr || raw->tag >= 0) return get<std::string>(value, what, "text");
  return {reinterpret_cast<const char*>(raw->bytes.data()), raw->bytes.size()};
}
std::string text(const Map& map, std::string_view key) { return text(at(map, key), key); }

std::span<const std::byte> bytes(const Map& map, std::string_view key, std::size_t size) {
  const Bytes& raw = get<Bytes>(at(map, key), key, "a byte string");
  if (raw.tag >= 0 || raw.bytes.size() != size) throw unlike(key, std::to_string(size) + " bytes");
  return raw.bytes;
}

std::vector<std::uint64_t> counts(const Map& map, std::string_view key, std::size_t count) {
  const Bytes& packed = get<Bytes>(at(map, key), key, "a column");
  switch (packed.tag) {
    case tag_u8: return counted(unpack<std::uint8_t, std::uint64_t>(packed, key), key, count);
    case tag_u16: return counted(unpack<std::uint16_t, std::uint64_t>(packed, key), key, count);
    case tag_u32: return counted(unpack<std::uint32_t, std::uint64_t>(packed, key), key, count);
    case tag_u64: return counted(unpack<std::uint64_t, std::uint64_t>(packed, key), key, count);
    default: throw unlike(key, "a column of unsigned numbers");
  }
}
std::vector<double> reals(const Map& map, std::string_view key, std::size_t count) {
  return counted(reals(at(map, key), key), key, count);
}
std::vector<double> reals(const Value& value, std::string_view what) {
  const Bytes& packed = get<Bytes>(value, what, "a column");
  if (packed.tag != tag_f64) throw unlike(what, "a column of doubles");
  return unpack<double, double>(packed, what);
}
std::vector<std::int64_t> integers(const Value& value, std::string_view what) {
  const Bytes& packed = get<Bytes>(value, what, "a column");
  if (packed.tag != tag_s64) throw unlike(what, "a column of integers");
  return unpack<std::int64_t, std::int64_t>(packed, what);
}

}  // namespace octavo::store::cbor
