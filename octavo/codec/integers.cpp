#include <algorithm>

#include "octavo/codec/codec.hpp"
#include "octavo/codec/entropy.hpp"
#include "octavo/codec/flat.hpp"

namespace octavo::codec {

using base::Error;

namespace {

enum class IntegerForm : std::uint8_t { raw = 0, zstd = 1, planes = 2, differences = 3 };

Scalar scalar_of_width(std::size_t width) {
  switch (width) {
    case 1: return Scalar::bytes1;
    case 2: return Scalar::bytes2;
    case 4: return Scalar::bytes4;
    case 8: return Scalar::bytes8;
    default: throw Error(base::Kind::usage, "integers have 1, 2, 4 or 8 bytes, not " + std::to_string(width));
  }
}

Bytes little_endian(std::span<const std::byte> values, std::size_t width) {
  Bytes bytes(values.begin(), values.end());
  if constexpr (std::endian::native == std::endian::big) base::swap_bytes(bytes, width);
  (void)width;
  return bytes;
}

/// Element i as a number, its sign extended.
std::int64_t element(std::span<const std::byte> bytes, std::size_t i, std::size_t width) {
  std::uint64_t bits = 0;
  for (std::size_t b = 0; b < width; ++b) bits |= static_cast<std::uint64_t>(bytes[i * width + b]) << (8 * b);
  const unsigned unused = static_cast<unsigned>(64 - 8 * width);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// Differences to the element before, as numbers under rANS.
Bytes differences(const Bytes& bytes, std::size_t width) {
  const std::size_t count = bytes.size() / width;
  Symbols symbols;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto now = static_cast<std::uint64_t>(element(bytes, i, width));
    const std::uint64_t u = zigzag(static_cast<std::int64_t>(now - before));
    symbols.symbol.push_back(static_cast<std::uint8_t>(num_specials + class_of(u)));
    symbols.number.push_back(u);
    before = now;
  }
  Bytes out;
  encode_symbols(symbols, Alphabet::numbers, {1, count, 1}, {}, out);
  return out;
}

void undo_differences(ChunkReader& in, std::size_t width, std::span<std::byte> bytes) {
  const std::size_t count = bytes.size() / width;
  Symbols symbols;
  decode_symbols(in, Alphabet::numbers, {1, count, 1}, {}, symbols);
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    now += static_cast<std::uint64_t>(unzigzag(symbols.number[i]));
    for (std::size_t b = 0; b < width; ++b) bytes[i * width + b] = static_cast<std::byte>(now >> (8 * b));
  }
}

}  // namespace

void encode_integers(std::span<const std::byte> values, std::size_t width, Effort effort, std::vector<std::byte>& out) {
  const Scalar scalar = scalar_of_width(width);
  if (values.size() % width != 0) throw Error(base::Kind::usage, "a part of an integer is left over");
  const Bytes bytes = little_endian(values, width);
  const Search search = effort == Effort::max ? Search::all : Search::quick;
  Bytes best = bytes;
  IntegerForm form = IntegerForm::raw;
  const auto consider = [&](IntegerForm candidate, Bytes encoded) {
    if (encoded.size() >= best.size()) return;
    best = std::move(encoded);
    form = candidate;
  };
  Bytes plain_frame, plane_frame;
  zstd_compress(bytes, search, plain_frame);
  consider(IntegerForm::zstd, std::move(plain_frame));
  if (width > 1) {
    zstd_compress(split_planes(bytes, width), search, plane_frame);
    consider(IntegerForm::planes, std::move(plane_frame));
  }
  if (!bytes.empty()) consider(IntegerForm::differences, differences(bytes, width));
  Bytes payload;
  put_byte(payload, static_cast<std::size_t>(form));
  put_bytes(payload, best);
  put_chunk(out, ChunkId::integers, scalar, bytes.size() / width, payload);
}

namespace {

// The head before `payload` bytes, which hold the values in the given form.
Bytes head_of(bool integers, std::size_t size, std::size_t count, std::size_t payload, ChunkId id, IntegerForm form) {
  if (!integers && size != 8 && size != 4) throw Error(base::Kind::usage, "floating-point values have 4 or 8 bytes");
  const Scalar scalar = integers ? scalar_of_width(size) : size == 8 ? Scalar::float64 : Scalar::float32;
  Bytes head;
  put_byte(head, static_cast<std::size_t>(integers ? ChunkId::integers : id));
  put_byte(head, static_cast<std::size_t>(scalar) | std::size_t{codec_version} << 4);
  put_varint(head, count);
  put_varint(head, payload + (integers ? 1 : 0));
  if (integers) put_byte(head, static_cast<std::size_t>(form));
  return head;
}

// The blocks of a zstd frame: the largest that all decoders take.
constexpr std::size_t block_bytes = std::size_t{128} << 10;
enum class BlockType : std::uint8_t { raw = 0, rle = 1 };

void put_block_head(Bytes& out, BlockType type, std::size_t bytes, bool last = false) {
  const std::size_t bits = bytes << 3 | static_cast<std::size_t>(type) << 1 | (last ? 1U : 0U);
  for (unsigned byte = 0; byte < 3; ++byte) put_byte(out, bits >> (8 * byte) & 0xff);
}

void put_zeros(Bytes& out, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes; done += block_bytes) {
    put_block_head(out, BlockType::rle, std::min(block_bytes, bytes - done));
    put_byte(out, 0);
  }
}

}  // namespace

std::vector<std::byte> raw_head(bool integers, std::size_t size, std::size_t count) {
  return head_of(integers, size, count, count * size, ChunkId::raw, IntegerForm::raw);
}

std::vector<ChunkPiece> sparse_chunk(bool integers, std::size_t size, std::size_t count, std::span<const Range> held) {
  std::vector<ChunkPiece> pieces(1);
  // No checksum, no content size, not a single segment; then the window: 128 KiB.
  put_byte(pieces.back().head, 0);
  put_byte(pieces.back().head, 7 << 3);
  std::size_t at = 0, payload = 0;
  for (const Range& range : held) {
    if (range.first < at || range.last < range.first || range.last > count)
      throw Error(base::Kind::usage, "ranges of values must ascend and end at " + std::to_string(count));
    put_zeros(pieces.back().head, (range.first - at) * size);
    const std::size_t bytes = (range.last - range.first) * size;
    for (std::size_t done = 0; done < bytes; done += block_bytes) {
      if (pieces.back().bytes != 0) pieces.emplace_back();
      pieces.back().bytes = std::min(block_bytes, bytes - done);
      put_block_head(pieces.back().head, BlockType::raw, pieces.back().bytes);
    }
    if (bytes != 0) pieces.emplace_back();
    at = range.last;
  }
  put_zeros(pieces.back().head, (count - at) * size);
  put_block_head(pieces.back().head, BlockType::raw, 0, true);
  for (const ChunkPiece& piece : pieces) payload += piece.head.size() + piece.bytes;
  Bytes head = head_of(integers, size, count, payload, ChunkId::zstd, IntegerForm::zstd);
  head.insert(head.end(), pieces.front().head.begin(), pieces.front().head.end());
  pieces.front().head = std::move(head);
  return pieces;
}

std::size_t decode_integers(std::span<const std::byte> in, std::size_t width, std::span<std::byte> out) {
  const Scalar scalar = scalar_of_width(width);
  if (out.size() % width != 0) throw Error(base::Kind::usage, "a part of an integer is left over");
  ChunkReader reader(in);
  const ChunkHead head = read_head(reader);
  if (head.id != ChunkId::integers || head.scalar != scalar)
    reader.fail("expected integers of " + std::to_string(width) + " bytes");
  if (head.count != out.size() / width)
    reader.fail("expected " + std::to_string(out.size() / width) + " integers, found " + std::to_string(head.count));
  ChunkReader payload = reader.part(head.payload);
  const auto form = static_cast<IntegerForm>(payload.byte());
  if (form == IntegerForm::raw) {
    const auto bytes = payload.take(out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
  } else if (form == IntegerForm::zstd) {
    zstd_decompress(payload.take(payload.left()), out, payload);
  } else if (form == IntegerForm::planes) {
    Bytes planes(out.size());
    zstd_decompress(payload.take(payload.left()), planes, payload);
    join_planes(planes, width, out);
  } else if (form == IntegerForm::differences) {
    undo_differences(payload, width, out);
  } else {
    payload.fail("unknown form of integers");
  }
  payload.finish();
  if constexpr (std::endian::native == std::endian::big) base::swap_bytes(out, width);
  return reader.position();
}

}  // namespace octavo::codec
