#include "octavo/codec/chunk.hpp"

#include <zstd.h>

#include <algorithm>
#include <memory>

namespace octavo::codec {

using base::Error;

namespace {

/// That of boxes as early builds wrote them: values with others at one side had no table of their own.
constexpr ChunkId early_boxes{8};

bool known(ChunkId id) {
  return static_cast<int>(id) <= static_cast<int>(ChunkId::boxes) || id == ChunkId::bits || id == ChunkId::integers;
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Kept per thread: making one costs more than compressing a small chunk.
ZSTD_CCtx* compressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeCompressor> context(ZSTD_createCCtx());
  if (!context) throw Error(base::Kind::no_space, "cannot allocate a zstd compressor");
  return context.get();
}
ZSTD_DCtx* decompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  if (!context) throw Error(base::Kind::no_space, "cannot allocate a zstd decompressor");
  return context.get();
}

}  // namespace

void ChunkReader::fail(const std::string& message) const {
  throw Error(base::Kind::corrupt, message).at("chunk, byte " + std::to_string(origin_ + at_));
}

std::span<const std::byte> ChunkReader::peek(std::size_t size) const {
  if (size > left())
    fail("chunk ends early: expected " + std::to_string(size) + " more bytes, found " + std::to_string(left()));
  return bytes_.subspan(at_, size);
}

std::span<const std::byte> ChunkReader::take(std::size_t size) {
  const auto taken = peek(size);
  at_ += size;
  return taken;
}

std::uint8_t ChunkReader::byte() { return static_cast<std::uint8_t>(take(1)[0]); }

std::uint64_t ChunkReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t next = byte();
    if (shift == 63 && next > 1) break;
    value |= (next & 127) << shift;
    if (next < 128) return value;
  }
  fail("a number is longer than 64 bits");
}

ChunkReader ChunkReader::part(std::size_t size) {
  const std::size_t begin = origin_ + at_;
  return ChunkReader(take(size), begin);
}

void ChunkReader::finish() const {
  if (left() != 0) fail("expected the end of the chunk, found " + std::to_string(left()) + " more bytes");
}

void put_byte(Bytes& out, std::size_t value) { out.push_back(static_cast<std::byte>(value)); }

void put_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) put_byte(out, (value & 127) | 128);
  put_byte(out, value);
}

void put_bytes(Bytes& out, std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

void put_chunk(Bytes& out, ChunkId id, Scalar scalar, std::size_t count, std::span<const std::byte> payload) {
  put_byte(out, static_cast<std::size_t>(id));
  put_byte(out, (std::size_t{codec_version} << 4) | static_cast<std::size_t>(scalar));
  put_varint(out, count);
  put_varint(out, payload.size());
  put_bytes(out, payload);
}

ChunkHead read_head(ChunkReader& in) {
  ChunkHead head;
  head.id = static_cast<ChunkId>(in.byte());
  if (!known(head.id)) in.fail("expected a codec id, found " + std::to_string(static_cast<int>(head.id)));
  if (head.id == early_boxes)
    throw Error(base::Kind::unsupported,
                "expected a codec id, found 8: boxes of a build before 0.1, which are no longer read")
        .at("chunk, byte " + std::to_string(in.position() - 1));
  const unsigned second = in.byte();
  head.scalar = static_cast<Scalar>(second & 15);
  if (const unsigned version = second >> 4; version != codec_version)
    throw Error(base::Kind::unsupported,
                "expected codec version " + std::to_string(codec_version) + ", found " + std::to_string(version))
        .at("chunk, byte " + std::to_string(in.position() - 1));
  if ((second & 15) > static_cast<unsigned>(Scalar::bits)) in.fail("unknown type of values");
  head.count = in.varint();
  head.payload = in.varint();
  if (head.payload > in.left())
    in.fail("chunk ends early: expected " + std::to_string(head.payload) + " bytes of payload, found " +
            std::to_string(in.left()));
  return head;
}

namespace {

int level_of(Search search) { return search == Search::all ? 19 : search == Search::thorough ? 17 : 3; }

}  // namespace

void zstd_compress(std::span<const std::byte> from, Search search, Bytes& out) {
  ZSTD_CCtx* context = compressor();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level_of(search));
  if (search == Search::repeats || search == Search::further) {
    const bool far = search == Search::further;
    const int log = std::clamp(bit_length(from.size()), 10, 24);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, std::min(log, 17));
    ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, std::min(log, 18));
    ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, 5);
    ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, 4);
    ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, far ? 16 : 8);
    ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, far ? ZSTD_btlazy2 : ZSTD_greedy);
  }
  ZSTD_CCtx_setParameter(context, ZSTD_c_format, ZSTD_f_zstd1_magicless);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  const std::size_t begin = out.size();
  out.resize(begin + ZSTD_compressBound(from.size()));
  const std::size_t size = ZSTD_compress2(context, out.data() + begin, out.size() - begin, from.data(), from.size());
  if (ZSTD_isError(size)) throw Error(base::Kind::no_space, std::string("zstd: ") + ZSTD_getErrorName(size));
  out.resize(begin + size);
}

void zstd_decompress(std::span<const std::byte> from, std::span<std::byte> to, const ChunkReader& where) {
  ZSTD_DCtx* context = decompressor();
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_DCtx_setParameter(context, ZSTD_d_format, ZSTD_f_zstd1_magicless);
  const std::size_t size = ZSTD_decompressDCtx(context, to.data(), to.size(), from.data(), from.size());
  if (ZSTD_isError(size)) where.fail(std::string("zstd: ") + ZSTD_getErrorName(size));
  if (size != to.size())
    where.fail("expected " + std::to_string(to.size()) + " decompressed bytes, found " + std::to_string(size));
}

}  // namespace octavo::codec
