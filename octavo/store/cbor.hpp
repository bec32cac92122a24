#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The part of CBOR (RFC 8949) that footers and tables are written in: definite lengths, integers of 64 bits with sign,
/// doubles, text, byte strings, arrays and maps with text keys. Columns of numbers are the typed arrays of RFC 8746:
/// byte strings tagged with the type of their elements, little-endian.
namespace octavo::store::cbor {

struct Value;
struct Entry;
struct Bytes {
  std::vector<std::byte> bytes;
  int tag = -1;  ///< RFC 8746 type of the elements; -1: none
};
using Array = std::vector<Value>;
using Map = std::vector<Entry>;

struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Array, Map> value;
};
struct Entry {
  std::string key;
  Value value;
};

/// Appends the value. Text that is not valid UTF-8 is written as a byte string.
void write(const Value& value, std::vector<std::byte>& out);

/// The one value that `in` holds. Throws Error(corrupt), at a byte, for anything else: indefinite lengths, lengths past
/// the end, nesting deeper than 8, unknown tags, trailing bytes.
Value parse(std::span<const std::byte> in);

// ------------------------------------------------------------------ columns

/// Unsigned numbers in the smallest of 1, 2, 4 or 8 bytes that all of them fit.
Value column(std::span<const std::uint64_t> numbers);
Value column(std::span<const double> numbers);
Value column(std::span<const std::int64_t> numbers);

// ------------------------------------------------------------------ checked access; errors name the key

const Map& map(const Value& value, std::string_view what);
const Array& array(const Value& value, std::string_view what);
/// Returns nullptr if the key is missing.
const Value* find(const Map& map, std::string_view key);
const Value& at(const Map& map, std::string_view key);

/// An integer in [lo, hi].
std::int64_t integer(const Map& map, std::string_view key, std::int64_t lo, std::int64_t hi);
double real(const Map& map, std::string_view key);
bool boolean(const Map& map, std::string_view key);
/// Text, or a byte string without tag.
std::string text(const Value& value, std::string_view what);
std::string text(const Map& map, std::string_view key);
/// A byte string without tag, of `size` bytes.
std::span<const std::byte> bytes(const Map& map, std::string_view key, std::size_t size);
/// Columns of exactly `count` numbers.
std::vector<std::uint64_t> counts(const Map& map, std::string_view key, std::size_t count);
std::vector<double> reals(const Map& map, std::string_view key, std::size_t count);
/// Columns of any length.
std::vector<double> reals(const Value& value, std::string_view what);
std::vector<std::int64_t> integers(const Value& value, std::string_view what);

}  // namespace octavo::store::cbor
