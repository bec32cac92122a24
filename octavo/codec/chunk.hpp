#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"

/// Inside the codec room: a chunk's head, and reading and writing its bytes (docs/codecs.md, "Chunk").
namespace octavo::codec {

using Bytes = std::vector<std::byte>;

enum class ChunkId : std::uint8_t {
  raw = 0,
  zstd = 1,
  planes = 2,
  tree = 3,
  log_grid = 4,
  linear_grid = 5,
  delta = 6,
  pcp = 7,
  bins = 9,
  differences = 10,
  boxes = 11,
  bits = 16,
  integers = 17,
};

/// The version of all codecs: the only one that is written and read.
constexpr std::uint8_t codec_version = 3;

/// Bits from the highest set one down; 0 for 0. (std::bit_width's type differs between libraries.)
constexpr int bit_length(std::uint64_t x) { return 64 - std::countl_zero(x); }

/// The type of the values: the low four bits of a chunk's second byte.
enum class Scalar : std::uint8_t { float64 = 0, float32 = 1, bytes1 = 2, bytes2 = 3, bytes4 = 4, bytes8 = 5, bits = 6 };

template <class T>
constexpr Scalar scalar_of = sizeof(T) == 8 ? Scalar::float64 : Scalar::float32;

struct ChunkHead {
  ChunkId id = ChunkId::raw;
  Scalar scalar = Scalar::float64;
  std::size_t count = 0;    ///< values
  std::size_t payload = 0;  ///< bytes after the head
};

/// A position in the bytes of a chunk. Everything taken is checked; missing bytes throw Error(corrupt) at their
/// byte.
class ChunkReader {
 public:
  explicit ChunkReader(std::span<const std::byte> bytes, std::size_t origin = 0) : bytes_(bytes), origin_(origin) {}

  std::size_t position() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  std::uint8_t byte();
  std::uint64_t varint();
  template <class T>
  T number() {
    return base::load<T>(take(sizeof(T)).data());
  }
  std::span<const std::byte> take(std::size_t size);
  /// The same bytes, which stay where they are.
  std::span<const std::byte> peek(std::size_t size) const;
  /// A reader of the next `size` bytes, which this one skips.
  ChunkReader part(std::size_t size);
  /// Throws unless everything has been taken.
  void finish() const;
  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::span<const std::byte> bytes_;
  std::size_t origin_;
  std::size_t at_ = 0;
};

void put_byte(Bytes& out, std::size_t value);
/// LEB128: seven bits a byte, lowest first, the high bit set on all but the last.
void put_varint(Bytes& out, std::uint64_t value);
template <class T>
void put_number(Bytes& out, T value) {
  out.resize(out.size() + sizeof(T));
  base::store(out.data() + out.size() - sizeof(T), value);
}
void put_bytes(Bytes& out, std::span<const std::byte> bytes);

void put_chunk(Bytes& out, ChunkId id, Scalar scalar, std::size_t count, std::span<const std::byte> payload);
/// Reads a head and checks that its payload is there.
ChunkHead read_head(ChunkReader& in);

/// How hard zstd looks for repetitions; a decoder needs not know.
enum class Search : std::uint8_t {
  quick,     ///< level 3
  repeats,   ///< short matches, found fast: for values that occur again
  further,   ///< the longest of more matches: half as fast
  thorough,  ///< level 17, or nearly so: a tenth as fast
  all,       ///< level 19
};

/// Appends one zstd frame, without magic number, content size and checksum.
void zstd_compress(std::span<const std::byte> from, Search search, Bytes& out);
/// `in` is one such frame and gives exactly `to.size()` bytes.
void zstd_decompress(std::span<const std::byte> from, std::span<std::byte> to, const ChunkReader& where);

/// The bytes of values, little-endian.
template <class T>
void to_little_endian(std::span<const T> values, std::span<std::byte> bytes) {
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  if constexpr (std::endian::native == std::endian::big) base::swap_bytes(bytes, sizeof(T));
}
template <class T>
void from_little_endian(std::span<const std::byte> bytes, std::span<T> values) {
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  if constexpr (std::endian::native == std::endian::big) base::swap_bytes(std::as_writable_bytes(values), sizeof(T));
}

}  // namespace octavo::codec
